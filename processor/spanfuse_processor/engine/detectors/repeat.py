"""The agent repeats itself: the same call with the same result, over and over.

Rule 1: judged after the call, on what was asked and what came of it; where either is unknown it says
nothing, but for an agent that is started again and again with the same task. Rule 2: noise (times, random
ids, counters) is forgiven on one side only. Rule 3: what waits may repeat for long, if it leaves time
between; a command may be run once more than a question is asked. Rule 4: a pause between repeats (a
schedule, a growing back-off) is no loop; it is warned of at most. It does not know which calls follow one
another, nor what a stop does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import found, lasting
from spanfuse_processor.engine.lanes.history import SAME_ALL, SAME_RESULT, History, failed
from spanfuse_processor.engine.lanes.timing import NS
from spanfuse_processor.engine.nouns import ErrorClass, Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

KNOWN = News.KNOWN  # a member looked up in its enum costs four times as much

_ENDLESS: Final = ("wait_time", "wait_cost")
_STOPPED: Final = "stop"


@dataclass(frozen=True, slots=True)
class RepeatLimits(DetectorLimits):
    """Numbers of equal calls in a row that stop a run; 0 switches a rule off.

    `equal` calls with equal results; `writes` where the tool writes, `runs` where it runs something,
    `handoffs` of an agent that is started with the same task, `failures` where equal calls fail equally,
    `similar` where results differ in times, random ids and counters only. `waits` is for tools that wait
    and are asked at less than `wait_gap` seconds.

    Repeats that are `slow` seconds apart, or between which the agent was `idle` for so many (or which it
    ran for so many), only warn, and so do `warn` equal calls, `waits_warn` of tools that wait, and a wait
    without change that has taken `wait_time` seconds or has cost `wait_cost` USD.
    """

    equal: int = 5
    runs: int = 6
    writes: int = 5
    handoffs: int = 5
    failures: int = 4
    similar: int = 6
    waits: int = 30
    wait_gap: float = 5.0
    wait_time: float = 3_600.0
    wait_cost: float = 3.0
    slow: float = 120.0
    idle: float = 30.0
    warn: int = 3
    waits_warn: int = 12


class Due(NamedTuple):
    """What `rule` has `seen` in `calls` repeats: a warning is due at `warn`, a stop at `stop`."""

    rule: str
    calls: int
    seen: float
    warn: float
    stop: int = 0

    def told(self, stops: bool) -> str:
        """What is said once: a stop, a warning of repeats, of a wait that takes long, of one that is dear."""
        return "stop" if stops else self.rule if self.rule in _ENDLESS else "warn"


class RepeatDetector:
    """Watches the calls of one agent.

    >>> from spanfuse_processor.engine.lanes.lanes import Lanes
    >>> from spanfuse_processor.engine.nouns import Fingerprints
    >>> detector, lanes = RepeatDetector(RepeatLimits(), {}), Lanes({})
    >>> for number in range(1, 6):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number, Kind.TOOL, "search")
    ...     event.prints = Fingerprints("a1", "a1", "b2", "b2")
    ...     call = Call(event, "run", number, 0, 0, (), True)
    ...     _ = lanes.place(call)
    ...     finding = detector.ended(call)
    ...     print(number, finding and (finding.severity.value, finding.message))
    1 None
    2 None
    3 ('warn', 'search was called 3 times in a row with equal arguments and equal results')
    4 None
    5 ('stop', 'search was called 5 times in a row with equal arguments and equal results')
    """

    name: ClassVar[str] = "repeat"
    per: ClassVar[tuple[Unit, ...]] = (Unit.LANE,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.TOOL, Kind.MODEL, Kind.AGENT})
    minds_plain: ClassVar[bool] = False

    __slots__ = ("_cost", "_limits", "_since_ns", "_told")

    def __init__(self, limits: RepeatLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._told: tuple[tuple[Kind, str], ...] = ()
        self._cost = self._since_ns = 0  # what the lane had cost when a wait began, and when that was

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when something comes back."""
        return call.news is KNOWN

    def started(self, call: Call) -> None:
        """A start repeats nothing yet."""

    def ended(self, call: Call) -> Finding | None:
        """Compares a call with those before it."""
        kind = call.event.kind
        if call.news is not News.KNOWN:
            if call.news is News.NEW and self._told:
                self._told = tuple(each for each in self._told if each[0] is not kind)
            return None
        history: History = call.lane.history(kind)
        in_a_row = 0 if _passes(call) else history.run(1)
        if not in_a_row or (kind, _STOPPED) in self._told:
            return None
        warned = None
        for due in self._due(call, history, in_a_row):
            if 0 < due.stop <= due.seen and not self._is_paced(call, history, due):
                return self._said(call, history, due, stops=True)
            if warned is None and 0 < due.warn <= due.seen and (kind, due.told(False)) not in self._told:
                warned = due
        return self._said(call, history, warned, stops=False) if warned else None

    def _due(self, call: Call, history: History, in_a_row: int) -> Iterator[Due]:
        limits, step = self._limits, history.steps[-1]
        if step.waits and not step.failed:
            yield Due("waits", in_a_row, in_a_row, limits.waits_warn if limits.waits else 0, limits.waits)
            yield from self._unchanged(call, history, in_a_row)
            return
        rule = "failures" if step.failed else self._rule(call)
        strictly = history.run(1, SAME_RESULT)
        for name, count in ((rule, strictly), ("similar", in_a_row if in_a_row > strictly else 0)):
            stop = getattr(limits, name)
            yield Due(name, count, count, min(limits.warn, stop - 1), stop)

    def _unchanged(self, call: Call, history: History, in_a_row: int) -> Iterator[Due]:
        """What is waited for has not changed: for how long, and for how much money."""
        if in_a_row == 2:
            self._cost, self._since_ns = call.lane.cost, history.steps[-2].started_ns
        waited = (history.steps[-1].ended_ns - self._since_ns) / NS
        yield Due("wait_time", in_a_row, waited, self._limits.wait_time)
        yield Due("wait_cost", in_a_row, (call.lane.cost - self._cost) / 1e6, self._limits.wait_cost)

    def _rule(self, call: Call) -> str:
        if call.event.kind is Kind.AGENT:
            return "handoffs"
        return {effects.WRITE: "writes", effects.EXEC: "runs"}.get(call.effect, "equal")

    def _is_paced(self, call: Call, history: History, due: Due) -> bool:
        """Whether the repeats leave time between them, as a loop does not."""
        limits, pause = self._limits, history.pause(due.calls)
        if due.rule == "waits" and not effects.hooks(call.event.name):  # it wakes a model each time
            return 0 < limits.wait_gap <= pause
        looks = call.effect != effects.WRITE  # to look now and then is a habit, to write the same is none
        if 0 < limits.slow <= pause or (looks and 0 < limits.idle <= history.idle(due.calls)):
            return True
        if due.rule == "runs" and 0 < limits.idle <= history.took(due.calls):
            return True  # what takes so long waits for something
        return due.rule == "failures" and history.backs_off(due.calls)

    def _said(self, call: Call, history: History, due: Due, stops: bool) -> Finding:
        self._told += ((call.event.kind, due.told(stops)),)
        return found(
            call,
            self.name,
            Severity.STOP if stops else Severity.WARN,
            "RETRY_STORM" if history.steps[-1].failed else "LOOP",
            _message(call, history, due),
            observed=due.seen,
            limit=due.stop if stops else due.warn,
            cleared_by="another result, other arguments, or new user input",
            spans=tuple(step.span_id for step in history.steps[-due.calls :]),
            rule=due.rule,
            prints=_prints(call),
        )


def _passes(call: Call) -> bool:
    """Whether it failed in a way that passes by itself: there, time decides, and not how often."""
    event = call.event
    if not isinstance(event, CallEnded) or event.prints is None or not failed(event):
        return False
    return event.prints.error_class is ErrorClass.TRANSIENT


def _message(call: Call, history: History, due: Due) -> str:
    name, count = call.event.name, due.calls
    if due.rule == "handoffs":
        return f"agent {name} was started {count} times in a row with the same task"
    if history.steps[-1].failed:
        return f"{name} failed {count} times in a row with equal arguments and the same error"
    if due.rule == "wait_time":
        return f"{name} was asked {count} times without a change, for {lasting(due.seen)}"
    if due.rule == "wait_cost":
        return f"{name} was asked {count} times without a change, for {due.seen:.2f} USD"
    message = f"{name} was called {count} times in a row with equal arguments and equal results"
    noisy = history.run(1, SAME_ALL) < count
    return message + (", but for times, ids and counters" if noisy else "")


def _prints(call: Call) -> tuple[str, ...]:
    """What came back: the digests of what was asked and of how it ended."""
    event = call.event
    prints = event.prints if isinstance(event, CallEnded) else None
    known = (prints.arguments, prints.error or prints.result) if prints is not None else ()
    return tuple(digest for digest in known if digest)
