"""The agent repeats itself: the same call with the same result, a cycle of calls, the same failure again.

Rule 1: judged after the call, on what was asked and what came of it; where either is unknown it says
nothing. Rule 2: only calls that follow one another closely count, agent by agent, tools and models apart;
real user input begins anew. Rule 3: what waits may repeat, what acts on the outside may less. Rule 4: equal
reads of one turn are one wish. Rule 5: a pause between repeats (a schedule, a growing back-off) is no loop;
it is warned of at most. It does not know what a stop does, nor what a run costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import Call, CallEnded
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.nouns import Fingerprints, Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.repeats.lanes import Lane, Lanes
from spanfuse_processor.engine.repeats.saying import Repeat
from spanfuse_processor.engine.repeats.sequence import NS, SAME_ALL, SAME_RESULT, Sequence, Step
from spanfuse_processor.engine.verdicts import Finding, Severity

TELLING: Final = 8
"""Characters from which a result says something; "ok" and "[]" are equal for many good reasons."""

MODEL, TOOL = Kind.MODEL, Kind.TOOL  # a member looked up in its enum costs four times as much

_ACTS: Final = (effects.EXEC, effects.WRITE, effects.SEND, effects.SPAWN)
_TURNS: Final = (Kind.AGENT, Kind.WORKFLOW, Kind.OTHER)
_LOOKS: Final = (effects.READ, effects.EXEC, "")
_UNKNOWN: Final = Fingerprints()
_WARNED, _STOPPED = 1, 2


@dataclass(frozen=True, slots=True)
class RepeatLimits(DetectorLimits):
    """Numbers of calls in a row that stop a run, unless said otherwise; 0 switches a rule off.

    `equal` calls with equal results; `writes` where the tool writes, `sends` where it acts on the outside,
    `failures` where equal calls fail equally, `similar` where results differ in times and random ids only.
    A cycle of 2 to `longest_cycle` calls stops after `cycles` rounds, if these are `cycle_calls` or more.
    `waits` is for tools that wait and are asked at less than `wait_gap` seconds. `ends` failures of one tool
    in the same way stop whatever it was asked, of one model at less than `retry_gap` seconds.

    Repeats that are `slow` seconds apart only warn, and so do `warn` equal calls, `waits_warn`, `ends_warn`,
    `answers_warn` equal results whatever was asked, and `stale_warn` calls in any order without anything new.
    `batch` further equal reads in one turn are forgiven.
    """

    equal: int = 5
    writes: int = 4
    sends: int = 3
    failures: int = 4
    similar: int = 8
    cycles: int = 3
    cycle_calls: int = 8
    longest_cycle: int = 12
    waits: int = 30
    wait_gap: float = 5.0
    ends: int = 12
    retry_gap: float = 10.0
    slow: float = 120.0
    warn: int = 3
    waits_warn: int = 12
    ends_warn: int = 6
    answers_warn: int = 8
    stale_warn: int = 6
    batch: int = 4


class RepeatDetector:
    """Watches the calls of one run.

    >>> from spanfuse_processor.engine.nouns import Fingerprints
    >>> detector = RepeatDetector(RepeatLimits(), {})
    >>> for number in range(1, 6):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number * NS, Kind.TOOL, "search")
    ...     event.prints = Fingerprints("a1", "a1", "b2", "b2")
    ...     finding = detector.ended(Call(event, "run", number, 0, 0, (), True))
    ...     print(number, finding and (finding.severity.value, finding.message))
    1 None
    2 None
    3 ('warn', 'search was called 3 times in a row with equal arguments and equal results')
    4 None
    5 ('stop', 'search was called 5 times in a row with equal arguments and equal results')
    """

    name: ClassVar[str] = "repeat"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)

    __slots__ = ("_lanes", "_limits", "_tools")

    def __init__(self, limits: RepeatLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._tools = tools
        self._lanes = Lanes(limits.longest_cycle)

    def started(self, call: Call) -> None:
        """A start repeats nothing yet; but a turn of the whole program may begin."""
        if call.event.user_turn:
            self._begin_turn(call)

    def ended(self, call: Call) -> Finding | None:
        """Compares a tool's or a model's call with those before it."""
        event = call.event
        kind = event.kind
        if kind is not TOOL and kind is not MODEL or not isinstance(event, CallEnded):
            if event.user_turn:
                self._begin_turn(call)
            return None
        lane = self._lanes.of(call, event.ended_ns)
        prints = event.prints
        if event.user_turn:
            known = prints or _UNKNOWN
            lane.hear(known.arguments, event.fresh, known.result)
        if kind is MODEL:
            lane.answered(event.ended_ns)
            sequence = lane.models or lane.begin_models()
        else:
            lane.working = True
            sequence = lane.tools or lane.begin_tools()
        if prints is None or sequence.pass_by(event, prints):
            return None
        return self._came_back(call, event, prints, lane, sequence)

    def _begin_turn(self, call: Call) -> None:
        """A person has spoken to the outermost agent; what an inner one is asked, an agent asks."""
        if call.event.kind in _TURNS and not call.agents and call.depth <= 0:
            self._lanes.clear()

    def _came_back(
        self, call: Call, event: CallEnded, prints: Fingerprints, lane: Lane, sequence: Sequence
    ) -> Finding | None:
        rule = self._tools.get(event.name)
        repeatable = event.repeatable or (rule is not None and rule.repeatable)
        effect = self._effect(event.name, event.effect)
        finding = None if repeatable else self._alike(call, event, prints, sequence, effect)
        if not prints.arguments:
            return finding
        before = sequence.latest(event, prints)
        if before is not None and (repeatable or self._is_one_wish(lane, sequence, before, event, effect)):
            return finding
        sequence.add(event, prints, before is not None)
        return finding if before is None else self._repeated(call, sequence, effect) or finding

    def _effect(self, tool: str, said: str) -> str:
        rule = self._tools.get(tool)
        return (rule.effect if rule else "") or said or effects.by_name(tool)

    def _alike(
        self, call: Call, event: CallEnded, prints: Fingerprints, sequence: Sequence, effect: str
    ) -> Finding | None:
        """Calls of one tool that end alike, whatever it was asked, unless equal calls are told of already."""
        limits, count = self._limits, sequence.count_end(event, prints)
        if sequence.told:
            return None
        if prints.error:
            return self._failing(call, sequence) if 0 < limits.ends_warn <= count else None
        telling = effect in _LOOKS and prints.result_size >= TELLING and event.kind is Kind.TOOL
        if sequence.ends_told or not telling or not 0 < limits.answers_warn <= count:
            return None
        sequence.ends_told = _WARNED
        message = f"{event.name} gave the same result {count} times in a row, whatever it was asked"
        return self._found(call, Severity.WARN, "LOOP", message, count, limits.answers_warn)

    def _failing(self, call: Call, sequence: Sequence) -> Finding | None:
        """A tool or a model that fails in the same way again and again, whatever it was asked."""
        limits, event, count = self._limits, call.event, sequence.ends
        pause = (event.started_ns - sequence.ends_since_ns) / NS / max(1, count - 1)
        patient = limits.retry_gap if event.kind is Kind.MODEL else limits.slow
        paced = 0 < patient <= pause or sequence.backs_off(count)
        stops = 0 < limits.ends <= count and not paced
        told = _STOPPED if stops else _WARNED
        if sequence.ends_told >= told:
            return None
        sequence.ends_told = told
        severity, limit = (Severity.STOP, limits.ends) if stops else (Severity.WARN, limits.ends_warn)
        message = f"{event.name} failed {count} times in a row in the same way, whatever it was asked"
        return self._found(call, severity, "RETRY_STORM", message, count, limit)

    def _is_one_wish(
        self, lane: Lane, sequence: Sequence, before: Step, event: CallEnded, effect: str
    ) -> bool:
        """Whether a read was asked for together with an equal one: side by side, or in the same turn."""
        if effect in _ACTS:
            return False
        if before.ended_ns > event.started_ns:
            return True
        if before.failed or sequence is lane.models or sequence.forgiven >= self._limits.batch:
            return False
        if not lane.same_turn(before.started_ns, event.started_ns):
            return False
        sequence.forgiven += 1
        return True

    def _repeated(self, call: Call, sequence: Sequence, effect: str) -> Finding | None:
        """What there is to say now that something has come back."""
        if sequence.told == _STOPPED:
            return None
        warned = None
        for repeat in self._repeats(sequence, effect):
            if 0 < repeat.stop <= repeat.length and not self._is_paced(sequence, repeat):
                return self._said(call, sequence, repeat, stops=True)
            if warned is None and 0 < repeat.warn <= repeat.length:
                warned = repeat
        return None if warned is None else self._said(call, sequence, warned, stops=False)

    def _repeats(self, sequence: Sequence, effect: str) -> Iterator[Repeat]:
        """Everything that repeats now, the shortest cycle first."""
        limits = self._limits
        newest = sequence.steps[-1]
        in_a_row = sequence.run(1)
        if self._waits(newest):
            yield Repeat(1, in_a_row, limits.waits_warn, limits.waits)
        else:
            stop = limits.failures if newest.failed else self._equal(effect)
            yield Repeat(1, sequence.run(1, SAME_RESULT), min(limits.warn, stop - 1), stop)
            yield Repeat(1, in_a_row, limits.warn, limits.similar)
        for period, length in sequence.cycles():
            if any(map(self._waits, sequence.steps[-period:])):
                yield Repeat(period, length, limits.waits_warn, limits.waits)
            elif limits.cycles:
                stop = max(limits.cycles * period, limits.cycle_calls)
                yield Repeat(period, length, max(2 * period, stop - 2), stop)
        if not any(map(self._waits, sequence.steps)):
            yield Repeat(0, sequence.stale, limits.stale_warn, 0)

    def _waits(self, step: Step) -> bool:
        return not step.failed and self._effect(step.name, step.effect) == effects.WAIT

    def _equal(self, effect: str) -> int:
        limits = self._limits
        return {effects.WRITE: limits.writes, effects.SEND: limits.sends}.get(effect, limits.equal)

    def _is_paced(self, sequence: Sequence, repeat: Repeat) -> bool:
        """Whether the repeats leave time between them, as a loop does not."""
        limits = self._limits
        pause = sequence.pause(repeat.length)
        if any(map(self._waits, sequence.steps[-repeat.period :])):
            return 0 < limits.wait_gap <= pause
        failing = repeat.period == 1 and sequence.steps[-1].failed
        return 0 < limits.slow <= pause or (failing and sequence.backs_off(repeat.length))

    def _said(self, call: Call, sequence: Sequence, repeat: Repeat, stops: bool) -> Finding | None:
        """A finding, the first time that this much is due."""
        told = _STOPPED if stops else _WARNED
        if sequence.told >= told:
            return None
        sequence.told = told
        severity, limit = (Severity.STOP, repeat.stop) if stops else (Severity.WARN, repeat.warn)
        steps = sequence.steps[-repeat.length :]
        spans = tuple(step.span_id for step in steps)
        message = repeat.message(steps)
        if repeat.period == 1 and sequence.run(1, SAME_ALL) < repeat.length:
            message += ", but for times, ids and counters"
        return self._found(call, severity, repeat.reason(steps), message, repeat.length, limit, spans)

    def _found(
        self,
        call: Call,
        severity: Severity,
        reason: str,
        message: str,
        observed: int,
        limit: int,
        spans: tuple[bytes, ...] = (),
    ) -> Finding:
        return found(
            call,
            self.name,
            severity,
            reason,
            message,
            observed=observed,
            limit=limit,
            cleared_by="another result, other arguments, or new user input",
            spans=spans,
        )
