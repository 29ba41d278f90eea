"""What the engine obeys: a frozen policy, with rules for parts of what it judges.

Rule 1: a policy is data; two equal policies judge equally. Rule 2: what a rule cannot mean is refused when
the rule is made (`PolicyError`). Rule 3: a field's metadata may say the `least` and the `most` that its
number may be (zero and anything finite, otherwise), and its class's docstring says what it is. Rule 4: this
file does not know any detector: each brings its own limits, a frozen dataclass, kept here under the
detector's name. What holds where is `scoping.py`'s.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.verdicts import Mode

AT_LEAST_ONE: Final[Mapping[str, float]] = MappingProxyType({"least": 1})
"""Metadata of a field that counts what there has to be."""


A_SHARE: Final[Mapping[str, float]] = MappingProxyType({"least": 0, "most": 1})
"""Metadata of a field that is a part of a whole."""


class PolicyError(ValueError):
    """A policy that cannot be obeyed. `path` names the field, as in ("detectors", "repeat", "equal")."""

    def __init__(self, path: tuple[str, ...], problem: str) -> None:
        super().__init__(f"{'.'.join(path) or 'policy'}: {problem}")
        self.path = path
        self.problem = problem


@dataclass(frozen=True, slots=True)
class DetectorLimits:
    """What every detector's limits have: how to react to what it sees.

    `mode` is the detector's own, null for that of the policy. `only_warn` names rules of it (its limits)
    that would stop and shall only warn; `also_stop` names rules that would only warn and shall stop.
    """

    mode: Mode | None = None
    only_warn: tuple[str, ...] = ()
    also_stop: tuple[str, ...] = ()


REACTIONS: Final = frozenset(each.name for each in dataclasses.fields(DetectorLimits))
"""Fields of limits that say how to react; the others are thresholds."""

Fields = Mapping[str, object]
"""Some fields of a detector's limits, by name."""

Detectors = Mapping[str, DetectorLimits | Fields]
"""Limits of detectors by name: whole, or those fields of them that are to differ."""


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

    A run over `nodes_per_run` stops being remembered call by call (a finding of its own, never an eviction
    of others). Of more than `runs` at a time the longest unseen is put away. A run idle for `idle` becomes
    a tombstone, kept `tombstone` seconds so that a late span neither resurrects the run nor escapes its
    verdict. Of `tombstones` there are so many at most.
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
    `transient` are errors of it that pass by themselves: names of error classes, or words of their
    messages. `fee` is what each call of it costs, in US dollars, however it ends; 0: what it says itself.
    """

    effect: Effect = Effect.UNDECLARED
    repeatable: bool = False
    volatile: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    transient: tuple[str, ...] = ()
    fee: float = 0.0


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in US dollars a million tokens; `call` in US dollars a call.

    `input` and `output` are what is asked and what is answered. `cached` is input that was read from a
    cache, `cache_write` input that was written to one, `reasoning` output that was thought and not said,
    `audio_input` and `audio_output` what was heard and spoken; null: as the input or output that they are a
    part of. `call` is added for each call.
    """

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    cache_write: float | None = None
    reasoning: float | None = None
    audio_input: float | None = None
    audio_output: float | None = None
    call: float = 0.0


class Profile(StrEnum):
    """What kind of run it is, which is how long it may take and how patiently it is judged."""

    INTERACTIVE = "interactive"  # somebody waits for it
    BATCH = "batch"  # many like items, nobody waits
    LONG = "long"  # hours of work, told to be alive by its heartbeat


@dataclass(frozen=True, slots=True)
class Match:
    """Which calls a rule is for. Each field is a shell-style pattern or several; one left out matches all.

    `tenant`, `service`, `namespace` and `feature` are those that the call names, `profile` is its run's.
    `agent` is the innermost agent around it. `tool` is the tool that is called, and `detector` the one that
    saw something.
    """

    tenant: tuple[str, ...] = ()
    service: tuple[str, ...] = ()
    namespace: tuple[str, ...] = ()
    feature: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    detector: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """A small policy for the calls that `match`. Of the rules that match, each goes over those above it.

    `mode` goes over the policy's; over a mode that a detector was given by name only when it is milder, or
    when `match` names the detector. `profile` goes over the one that the run says. `detectors` sets limits,
    by detector.

    Raises:
        PolicyError: it sets nothing, or what it sets cannot depend on what it matches.
    """

    match: Match = Match()
    mode: Mode | None = None
    profile: Profile | None = None
    detectors: Detectors = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        match = self.match
        if self.mode is None and self.profile is None and not self.detectors:
            raise PolicyError((), "it sets nothing: give it a mode, a profile or detectors")
        if self.profile is not None and (match.profile or match.agent or match.tool or match.detector):
            problem = "a profile is a whole run's: match its tenant, service, namespace or feature"
            raise PolicyError(("profile",), problem)
        if self.detectors and match.detector:
            raise PolicyError(("match", "detector"), "name the detector under `detectors` alone")
        if match.tool:
            self._refuse_thresholds()

    def _refuse_thresholds(self) -> None:
        """Calls of different tools are compared with each other, so no tool has thresholds of its own."""
        for name, said in self.detectors.items():
            known = said if isinstance(said, Mapping) else dataclasses.asdict(said)
            for threshold in known.keys() - REACTIONS:
                problem = f"a tool cannot have it for itself, only {', '.join(sorted(REACTIONS))}"
                raise PolicyError(("detectors", name, threshold), problem)


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything the engine obeys.

    `mode` is what is done about what is seen. `profile` is that of runs for which nothing else says one.
    `detectors` sets limits, by detector. `rules` are for parts of what is judged: of those that match a
    call, the last that says something decides. `suspicion` is the share (0 to 1) of the budget that a run
    gave itself which it may spend while a warning of a loop stands; then the warning is a stop; 0: never.
    `tools` says what single tools are. `prices` are those of models by shell-style patterns, before the
    book's; the last that matches holds. `fallback` is charged for models that nobody knows, null: they cost
    nothing, and are counted. `budgets` say what may be spent, by name. `breaker` says when a stop may be
    tried again, `bounds` what may be kept.
    """

    mode: Mode = Mode.ENFORCE
    profile: Profile = Profile.INTERACTIVE
    detectors: Detectors = field(default_factory=lambda: MappingProxyType({}))
    rules: tuple[PolicyRule, ...] = ()
    suspicion: float = field(default=0.25, metadata=A_SHARE)
    tools: Mapping[str, ToolRule] = field(default_factory=lambda: MappingProxyType({}))
    prices: Mapping[str, Price] = field(default_factory=lambda: MappingProxyType({}))
    fallback: Price | None = None
    budgets: tuple[Budget, ...] = ()
    breaker: BreakerLimits = BreakerLimits()
    bounds: Bounds = Bounds()
