"""An agent that runs by a schedule runs more often than it should.

Rule 1: only a period that somebody declared is held against it: what a schedule should be, nobody can guess.
Rule 2: a start is early when less than half a period lies before it; one that is not begins the count anew.
Rule 3: counted in one run, and over the runs of one feature; there it only warns. It does not know what the
agent does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity
from spanfuse_processor.engine.window import NS

KEPT: Final = 16
"""Agents whose starts are remembered."""


@dataclass(frozen=True, slots=True)
class ScheduleLimits(DetectorLimits):
    """`period` is how many seconds should lie between two starts of the agent that a policy's rule matches.

    `early` starts in a row, each less than half of that after the one before, stop a run; the first warns. 0
    switches it off: an agent without a period has no schedule.
    """

    period: float = 0.0
    early: int = 3


class Starts:
    """The starts of one agent."""

    __slots__ = ("early", "last_ns", "spans", "told")

    def __init__(self, first_ns: int, span_id: bytes) -> None:
        self.last_ns = first_ns
        self.early = 0
        self.spans = [span_id]  # those that count
        self.told: tuple[Severity, ...] = ()


class ScheduleDetector:
    """Watches the agents that one agent starts, or a program, in one run or for one feature.

    >>> from spanfuse_processor.engine.events import CallStarted
    >>> detector = ScheduleDetector(ScheduleLimits(period=3_600), {})
    >>> for minute in range(5):
    ...     event = CallStarted(bytes(16), bytes([minute]), b"", minute * 60 * NS, Kind.AGENT, "heartbeat")
    ...     finding = detector.started(Call(event, "run", minute + 1, 0, 1, (), False))
    ...     print(minute + 1, finding and (finding.severity.value, finding.message))
    1 None
    2 ('warn', 'agent heartbeat is due every 3600 s and began 60 s after the last time')
    3 None
    4 ('stop', 'agent heartbeat is due every 3600 s and began 60 s after the last time, 3 times in a row')
    5 None
    """

    name: ClassVar[str] = "schedule"
    per: ClassVar[tuple[Unit, ...]] = (Unit.LANE, Unit.FEATURE)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.AGENT, Kind.WORKFLOW})
    only_warns: ClassVar[tuple[Unit, ...]] = (Unit.FEATURE,)

    __slots__ = ("_agents", "_limits")

    def __init__(self, limits: ScheduleLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._agents: OrderedDict[str, Starts] = OrderedDict()

    @staticmethod
    def waker(limits: ScheduleLimits) -> Callable[[Call], bool]:
        """Only for what no agent has started: schedules do that. And only where there is one."""
        return _is_outermost if limits.period else _never

    def started(self, call: Call) -> Finding | None:
        """A start that is told."""
        return self._judged(call)

    def ended(self, call: Call) -> Finding | None:
        """A start that is known only now."""
        return self._judged(call)

    def _judged(self, call: Call) -> Finding | None:
        event, limits = call.event, self._limits
        if not limits.period:
            return None
        starts = self._agents.get(event.name)
        if starts is None:
            self._agents[event.name] = Starts(event.started_ns, event.span_id)
            if len(self._agents) > KEPT:
                self._agents.popitem(last=False)
            return None
        gap = (event.started_ns - starts.last_ns) / NS
        if gap <= 0:  # told already, or late
            return None
        starts.last_ns = event.started_ns
        if gap >= limits.period / 2:
            starts.early, starts.told, starts.spans = 0, (), []
        else:
            starts.early += 1
        starts.spans = [*starts.spans[-KEPT:], event.span_id]
        return self._due(call, starts, gap) if starts.early else None

    def _due(self, call: Call, starts: Starts, gap: float) -> Finding | None:
        limits = self._limits
        severity = Severity.STOP if 0 < limits.early <= starts.early else Severity.WARN
        if not limits.early or severity in starts.told or Severity.STOP in starts.told:
            return None
        starts.told += (severity,)
        message = (
            f"agent {call.event.name} is due every {limits.period:g} s and began {gap:g} s after the last"
        )
        message += " time" + (f", {starts.early} times in a row" if starts.early > 1 else "")
        return found(
            call,
            self.name,
            severity,
            "RATE",
            message,
            observed=gap,
            limit=limits.period,
            cleared_by="a start when it is due",
            spans=tuple(starts.spans),
            rule="period",
        )


def _is_outermost(call: Call) -> bool:
    return len(call.agents) < 2


def _never(call: Call) -> bool:
    return False
