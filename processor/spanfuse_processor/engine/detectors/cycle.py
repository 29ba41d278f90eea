"""The agent goes round in a cycle: A-B-A-B, A-B-C, a ring of any length, or the same few calls in any order.

Rule 1: a ring counts when what follows repeats too, with equal results: A, B, A alone is nothing. Rule 2:
two rounds are forgiven, the third trips as soon as it is plain. Rule 3: calls in any order that bring
nothing new are a ring whose period nobody knows: it takes more of them. Rule 4: where one of a ring waits,
or fails in a way that passes by itself, the ring waits. It does not know calls that repeat alone, nor what
a stop does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.lanes.history import History
from spanfuse_processor.engine.lanes.past import Step
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

KNOWN = News.KNOWN  # a member looked up in its enum costs four times as much

_WARNED, _STOPPED = 1, 2


@dataclass(frozen=True, slots=True)
class CycleLimits(DetectorLimits):
    """Numbers of calls that stop a run; 0 switches a rule off.

    A ring of `period` calls stops after `rounds` whole rounds and two calls of the next, if these are `calls`
    or more, or `failing` where every call of it fails; `stale` calls in any order that all brought nothing
    new. A ring in which a tool waits stops at `waits` calls that are less than `wait_gap` seconds apart. Two
    calls less warn (`stale_warn` in any order, `waits_warn`), and so do rings whose calls are `slow` seconds
    apart, or between which the agent was `idle` for so many.
    """

    calls: int = 8
    failing: int = 6
    rounds: int = 2
    stale: int = 12
    stale_warn: int = 6
    waits: int = 30
    waits_warn: int = 12
    wait_gap: float = 5.0
    slow: float = 120.0
    idle: float = 30.0


class Ring(NamedTuple):
    """`length` calls in a row are a ring of `period` (0: in any order); what is due at `warn` and `stop`."""

    rule: str
    period: int
    length: int
    warn: int
    stop: int


class CycleDetector:
    """Watches the calls of one agent.

    >>> from spanfuse_processor.engine.events import CallEnded
    >>> from spanfuse_processor.engine.lanes.lanes import Lanes
    >>> from spanfuse_processor.engine.nouns import Fingerprints
    >>> detector, lanes = CycleDetector(CycleLimits(), {}), Lanes({})
    >>> for number in range(1, 9):
    ...     digest = "ab"[number % 2]
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number, Kind.TOOL, f"read_{digest}")
    ...     event.prints = Fingerprints(digest, digest, digest, digest)
    ...     call = Call(event, "run", number, 0, 0, (), True)
    ...     _ = lanes.place(call)
    ...     finding = detector.ended(call)
    ...     if finding:
    ...         print(number, finding.severity.value, finding.message)
    6 warn a cycle of 2 calls (read_b, read_a) went round 3 times with equal results
    8 stop a cycle of 2 calls (read_b, read_a) went round 4 times with equal results
    """

    name: ClassVar[str] = "cycle"
    per: ClassVar[tuple[Unit, ...]] = (Unit.LANE,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.TOOL, Kind.MODEL, Kind.AGENT})
    minds_plain: ClassVar[bool] = False

    __slots__ = ("_limits", "_told")

    def __init__(self, limits: CycleLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._told: dict[Kind, int] = {}

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when some calls have come back."""
        return call.news is KNOWN and call.lane.history(call.event.kind).stale > 1

    def started(self, call: Call) -> None:
        """A start repeats nothing yet."""

    def ended(self, call: Call) -> Finding | None:
        """Compares a call with those before it."""
        kind = call.event.kind
        if call.news is not News.KNOWN:
            if call.news is News.NEW and self._told:
                self._told.pop(kind, None)
            return None
        history: History = call.lane.history(kind)
        if self._told.get(kind) == _STOPPED or history.run(1) == history.stale + 1:
            return None  # all the same: that is no ring
        warned = None
        for ring in self._rings(history):
            if 0 < ring.stop <= ring.length and not self._is_paced(history, ring):
                return self._said(call, history, ring, stops=True)
            if warned is None and ring.stop and 0 < ring.warn <= ring.length:
                warned = ring
        return self._said(call, history, warned, stops=False) if warned else None

    def _rings(self, history: History) -> list[Ring]:
        """Everything that goes round now, the shortest ring first."""
        limits, steps = self._limits, history.steps
        rings = []
        for period, length in history.cycles():
            if _waits(steps[-period:]):
                rings.append(Ring("waits", period, length, limits.waits_warn, limits.waits))
            elif limits.rounds and limits.calls:
                failing = limits.failing and all(step.failed for step in steps[-period:])
                stop = max(limits.failing if failing else limits.calls, limits.rounds * period + 2)
                rings.append(Ring("rounds", period, length, max(2 * period, stop - 2), stop))
        waits = sum(step.waits for step in steps[-history.stale :])
        if not waits or history.pause(history.stale) < limits.wait_gap:  # a wait that takes no time is none
            rings.append(Ring("stale", 0, history.stale - waits, limits.stale_warn, limits.stale))
        return rings

    def _is_paced(self, history: History, ring: Ring) -> bool:
        """Whether the calls leave time between them, as those of a loop do not."""
        limits, pause = self._limits, history.pause(ring.length)
        if ring.rule == "waits":
            return 0 < limits.wait_gap <= pause
        return 0 < limits.slow <= pause or 0 < limits.idle <= history.idle(ring.length)

    def _said(self, call: Call, history: History, ring: Ring, stops: bool) -> Finding | None:
        """A finding, the first time that this much is due."""
        kind, told = call.event.kind, _STOPPED if stops else _WARNED
        if self._told.get(kind, 0) >= told:
            return None
        self._told[kind] = told
        steps = history.steps[-ring.length :]
        return found(
            call,
            self.name,
            Severity.STOP if stops else Severity.WARN,
            "RETRY_STORM" if all(step.failed for step in steps[-max(1, ring.period) :]) else "LOOP",
            _message(ring, steps),
            observed=ring.length,
            limit=ring.stop if stops else ring.warn,
            cleared_by="a call or a result that is new, or new user input",
            spans=tuple(step.span_id for step in steps),
            rule=ring.rule,
        )


def _waits(steps: list[Step]) -> bool:
    """Whether any of them only let time pass; a failure that the same tool mended at once did not."""
    following = (*steps[1:], *steps[:1])
    return any(
        step.waits and not (step.failed and step.name == after.name and not (after.failed or after.waits))
        for step, after in zip(steps, following, strict=True)
    )


def _message(ring: Ring, steps: list[Step]) -> str:
    if not ring.period:
        return f"the last {ring.length} calls brought nothing new"
    names = ", ".join(step.name for step in steps[-ring.period :][:8]) + (", ..." if ring.period > 8 else "")
    rounds = ring.length // ring.period
    return f"a cycle of {ring.period} calls ({names}) went round {rounds} times with equal results"
