"""Agents nested too deep, and agents that call themselves (row L9, within what is known of a run's tree).

Rule 1: whichever end of a chain is known first is judged: from above by the names of the enclosing agents,
from below by the height of what has arrived. Rule 2: the root is level 0. Rule 3: two spans of one agent,
one right inside the other, are one agent that two instrumentations or layers tell of; three are an agent
that calls itself. It does not know the tree, only what a call says of its place in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

AGENT = Kind.AGENT  # a member looked up in its enum costs four times as much

MAX_AWAITED: Final = 1_024
"""Spans above agents that are awaited, to see whether they are doubles."""


@dataclass(frozen=True, slots=True)
class NestingLimits(DetectorLimits):
    """Agents deeper than `max_depth` levels below the root stop a run, at that depth they warn.

    `same_name` agents of one name on the way down stop it too. 0 switches a rule off.
    """

    max_depth: int = 3
    same_name: int = 3


class Below(NamedTuple):
    """What is known below a span: an agent's name, how many of it are right inside one another, doubles."""

    name: str
    same: int
    doubles: int


NOTHING: Final = Below("", 0, 0)


class NestingDetector:
    """Watches the depth of one run.

    >>> from spanfuse_processor.engine.events import CallStarted
    >>> detector = NestingDetector(NestingLimits(), {})
    >>> path = ("main", "research", "search", "browse", "read")
    >>> for depth in range(5):
    ...     event = CallStarted(bytes(16), bytes([depth]), b"", 0, Kind.AGENT, path[depth])
    ...     call = Call(event, "run", depth + 1, max(0, depth - 1), 1, path[:depth], False)
    ...     finding = detector.started(call)
    ...     print(depth, finding and (finding.severity.value, finding.message))
    0 None
    1 None
    2 None
    3 ('warn', 'agents are nested 3 deep: main > research > search > browse')
    4 ('stop', 'agents are nested 4 deep: main > research > search > browse > read')
    """

    name: ClassVar[str] = "nesting"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)

    __slots__ = ("_below", "_limits", "_shallow", "_told")

    def __init__(self, limits: NestingLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._shallow = min(limits.max_depth, limits.same_name - 1)  # calls above it need no look
        self._below: dict[bytes, Below] | None = None  # by the span that is awaited above
        self._told: tuple[Severity, ...] = ()

    def started(self, call: Call) -> Finding | None:
        """Judges an agent before it does anything."""
        if call.event.kind is not Kind.AGENT and call.depth < self._shallow:
            return None
        return self._judged(call, NOTHING)

    def ended(self, call: Call) -> Finding | None:
        """Judges a call by its place, and an agent also by what is below it."""
        event = call.event
        if event.kind is AGENT:
            below = self._agent(call)
            self._await(event.parent_span_id, below)
            return self._judged(call, below)
        if self._below:  # a tool that is an agent hands on what is known below it
            below_it = self._below.pop(event.span_id, None)
            if below_it is not None and below_it.doubles:
                self._await(event.parent_span_id, Below("", 0, below_it.doubles))
        return None if call.depth < self._shallow else self._judged(call, NOTHING)

    def _agent(self, call: Call) -> Below:
        """An agent that ended, with what had been known below its span."""
        name = call.event.name
        known = self._below.pop(call.event.span_id, None) if self._below else None
        if known is None or not name or known.name != name:
            return Below(name, 1, known.doubles if known else 0)
        # The second of a name is a double of the first; a third makes them three agents.
        return Below(name, known.same + 1, known.doubles + {1: 1, 2: -1}.get(known.same, 0))

    def _await(self, parent: bytes, below: Below) -> None:
        if not parent:
            return
        if self._below is None:
            self._below = {}
        if len(self._below) >= MAX_AWAITED:
            del self._below[next(iter(self._below))]
        other = self._below.get(parent)
        if other is not None:  # siblings: their parent is a double of neither
            below = Below("", 0, max(below.doubles, other.doubles))
        self._below[parent] = below

    def _judged(self, call: Call, below: Below) -> Finding | None:
        limits = self._limits
        agent = call.event.kind is Kind.AGENT
        path = (*call.agents, call.event.name) if agent else call.agents
        alone = _without_doubles(path)
        name = path[-1] if path else ""
        times = max(below.same, alone.count(name))
        if name and 0 < limits.same_name <= times:
            message = f"agent {name} calls itself, {times} levels deep"
            return self._say(call, Severity.STOP, "RECURSION", message, times, limits.same_name)
        depth = _level(call, path) - (len(path) - len(alone))
        if agent:
            depth += max(1, call.height) - 1 - below.doubles
        if not 0 < limits.max_depth <= depth:
            return None
        severity = Severity.STOP if depth > limits.max_depth else Severity.WARN
        way = f": {' > '.join(alone)}" if len(alone) > depth else ""
        return self._say(
            call, severity, "DEPTH", f"agents are nested {depth} deep{way}", depth, limits.max_depth
        )

    def _say(
        self, call: Call, severity: Severity, reason: str, message: str, observed: int, limit: int
    ) -> Finding | None:
        if severity in self._told or Severity.STOP in self._told:
            return None
        self._told += (severity,)
        return found(
            call,
            self.name,
            severity,
            reason,
            message,
            observed=observed,
            limit=limit,
            cleared_by="a flatter tree of agents",
        )


def _level(call: Call, path: tuple[str, ...]) -> int:
    """How deep the innermost agent is, the root being 0; a stamped depth knows more than a cut path."""
    own = 1 if call.event.kind is Kind.AGENT and (call.depth or call.agents) else 0
    return max(len(path) - 1, call.depth + own, 0)


def _without_doubles(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path with two neighbours of one name as one; three or more of them stay.

    >>> _without_doubles(("main", "main", "a", "b", "b", "b"))
    ('main', 'a', 'b', 'b', 'b')
    """
    alone: list[str] = []
    for index, name in enumerate(path):
        if index == 0 or name != path[index - 1] or not name:
            alone.append(name)
            same = 1
            continue
        same += 1
        if same > 2:
            alone.extend([name] * (2 if same == 3 else 1))
    return tuple(alone)
