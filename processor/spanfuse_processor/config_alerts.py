"""The `alerts` section, as YAML gives it: plain fields, and the list of alerts that are obeyed.

Rule 1: every problem is a `PolicyError` with the path of the field. Rule 2: an order that could never be
carried out is refused here, not when the alert comes. It does not know where alerts come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spanfuse_processor.config import Alerts, Deed, Obey, Target
from spanfuse_processor.engine.checking import Disagreement, Path, build, fields_of, mapping
from spanfuse_processor.engine.nouns import Level
from spanfuse_processor.engine.policy import PolicyError
from spanfuse_processor.engine.schema import description, schema_of


def alerts_of(values: object, path: Path) -> Alerts:
    """The section that plain data describes.

    Raises:
        PolicyError: with the path of the field that is wrong.
    """
    given = mapping(values, "fields", path)
    said = fields_of(Alerts, {name: value for name, value in given.items() if name != "obey"}, path)
    listed = given.get("obey", ())
    here = (*path, "obey")
    if not isinstance(listed, list | tuple):
        raise PolicyError(here, f"expected a list of alerts to obey, got {type(listed).__name__}")
    obey = tuple(_obey(each, (*here, str(at))) for at, each in enumerate(listed))
    return Alerts(**said, obey=obey)


def _obey(values: object, path: Path) -> Obey:
    given = mapping(values, "fields", path)
    for name, question in (("alert", "which alert"), ("action", "what is done"), ("target", "to whom")):
        if name not in given:
            raise PolicyError(path, f"{question}? say {name}")
    plain = {name: value for name, value in given.items() if name not in ("match", "target")}
    said = fields_of(Obey, plain, path)
    if not said["alert"]:
        raise PolicyError((*path, "alert"), "expected the name of an alert, or a pattern of names")
    match = _match(given.get("match", {}), (*path, "match"))
    obey = Obey(**said, match=match, target=build(Target, given["target"], (*path, "target")))
    _refuse_what_cannot_be(obey, given, path)
    return obey


def _match(values: object, path: Path) -> tuple[tuple[str, str], ...]:
    for label, pattern in mapping(values, "labels to patterns", path).items():
        if not isinstance(label, str) or not isinstance(pattern, str):
            raise PolicyError((*path, str(label)), f"expected a text or a pattern of texts, got {pattern!r}")
    return tuple(mapping(values, "labels to patterns", path).items())  # type: ignore[arg-type]


def _refuse_what_cannot_be(obey: Obey, given: Mapping[Any, object], path: Path) -> None:
    target = obey.target
    if target.level is Level.EVERYTHING and target.label:
        raise Disagreement((*path, "target", "label"), "everything has no name: leave it out", path)
    if target.level is not Level.EVERYTHING and not target.label:
        problem = f"which label of the alert names the {target.level.value}? say label"
        raise Disagreement((*path, "target"), problem, path)
    if obey.action is Deed.THROTTLE and target.level is Level.TOOL:
        raise Disagreement((*path, "target", "level"), "calls of tools are not throttled, only stopped", path)
    if obey.action is Deed.STOP and "calls_per_second" in given:
        raise Disagreement((*path, "calls_per_second"), "a stop lets no calls through", path)


def alerts_schema() -> dict[str, Any]:
    """The JSON schema of the section."""
    one = schema_of(Obey) | {"required": ["alert", "action", "target"]}
    labels = {"type": "object", "additionalProperties": {"type": "string"}}
    one["properties"]["match"] = labels | {"description": description(Obey, "match")}
    schema = schema_of(Alerts)
    schema["properties"]["obey"] = {
        "type": "array",
        "items": one,
        "description": description(Alerts, "obey"),
    }
    return schema
