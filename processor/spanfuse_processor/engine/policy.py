"""What the engine obeys: a frozen policy, checked when it is made.

Rule 1: a policy is data; two equal policies judge equally. Rule 2: a bad value is refused when read, with
the path of the field (`PolicyError.path`), so that whoever read it from a file can name the line; a field's
metadata may say the `least` and the `most` that its number may be (zero and anything finite, otherwise).
Rule 3: this file does not know any detector: each brings its own limits, a frozen dataclass, kept here
under the detector's name.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeVar, get_type_hints

from spanfuse_processor.engine.verdicts import Mode

T = TypeVar("T")

AT_LEAST_ONE: Final[Mapping[str, float]] = MappingProxyType({"least": 1})
"""Metadata of a field that counts what there has to be."""


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
    probes: int = field(default=2, metadata=AT_LEAST_ONE)
    clean_probes: int = field(default=5, metadata=AT_LEAST_ONE)
    probe_timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the engine may keep. Counts are nodes and runs, times are seconds.

    A run over `nodes_per_run` stops being remembered call by call (a finding of its own, never an eviction of
    others); a run idle for `idle` becomes a tombstone, kept `tombstone` seconds so that a late
    span neither resurrects the run nor escapes its verdict.
    """

    nodes_per_run: int = field(default=20_000, metadata=AT_LEAST_ONE)
    runs: int = field(default=200_000, metadata=AT_LEAST_ONE)
    idle: float = 900.0
    tombstone: float = 86_400.0
    tombstones: int = 1_000_000


class Effect(StrEnum):
    """What a tool does, which is how its repeats are judged. UNDECLARED: guess from the name."""

    UNDECLARED = ""
    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    SEND = "send"
    SPAWN = "spawn"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What a tool says about itself, in policy (in code: `@spanfuse.tool`).

    `effect` is what it does, empty to guess from the name. `repeatable` exempts it from the repeat rules
    (L5). `volatile` are argument fields that are noise, `identity` the only fields that count, where given.
    `transient` are errors of it that pass by themselves: names of error classes, or words of their messages.
    """

    effect: Effect = Effect.UNDECLARED
    repeatable: bool = False
    volatile: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    transient: tuple[str, ...] = ()


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
        PolicyError: unknown field, wrong type, no choice that there is, or a number out of its bounds.
    """
    if not isinstance(values, Mapping):
        raise PolicyError(path, f"expected a mapping of fields, got {type(values).__name__}")
    hints = get_type_hints(cls)
    known = {f.name: f.metadata for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    checked: dict[str, Any] = {}
    for name, value in values.items():
        here = (*path, str(name))
        if name not in known:
            raise PolicyError(here, f"unknown field; known are {', '.join(sorted(known))}")
        checked[name] = _value(hints[name], value, here, known[name])
    return cls(**checked)


def _value(hint: Any, value: object, path: tuple[str, ...], bounds: Mapping[str, float]) -> object:
    options: tuple[Any, ...] = getattr(hint, "__args__", ())
    if type(None) in options:  # an optional field
        return None if value is None else _value(options[0], value, path, bounds)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice(hint, value, path)
    if dataclasses.is_dataclass(hint):
        return build(hint, value, path)  # type: ignore[arg-type]
    if hint is bool or hint is str:
        if not isinstance(value, hint):
            raise PolicyError(path, f"expected {hint.__name__}, got {value!r}")
        return value
    if hint in (int, float):
        return _number(hint, value, path, bounds)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise PolicyError(path, f"expected a list of names, got {value!r}")
    return tuple(value)


def _choice(hint: type[Enum], value: object, path: tuple[str, ...]) -> Enum:
    try:
        return hint(value)
    except ValueError:
        names = ", ".join(str(member.value) for member in hint if member.value)
        raise PolicyError(path, f"expected one of {names}, got {value!r}") from None


def _number(hint: type, value: object, path: tuple[str, ...], bounds: Mapping[str, float]) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PolicyError(path, f"expected a number, got {value!r}")
    if hint is int and not isinstance(value, int):
        raise PolicyError(path, f"expected a whole number, got {value!r}")
    least, most = bounds.get("least", 0), bounds.get("most", sys.float_info.max)
    if not least <= value <= most:
        raise PolicyError(path, f"must be {_span(least, bounds.get('most'))}, got {value!r}")
    return hint(value)


def _span(least: float, most: float | None) -> str:
    if most is not None:
        return f"{least} to {most}"
    return f"finite and at least {least}" if least else "finite and not negative"
