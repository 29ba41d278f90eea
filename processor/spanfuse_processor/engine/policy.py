"""What the engine obeys: a frozen policy, checked when it is made.

Rule 1: a policy is data; two equal policies judge equally. Rule 2: a bad value is refused when read, with
the path of the field (`PolicyError.path`), so that whoever read it from a file can name the line.
Rule 3: this file does not know any detector: each brings its own limits, a frozen dataclass, kept here
under the detector's name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

from spanfuse_processor.engine.verdicts import Mode

T = TypeVar("T")


class PolicyError(ValueError):
    """A policy that cannot be obeyed. `path` names the field, as in ("detectors", "repeat", "equal")."""

    def __init__(self, path: tuple[str, ...], problem: str) -> None:
        super().__init__(f"{'.'.join(path) or 'policy'}: {problem}")
        self.path = path
        self.problem = problem


@dataclass(frozen=True, slots=True)
class DetectorLimits:
    """What every detector's limits have: its own mode, None for the policy's."""

    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """When an open breaker may be tried again (rows B1-B3).

    A run's breaker stays open for the run's life (`run_ttl`, seconds); the others cool down `cool_down`
    seconds, doubled with each trip up to `cool_down_max`, then let `probes` calls through;
    `clean_probes` good ones in a row close it, a probe without an answer in `probe_timeout` reopens it.
    """

    run_ttl: float = 86_400.0
    cool_down: float = 30.0
    cool_down_max: float = 600.0
    probes: int = 2
    clean_probes: int = 5
    probe_timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the engine may keep. Counts are nodes and runs, times are seconds.

    A run over `nodes_per_run` stops being remembered call by call (a finding of its own, never an eviction of
    others); a run idle for `idle` becomes a tombstone, kept `tombstone` seconds so that a late
    span neither resurrects the run nor escapes its verdict.
    """

    nodes_per_run: int = 20_000
    runs: int = 200_000
    idle: float = 900.0
    tombstone: float = 86_400.0
    tombstones: int = 1_000_000


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What a tool says about itself, in policy (in code: `@spanfuse.tool`).

    `effect` is read, write, exec, send, spawn or wait, empty to guess from the name. `repeatable` exempts it
    from the repeat rules (L5). `volatile` are argument fields that are noise, `identity` the only
    fields that count, where given.
    """

    effect: str = ""
    repeatable: bool = False
    volatile: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything the engine obeys. `detectors` maps a detector's name to its limits; absent: defaults."""

    mode: Mode = Mode.ENFORCE
    detectors: Mapping[str, DetectorLimits] = field(default_factory=lambda: MappingProxyType({}))
    tools: Mapping[str, ToolRule] = field(default_factory=lambda: MappingProxyType({}))
    breaker: BreakerLimits = BreakerLimits()
    bounds: Bounds = Bounds()


def build(cls: type[T], values: object, path: tuple[str, ...] = ()) -> T:
    """A frozen dataclass from plain data (as YAML gives it), each value checked against its type.

    Raises:
        PolicyError: unknown field, wrong type, or a number that is negative or not finite.
    """
    if not isinstance(values, Mapping):
        raise PolicyError(path, f"expected a mapping of fields, got {type(values).__name__}")
    hints = get_type_hints(cls)
    known = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    checked: dict[str, Any] = {}
    for name, value in values.items():
        here = (*path, str(name))
        if name not in known:
            raise PolicyError(here, f"unknown field; known are {', '.join(sorted(known))}")
        checked[str(name)] = _value(hints[str(name)], value, here)
    return cls(**checked)


def _value(hint: Any, value: object, path: tuple[str, ...]) -> object:
    options: tuple[Any, ...] = getattr(hint, "__args__", ())
    if type(None) in options:  # an optional field
        return None if value is None else _value(options[0], value, path)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice(hint, value, path)
    if dataclasses.is_dataclass(hint):
        return build(hint, value, path)  # type: ignore[arg-type]
    if hint is bool or hint is str:
        if not isinstance(value, hint):
            raise PolicyError(path, f"expected {hint.__name__}, got {value!r}")
        return value
    if hint in (int, float):
        return _number(hint, value, path)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise PolicyError(path, f"expected a list of names, got {value!r}")
    return tuple(value)


def _choice(hint: type[Enum], value: object, path: tuple[str, ...]) -> Enum:
    try:
        return hint(value)
    except ValueError:
        names = ", ".join(str(member.value) for member in hint)
        raise PolicyError(path, f"expected one of {names}, got {value!r}") from None


def _number(hint: type, value: object, path: tuple[str, ...]) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PolicyError(path, f"expected a number, got {value!r}")
    if hint is int and not isinstance(value, int):
        raise PolicyError(path, f"expected a whole number, got {value!r}")
    if not 0 <= value < float("inf"):
        raise PolicyError(path, f"must be finite and not negative, got {value!r}")
    return hint(value)
