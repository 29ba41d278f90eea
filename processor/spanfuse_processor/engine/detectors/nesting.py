"""Agents nested too deep, and agents that call themselves (row L9), over the whole tree of a run.

Rule 1: the root is level 0, and what is told twice counts once. Rule 2: it is judged by whichever call makes
a way whole: from above where starts are told, from below where ends are; while a parent is missing, a depth
is a lower bound. Rule 3: what only time says of several traces has to be much deeper, and is no recursion. It
does not know the tree, only what a call says of its place in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from spanfuse_processor.engine.calls import Call, Nest
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

NAMED: Final = 12
"""Agents that a message names."""


@dataclass(frozen=True, slots=True)
class NestingLimits(DetectorLimits):
    """Agents deeper than `max_depth` levels below the root stop a run, at that depth they warn.

    `same_name` agents of one name on the way down stop it too, whatever is between them. `inferred_depth` is
    the depth that stops where nothing but the times of traces tells of it. 0 switches a rule off.
    """

    max_depth: int = 3
    same_name: int = 3
    inferred_depth: int = 7


class Due(NamedTuple):
    """What there is to say, by which rule."""

    rule: str
    severity: Severity
    observed: int
    message: str


class NestingDetector:
    """Watches the depth of one run.

    >>> from spanfuse_processor.engine.calltree import CallTree
    >>> from spanfuse_processor.engine.events import CallStarted
    >>> from spanfuse_processor.engine.nouns import Kind
    >>> from spanfuse_processor.engine.stats import EngineStats
    >>> detector, tree = NestingDetector(NestingLimits(), {}), CallTree("run", 100, EngineStats())
    >>> for number, name in enumerate(("main", "research", "search", "browse", "read"), 1):
    ...     event = CallStarted(bytes(16), bytes([number]), bytes([number - 1]), 0, Kind.AGENT, name)
    ...     finding = detector.started(tree.add(event))
    ...     print(number, finding and (finding.severity.value, finding.message))
    1 None
    2 None
    3 None
    4 ('warn', 'agents are nested 3 deep: main > research > search > browse')
    5 ('stop', 'agents are nested 4 deep: main > research > search > browse > read')
    """

    name: ClassVar[str] = "nesting"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)
    minds_plain: ClassVar[bool] = False

    __slots__ = ("_limits", "_told")

    def __init__(self, limits: NestingLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._told: tuple[Severity, ...] = ()

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when there are agents in agents."""
        return call.nest is not None

    def started(self, call: Call) -> Finding | None:
        """Judges an agent before it does anything."""
        return None if call.nest is None else self._judged(call, call.nest)

    def ended(self, call: Call) -> Finding | None:
        """Judges a call by what it makes whole."""
        return None if call.nest is None else self._judged(call, call.nest)

    def _judged(self, call: Call, nest: Nest) -> Finding | None:
        due = self._due(nest)
        if due is None or due.severity in self._told or Severity.STOP in self._told:
            return None
        self._told += (due.severity,)
        own = call.event.span_id
        recursion = due.rule == "same_name"
        return found(
            call,
            self.name,
            due.severity,
            "RECURSION" if recursion else "DEPTH",
            due.message,
            observed=due.observed,
            limit=getattr(self._limits, due.rule),
            cleared_by="agents that do not start themselves" if recursion else "a flatter tree of agents",
            spans=(*(span for span in nest.spans if span != own), own),
            rule=due.rule,
        )

    def _due(self, nest: Nest) -> Due | None:
        """The worst that there is to say."""
        limits, depth, sure = self._limits, nest.levels - 1, nest.sure - 1
        if 0 < limits.same_name <= nest.times and nest.name:
            message = f"agent {nest.name} calls itself, {nest.times} levels deep"
            return Due("same_name", Severity.STOP, nest.times, message)
        message = f"agents are nested {depth} deep{_way(nest)}"
        if 0 < limits.max_depth < sure:
            message = message if sure == depth else f"agents are nested {sure} deep"
            return Due("max_depth", Severity.STOP, sure, message)
        if 0 < limits.inferred_depth <= depth and sure < depth:
            message += ", as the times of their traces tell"
            return Due("inferred_depth", Severity.STOP, depth, message)
        return Due("max_depth", Severity.WARN, depth, message) if 0 < limits.max_depth <= depth else None


def _way(nest: Nest) -> str:
    """The agents on the way down, where all of them are known."""
    line = nest.line
    if not all(line):
        return ""
    if len(line) > NAMED:
        line = (*line[: NAMED - 3], f"... {len(line) - NAMED + 1} more ...", *line[-2:])
    return f": {' > '.join(line)}"
