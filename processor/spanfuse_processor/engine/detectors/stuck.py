"""Silence: a call that does not come back, a run in which nothing happens any more, a missing heartbeat.

Rule 1: what is open is judged while it is open, by how long it has shown no life; calls inside of it, pieces
of a stream and heartbeats are life. Rule 2: where nobody tells of beginnings, a call is judged at its end, by
how long nothing else of its run had ended; one that ended well is only warned of, unless it is known to have
brought nothing. Rule 3: an agent is never stuck by its age, and a run that computes may do so for ever: only
one that has sent heartbeats is stopped for want of them. It has no clock: seconds come in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf
from typing import ClassVar, Final

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.calls import PLAIN_NS, Call, Open
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.findings import found, lasting
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

AGENTS: Final = frozenset({Kind.AGENT, Kind.WORKFLOW})
"""What contains the work of others."""

NS: Final = 1_000_000_000
MAX_WARNED: Final = 1_000
"""Open calls of a run that are known to have been warned of."""

_JUDGED: Final = frozenset({Kind.TOOL, Kind.MODEL, Kind.EMBEDDINGS})
_PATIENT: Final = frozenset({effects.WAIT, effects.SPAWN})
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ANSWERS: Final = frozenset({"human", "approval", "approver", "clarification", "consent"})
_ASKED: Final = frozenset({"user", "person", "customer", "operator"})
_ASKS: Final = frozenset({"ask", "prompt", "confirm", "question", "input", "clarify", "reply", "permission"})


@dataclass(frozen=True, slots=True)
class StuckLimits(DetectorLimits):
    """How many seconds silence may last; 0 switches a rule off.

    A tool's or a model's call that has shown no life for `open` stops its run, that of a tool which waits for
    something for `waiting`; `near` is the share of them at which there is a warning. A tool that asks a
    person is only warned of, after `asking`. `silent` warns of a run that is not over, in which only agents
    are open and nothing has begun or ended for so long. A run that sends heartbeats is warned of when one is
    missing for `heartbeat`, or for as long as the last one announced, and nothing is open; it is stopped
    `grace` later.
    """

    open: float = 1_800.0
    waiting: float = 3_600.0
    asking: float = 14_400.0
    near: float = field(default=0.5, metadata={"least": 0, "most": 1})
    silent: float = 1_800.0
    heartbeat: float = 25.0
    grace: float = 300.0


class StuckDetector:
    """Watches the silence of one run.

    >>> detector = StuckDetector(StuckLimits(), {})
    >>> call = Call(CallStarted(bytes(16), b"fetch", b"", 0, Kind.TOOL, "fetch"), "run", 1, 0, 0, (), False)
    >>> for minutes in (0, 10, 20, 30):
    ...     silence = 60.0 * minutes
    ...     finding, again = detector.still_open(Open(call, silence, silence, idle=0))
    ...     print(minutes, finding and (finding.severity.value, finding.message), again)
    0 None 900.0
    10 None 300.0
    20 ('warn', 'fetch has shown no sign of life for 20 min') 600.0
    30 ('stop', 'fetch has shown no sign of life for 30 min') inf

    Where beginnings are not known:

    >>> detector = StuckDetector(StuckLimits(), {})
    >>> event = CallEnded(bytes(16), b"fetch", b"", 0, Kind.TOOL, "fetch", ended_ns=40 * 60 * NS)
    >>> detector.ended(Call(event, "run", 1, 0, 0, (), True)).message
    'fetch took 40 min, and nothing is known of what it brought'
    """

    name: ClassVar[str] = "stuck"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)

    __slots__ = (
        "_limits",
        "_sees_starts",
        "_silence",
        "_stopped",
        "_told",
        "_tools",
        "_warned",
    )

    def __init__(self, limits: StuckLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._tools = tools
        self._sees_starts = False  # calls of this run are told while they are open
        self._stopped = False
        self._warned: set[bytes] | None = None  # calls that are open and have been warned of
        self._silence = 0.0  # of the whole run, when it was last looked at
        self._told: tuple[str, ...] = ()  # the rules that have spoken in this silence

    @staticmethod
    def minds(limits: StuckLimits) -> bool:
        """Whether a plain call may be long."""
        return _least(limits) * NS < PLAIN_NS

    @staticmethod
    def waker(limits: StuckLimits) -> Callable[[Call], bool]:
        """Only when a call is open, or was for long."""
        least_ns = _least(limits) * NS

        def wakes(call: Call) -> bool:
            event = call.event
            if not isinstance(event, CallEnded):
                return True
            end = event.ended_ns
            return end - event.started_ns >= least_ns and end - call.before_ns >= least_ns

        return wakes

    def started(self, call: Call) -> None:
        """How long it stays open is asked later."""

    def ended(self, call: Call) -> Finding | None:
        """Judges a call that nobody had told of before."""
        event = call.event
        if not isinstance(event, CallEnded):
            return None
        silence = _silence(call, event)
        if silence < _least(self._limits) or self._sees_starts or event.kind not in _JUDGED:
            if self._warned:
                self._warned.discard(event.span_id)
            return None
        rule, limit, severity = self._rule(event)
        if not 0 < limit <= silence:
            return None
        took = lasting((event.ended_ns - event.started_ns) / NS)
        if _brought(event) or not (event.error or _brought_nothing(event)):
            severity = Severity.WARN
        message = f"{_named(event)} took {took}{_outcome(event)}"
        return self._say(call, severity, rule, message, silence, limit)

    def still_open(self, open: Open) -> tuple[Finding | None, float]:
        """Judges what is open; also says in how many seconds to ask again."""
        if open.call.event.kind in AGENTS:
            return self._of_run(open)
        if open.call.event.kind not in _JUDGED:
            return None, inf
        self._sees_starts = True
        return self._of_call(open)

    def _of_call(self, open: Open) -> tuple[Finding | None, float]:
        rule, limit, severity = self._rule(open.call.event)
        quiet = open.quiet
        near = self._limits.near * limit if severity is Severity.STOP else 0.0
        if not limit or self._stopped:
            return None, inf
        message = f"{_named(open.call.event)} has shown no sign of life for {lasting(quiet)}"
        if quiet >= limit:
            return self._say(open.call, severity, rule, message, quiet, limit), inf
        if not 0 < near <= quiet:
            return None, (near or limit) - quiet
        warned = self._warned = self._warned or set()
        finding = None
        if open.call.event.span_id not in warned and len(warned) < MAX_WARNED:
            warned.add(open.call.event.span_id)
            finding = self._say(open.call, Severity.WARN, "near", message, quiet, near)
        return finding, limit - quiet

    def _of_run(self, open: Open) -> tuple[Finding | None, float]:
        silence = open.idle if open.beat is None else min(open.idle, open.beat)
        if silence < self._silence:  # it was broken in the meantime
            self._told = ()
        self._silence = silence
        steps = self._steps(open)
        reached = [step for step in steps if silence >= step[0]]
        again = min((later - silence for later, *_ in steps if later > silence), default=inf)
        if not reached:
            return None, again
        limit, rule, severity = reached[-1]
        again = min(again, steps[0][0])  # soon enough for the next silence
        if rule in self._told:
            return None, again
        self._told += (rule,)
        message = f"no heartbeat for {lasting(silence)}, and nothing is open"
        if rule == "silent":
            message = f"nothing has begun or ended in this run for {lasting(silence)}, and it is not over"
        return self._say(open.call, severity, rule, message, silence, limit), again

    def _steps(self, open: Open) -> list[tuple[float, str, Severity]]:
        """After how many seconds of a run's silence something is said, which rule says it, and how loudly."""
        limits = self._limits
        if open.beat is None:
            return [(limits.silent, "silent", Severity.WARN)] if limits.silent else []
        if not limits.heartbeat:
            return []
        late = max(limits.heartbeat, open.within)
        steps = [(late, "heartbeat", Severity.WARN)]
        return [*steps, (late + limits.grace, "grace", Severity.STOP)] if limits.grace else steps

    def _rule(self, event: CallStarted) -> tuple[str, float, Severity]:
        """Which limit holds for a call, how many seconds that is, and what it comes to."""
        if event.kind is not Kind.TOOL:
            return "open", self._limits.open, Severity.STOP
        declared = self._tools.get(event.name)
        effect = declared.effect if declared else ""
        if not effect and asks_a_person(event.name):
            return "asking", self._limits.asking, Severity.WARN
        if (effect or event.effect or effects.by_name(event.name)) in _PATIENT:
            return "waiting", self._limits.waiting, Severity.STOP
        return "open", self._limits.open, Severity.STOP

    def _say(
        self, call: Call, severity: Severity, rule: str, message: str, observed: float, limit: float
    ) -> Finding | None:
        stops = severity is Severity.STOP
        if stops and self._stopped:
            return None
        self._stopped |= stops
        return found(
            call,
            self.name,
            severity,
            "STUCK",
            message,
            observed=observed,
            limit=limit,
            cleared_by=_CLEARED.get(rule, "an answer, or a heartbeat from inside of the call"),
            rule=rule,
        )


_CLEARED: Final = {
    "silent": "a call, a heartbeat or the run's end",
    "heartbeat": "a heartbeat, a call or the run's end",
    "grace": "a heartbeat, a call or the run's end",
}


@lru_cache(maxsize=4_096)
def asks_a_person(tool: str) -> bool:
    """Whether a tool's name says that it waits for what a person will answer.

    >>> [asks_a_person(tool) for tool in ("ask_user", "AskUserQuestion", "human_approval", "get_user")]
    [True, True, True, False]
    """
    words = {word.lower() for word in _WORD.findall(tool[:128])}
    asked = words & _ASKED and words & _ASKS
    return bool(words & _ANSWERS or asked or {"ask", "question"} <= words)


def _least(limits: StuckLimits) -> float:
    """Seconds of silence below which no call is looked at."""
    return min(limits.open or inf, limits.waiting or inf, limits.asking or inf)


def _silence(call: Call, event: CallEnded) -> float:
    """For how many seconds of a call nothing had ended in its run."""
    return (event.ended_ns - max(event.started_ns, call.before_ns)) / NS


def _named(event: CallStarted) -> str:
    return event.name or f"a {event.kind.value} call"


def _brought(event: CallEnded) -> bool:
    """Whether something is known to have come of a call."""
    prints, usage = event.prints, event.usage
    if event.error:
        return False
    if prints is not None and prints.result:
        return not prints.result_empty
    return usage is not None and usage.output_tokens > 0


def _brought_nothing(event: CallEnded) -> bool:
    """Whether it is known that nothing came of a call: no result, of a model not a token."""
    prints, usage = event.prints, event.usage
    if prints is not None and prints.result:
        return prints.result_empty
    return event.kind is Kind.MODEL and usage is not None and 0 == usage.output_tokens < usage.input_tokens


def _outcome(event: CallEnded) -> str:
    if event.error:
        return " and failed"
    if _brought(event):
        return ""
    return " and brought nothing" if _brought_nothing(event) else ", and nothing is known of what it brought"
