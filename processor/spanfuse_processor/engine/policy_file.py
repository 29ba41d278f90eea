"""Plain data (as YAML gives it) to a `Policy`, and the schema that says what is allowed.

Rule 1: every problem is a `PolicyError` with the path of the field; files and lines are the rim's.
Rule 2: a detector's section is checked against the limits that the registry names for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, get_type_hints

from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.policy import (
    BreakerLimits,
    DetectorLimits,
    Policy,
    PolicyError,
    ToolRule,
    build,
)

_PLAIN = {str: {"type": "string"}, bool: {"type": "boolean"}}


def policy_from_mapping(values: object, path: tuple[str, ...] = ("policy",)) -> Policy:
    """The policy that a file's `policy` section describes; absent fields keep their defaults.

    Raises:
        PolicyError: with the path of the field that is wrong.
    """
    if not isinstance(values, Mapping):
        raise PolicyError(path, f"expected a mapping of fields, got {type(values).__name__}")
    plain = {name: value for name, value in values.items() if name not in ("detectors", "tools")}
    policy = build(Policy, plain, path)
    return dataclasses.replace(
        policy,
        detectors=_detectors(values.get("detectors", {}), (*path, "detectors")),
        tools=_tools(values.get("tools", {}), (*path, "tools")),
    )


def _detectors(values: object, path: tuple[str, ...]) -> Mapping[str, DetectorLimits]:
    if not isinstance(values, Mapping):
        raise PolicyError(path, f"expected a mapping of detectors, got {type(values).__name__}")
    limits: dict[str, DetectorLimits] = {}
    for name, section in values.items():
        if name not in DETECTORS:
            known = ", ".join(sorted(DETECTORS))
            raise PolicyError((*path, str(name)), f"unknown detector; known are {known}")
        limits[name] = build(DETECTORS[name][1], section, (*path, name))
    return MappingProxyType(limits)


def _tools(values: object, path: tuple[str, ...]) -> Mapping[str, ToolRule]:
    if not isinstance(values, Mapping):
        raise PolicyError(path, f"expected a mapping of tools, got {type(values).__name__}")
    return MappingProxyType(
        {str(name): build(ToolRule, rule, (*path, str(name))) for name, rule in values.items()}
    )


def policy_schema() -> dict[str, Any]:
    """The JSON schema of the `policy` section."""
    schema = schema_of(Policy)
    schema["properties"]["detectors"] = _object(
        {name: schema_of(limits) for name, (_, limits) in DETECTORS.items()}
    )
    schema["properties"]["tools"] = {"type": "object", "additionalProperties": schema_of(ToolRule)}
    schema["properties"]["breaker"] = schema_of(BreakerLimits)
    return schema


def schema_of(cls: type) -> dict[str, Any]:
    """The JSON schema of a frozen dataclass of plain fields, with its defaults and its docstring."""
    hints = get_type_hints(cls)
    fields = {
        f.name: _schema(hints[f.name]) | _bounds(f.metadata) | _default(f) for f in dataclasses.fields(cls)
    }
    return _object(fields) | {"description": " ".join((cls.__doc__ or "").split())}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _schema(hint: Any) -> dict[str, Any]:
    options: tuple[Any, ...] = getattr(hint, "__args__", ())
    if type(None) in options:
        return {"anyOf": [_schema(options[0]), {"type": "null"}]}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return schema_of(hint)
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if hint in (int, float):
        return {"type": "integer" if hint is int else "number", "minimum": 0}
    return {"type": "array", "items": {"type": "string"}}


def _bounds(metadata: Mapping[str, float]) -> dict[str, float]:
    named = {"minimum": metadata.get("least"), "maximum": metadata.get("most")}
    return {name: value for name, value in named.items() if value is not None}


def _default(field: dataclasses.Field[Any]) -> dict[str, Any]:
    value = field.default
    if isinstance(value, Enum):
        return {"default": value.value}
    if value is None or isinstance(value, str | int | float | bool):
        return {"default": value}
    return {}
