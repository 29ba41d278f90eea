"""Agents start too many agents: more of themselves, many at once, or equal batches over and over (row L9).

Rule 1: agents that were started themselves and start more of their own name are the surest sign. Rule 2:
other launches count when they are at once: turns that follow one another are none, however many; and where
nobody knows that an agent started them, new tasks that were worked on are a program's. Rule 3: a batch that
one agent starts again and again counts, unless it brings something new. Rule 4: an agent is counted once,
when its start is told or else when it ends; times are its own. It does not know the tree, only what a call
says.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import MOST_SPANS, found
from spanfuse_processor.engine.marks import Marks
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity
from spanfuse_processor.engine.window import NS, Window

QUICK: Final = NS // 2
"""Launches closer than this are at once."""

INSTANT: Final = NS // 4
"""An agent that took less and gave no answer has asked no model anything."""

KEPT: Final = 64
"""Agents at work, and tasks with the times at which they were given, that are remembered."""

KNOWN: Final = 1_024
"""Tasks of which it is known that they were given."""

DEEPEST: Final = 32
"""Agents deeper than this stand equally deep."""

LATEST: Final = 16
"""Times and results of one task."""


@dataclass(frozen=True, slots=True)
class FanoutLimits(DetectorLimits):
    """Numbers of agents started within `seconds` that stop a run; 0 switches a rule off.

    `own` by agents of the same name that were started themselves. At once: `nested` by any agents that were
    started themselves, `wide` by anybody; `warn` of either warn, and so do `tasks` at once with new ones.
    `batches` is how often one agent may start each of two or more equal tasks, once less warns.
    """

    own: int = 12
    nested: int = 24
    wide: int = 50
    warn: int = 12
    tasks: int = 12
    batches: int = 4
    seconds: float = 120.0


class Level:
    """Agents that stand equally deep: which of them are started at once."""

    __slots__ = ("_last_end", "_last_start", "_lone", "at_work")

    def __init__(self) -> None:
        self.at_work = 0  # those whose start was told, and not their end
        self._last_start = self._last_end = -NS
        self._lone: int | None = None  # a start that has had no company so far

    def meet(self, start: int, end: int) -> tuple[int, ...]:
        """An agent was started; `end` is 0 while it is at work. Returns the starts that are now at once."""
        near = self.at_work > 0 or start < self._last_end or abs(start - self._last_start) < QUICK
        before, self._lone = self._lone, None if near else start
        self._last_start = max(self._last_start, start)
        self._last_end = max(self._last_end, end)
        self.at_work += not end
        if not near:
            return ()
        return (start,) if before is None else (before, start)


class Task:
    """What agents of one name were given by one agent: when, and what came of it."""

    __slots__ = ("_results", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._results: set[str] = set()

    def given(self, start: int, result: str) -> None:
        """Once more."""
        self._starts.append(start)
        del self._starts[:-LATEST]
        if result and len(self._results) < LATEST:
            self._results.add(result)

    def times(self, since: int) -> int:
        """How often since then, apart from those that brought something else."""
        return sum(start >= since for start in self._starts) - max(0, len(self._results) - 1)


class Due(NamedTuple):
    """What is counted, by which rule, and where it warns and stops."""

    rule: str
    times: int
    warn: int
    stop: int


class FanoutDetector:
    """Watches the launches of one run.

    >>> from spanfuse_processor.engine.calls import Nest
    >>> from spanfuse_processor.engine.events import CallStarted
    >>> detector = FanoutDetector(FanoutLimits(), {})
    >>> for number in range(1, 13):
    ...     event = CallStarted(bytes(16), bytes([number]), b"", number * NS, Kind.AGENT, "scout")
    ...     nest = Nest(3, 3, ("main", "scout", "scout"), above=2, own=1)
    ...     finding = detector.started(Call(event, "run", number, 1, 1, ("main", "scout"), False, nest=nest))
    ...     if finding:
    ...         print(number, finding.severity.value, finding.message)
    12 stop within 120 s, agents called scout that had been started themselves started 12 more of that name
    """

    name: ClassVar[str] = "fanout"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.AGENT})

    __slots__ = ("_at_work", "_known", "_levels", "_limits", "_spans", "_tasks", "_told", "_windows")

    def __init__(self, limits: FanoutLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._levels: dict[tuple[int, int], Level] = {}
        self._at_work: OrderedDict[bytes, Level] = OrderedDict()
        self._windows: dict[str, Window] = {}
        self._tasks: OrderedDict[tuple[bytes, str, str], Task] = OrderedDict()
        self._known = Marks(KNOWN)
        self._spans: list[bytes] = []  # the first, and the latest
        self._told: set[tuple[str, Severity]] = set()

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when something started an agent."""
        return is_launch(call)

    def started(self, call: Call) -> Finding | None:
        """Counts an agent that begins."""
        if not is_launch(call):
            return None
        self._at_work[call.event.span_id] = self._count(call, 0, is_new=False)
        if len(self._at_work) > KEPT:
            self._at_work.popitem(last=False)[1].at_work -= 1
        return self._judged(call)

    def ended(self, call: Call) -> Finding | None:
        """Counts an agent that has ended, unless its start was told, and its task."""
        event = call.event
        level = self._at_work.pop(event.span_id, None)
        if level is not None:
            level.at_work -= 1
        if not (is_launch(call) and isinstance(event, CallEnded)):
            return None
        is_new = self._give(call, event)
        if level is None:
            self._count(call, event.ended_ns, is_new and _worked(event))
        return self._judged(call)

    def _give(self, call: Call, event: CallEnded) -> bool:
        """Notes the task, given by the root or by whoever is right above. True: nobody gave it before."""
        prints, nest = event.prints, call.nest
        if prints is None or not prints.arguments:
            return False
        giver = b"" if nest is not None and nest.above == 1 else event.parent_span_id
        key = (giver, event.name, prints.arguments)
        self._tasks.setdefault(key, Task()).given(event.started_ns, prints.result)
        if len(self._tasks) > KEPT:
            self._tasks.popitem(last=False)
        return self._known.meet(key) is None

    def _count(self, call: Call, end: int, is_new: bool) -> Level:
        """One more agent; `is_new`: it worked on what nobody was given before."""
        event, nest = call.event, call.nest
        above, own = (nest.above, nest.own) if nest is not None else (0, 0)
        level = self._levels.setdefault((min(above, DEEPEST), min(call.height, DEEPEST)), Level())
        starts = level.meet(event.started_ns, end)
        self._add("own", (event.started_ns,) * own if above > 1 else ())
        self._add("nested", starts if above > 1 else ())
        self._add("wide" if above or not is_new else "tasks", starts)
        self._spans.append(event.span_id)
        if len(self._spans) > MOST_SPANS:
            del self._spans[1]
        return level

    def _add(self, rule: str, starts: tuple[int, ...]) -> None:
        for at in starts:
            window = self._windows.get(rule)
            if window is None:
                window = self._windows[rule] = Window(int(self._limits.seconds))
            window.add(at)

    def _judged(self, call: Call) -> Finding | None:
        """The first rule that has something to say."""
        warned = None
        for due in self._dues(call):
            if 0 < due.stop <= due.times:
                finding = self._say(call, due, Severity.STOP)
                if finding is not None:
                    return finding
            elif warned is None and 0 < due.warn <= due.times:
                warned = due
        if warned is None or any(severity is Severity.STOP for _, severity in self._told):
            return None
        return self._say(call, warned, Severity.WARN)

    def _dues(self, call: Call) -> Iterator[Due]:
        limits = self._limits
        own, nested, wide, new = (self._calls(rule) for rule in ("own", "nested", "wide", "tasks"))
        yield Due("own", own, 0, limits.own)
        yield Due("nested", nested, limits.warn, limits.nested)
        yield Due("wide", wide, limits.warn, limits.wide)
        yield Due("tasks", wide + new if new else 0, limits.tasks, 0)
        if self._tasks and limits.batches:
            since = call.event.started_ns - int(limits.seconds * NS)
            yield Due("batches", self._rounds(since), max(2, limits.batches - 1), limits.batches)

    def _calls(self, rule: str) -> int:
        window = self._windows.get(rule)
        return window.calls if window is not None else 0

    def _rounds(self, since: int) -> int:
        """How often a batch was started: how often two tasks of one giver were, or more of them."""
        best: dict[bytes, list[int]] = {}
        for (giver, _, _), task in self._tasks.items():
            best.setdefault(giver, []).append(task.times(since))
        return max((sorted(times)[-2] for times in best.values() if len(times) > 1), default=0)

    def _say(self, call: Call, due: Due, severity: Severity) -> Finding | None:
        if (due.rule, severity) in self._told:
            return None
        self._told.add((due.rule, severity))
        stops = severity is Severity.STOP
        message = _MESSAGES[due.rule].format(name=call.event.name or "agent", count=due.times)
        return found(
            call,
            self.name,
            severity,
            "FAN_OUT",
            f"within {self._limits.seconds:g} s, {message}",
            observed=due.times,
            limit=due.stop if stops else due.warn,
            cleared_by=_CLEARED[due.rule],
            spans=tuple(self._spans),
            rule=due.rule,
        )


_MESSAGES: Final = {
    "own": "agents called {name} that had been started themselves started {count} more of that name",
    "nested": "agents that had been started themselves started {count} more at once",
    "wide": "{count} agents were started at once",
    "tasks": "{count} agents were started at once",
    "batches": "one agent started a batch of equal tasks {count} times",
}
_CLEARED: Final = {
    "own": "agents that do their work themselves, or fewer of them at a time",
    "nested": "fewer agents that start agents, or fewer at a time",
    "wide": "fewer agents at a time",
    "tasks": "fewer agents at a time",
    "batches": "another task, or an answer that was not given before",
}


def _worked(event: CallEnded) -> bool:
    """Whether an agent can have done anything: it took its time, or gave an answer."""
    answered = event.prints is not None and event.prints.result != ""
    return answered or event.ended_ns - event.started_ns >= INSTANT


def is_launch(call: Call) -> bool:
    """Whether the call is that of an agent which something has started, for all that is known an agent."""
    event = call.event
    nest = call.nest
    if event.kind is not Kind.AGENT or (nest is not None and nest.double):
        return False
    if call.agents or (nest is not None and nest.above):
        return True
    return event.depth < 0 and event.parent_span_id.strip(b"\0") != b""
