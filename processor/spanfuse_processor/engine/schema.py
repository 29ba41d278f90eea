"""The JSON schema of a policy, and of any frozen dataclass of plain fields.

Rule 1: it says what `checking.py` and `policy_file.py` take. Rule 2: a field is described by the sentences of
its class's docstring that name it in backticks, so that a description stands in one place.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, get_origin, get_type_hints

from spanfuse_processor.engine.budget import Measure
from spanfuse_processor.engine.budget_section import BudgetSection, DegradeSection, MarkSection
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.policy import Match, Policy, PolicyRule, Price, ToolRule
from spanfuse_processor.engine.reach import Reach

Schema = dict[str, Any]

_PLAIN: Final = {str: {"type": "string"}, bool: {"type": "boolean"}}
_NAMES: Final[Schema] = {"type": "array", "items": {"type": "string"}}
_ONE_OR_SEVERAL: Final[Schema] = {"anyOf": [{"type": "string"}, _NAMES]}
TWIN: Final = "_stop"  # behind the name of a limit that warns: the limit that stops
_SENTENCE: Final = re.compile(r"(?<=\.)\s+(?=[A-Z`0-9])|\n\s*\n")


def policy_schema() -> Schema:
    """The JSON schema of the `policy` section."""
    detectors = _object({name: schema_of(limits) for name, (_, limits) in DETECTORS.items()})
    rule = _with(PolicyRule, match=_with(Match, **_patterns(Match)), detectors=detectors)
    tools = {"type": "object", "additionalProperties": schema_of(ToolRule)}
    prices = {"type": "object", "additionalProperties": _price()}
    fallback = {"anyOf": [_price(), {"type": "null"}]}
    rules = {"type": "array", "items": rule}
    budgets = {"type": "object", "additionalProperties": _budget()}
    return _with(
        Policy,
        detectors=detectors,
        rules=rules,
        tools=tools,
        prices=prices,
        fallback=fallback,
        budgets=budgets,
    )


def _budget() -> Schema:
    """One measure, and no more."""
    time = {"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}]}
    share = {"anyOf": [{"type": "string"}, {"type": "number", "exclusiveMinimum": 0}]}
    mark = _with(MarkSection, at=share) | {"required": ["at"]}
    models = {"type": "object", "additionalProperties": {"type": "string"}}
    budget = _with(
        BudgetSection,
        match=_with(Reach, **_patterns(Reach)),
        per=_ONE_OR_SEVERAL,
        window=time,
        block_after=time,
        patience=time,
        marks={"type": "array", "items": mark},
        degrade=_with(DegradeSection, models=models, tools=_ONE_OR_SEVERAL),
    )
    return budget | {"oneOf": [{"required": [measure.value]} for measure in Measure]}


def _price() -> Schema:
    """Half a price is none."""
    return schema_of(Price) | {"required": ["input", "output"]}


def schema_of(cls: type[Any]) -> Schema:
    """The JSON schema of a frozen dataclass of plain fields, with defaults and what its docstring says."""
    hints = get_type_hints(cls)
    fields = {
        each.name: _schema(hints[each.name])
        | _bounds(each.metadata)
        | _default(each)
        | _described(cls, each.name)
        for each in dataclasses.fields(cls)
    }
    return _object(fields) | {"description": _one_line(cls.__doc__ or "")}


def description(cls: type[Any], field: str) -> str:
    """What the docstrings of `cls`, and of what it inherits from, say of a field (or of its warning twin)."""
    texts = [each.__dict__.get("__doc__") or "" for each in cls.__mro__ if dataclasses.is_dataclass(each)]
    sentences = [_one_line(each) for text in texts for each in _SENTENCE.split(text)]
    said = " ".join(each for each in sentences if f"`{field}`" in each)
    if said or not field.endswith(TWIN):
        return said
    return (
        f"The twin of `{field.removesuffix(TWIN)}` that stops. {description(cls, field.removesuffix(TWIN))}"
    )


def _with(cls: type[Any], **properties: Schema) -> Schema:
    """The schema of `cls`, where these fields are no plain values."""
    schema = schema_of(cls)
    for name, each in properties.items():
        schema["properties"][name] = each | _described(cls, name)
    return schema


def _patterns(cls: type[Any]) -> dict[str, Schema]:
    return {each.name: _ONE_OR_SEVERAL for each in dataclasses.fields(cls)}


def _described(cls: type[Any], field: str) -> Schema:
    text = description(cls, field)
    return {"description": text} if text else {}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _object(properties: Schema) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _schema(hint: Any) -> Schema:
    options: tuple[Any, ...] = getattr(hint, "__args__", ())
    if type(None) in options:
        return {"anyOf": [_schema(options[0]), {"type": "null"}]}
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": _schema(options[1])}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return schema_of(hint)
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if hint in (int, float):
        return {"type": "integer" if hint is int else "number", "minimum": 0}
    return dict(_NAMES)


def _bounds(metadata: Mapping[str, float]) -> Schema:
    named = {"minimum": metadata.get("least"), "maximum": metadata.get("most")}
    return {name: value for name, value in named.items() if value is not None}


def _default(field: dataclasses.Field[Any]) -> Schema:
    value = field.default
    if isinstance(value, Enum):
        return {"default": value.value}
    if value is None or isinstance(value, str | int | float | bool):
        return {"default": value}
    return {}
