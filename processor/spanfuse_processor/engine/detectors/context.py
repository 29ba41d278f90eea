"""The history that an agent sends along: it grows too fast or without end, or is summed up in vain (row L7).

Rule 1: growth is warned of; it stops only where no window that is known could hold it. Rule 2: one large
request after small ones is warned of: a question about a document looks just the same. Rule 3: a long
answer to a long request may sum up the history, and did so in vain when the next request is hardly shorter.
In a row these stop when they say the same and nothing new came between. Documents of one size look like
that too, but for what is said of them: what differs, or is not known, is warned of. It does not know which
call was meant to sum up: no vocabulary says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import Struct
from typing import ClassVar, Final, NamedTuple

from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import MOST_SPANS, found
from spanfuse_processor.engine.fingerprints.sketch import resemblance
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

NS: Final = 1_000_000_000

LIKENESS: Final = 0.7
"""From here on two summaries say the same."""

MODEL, TOOL = Kind.MODEL, Kind.TOOL  # a member looked up in its enum costs four times as much
WARN, STOP = Severity.WARN, Severity.STOP

_REQUEST: Final = Struct("<3Q")  # when it began, its tokens, its span
_NOTHING: Final = Fingerprints()


@dataclass(frozen=True, slots=True)
class ContextLimits(DetectorLimits):
    """When a history is out of hand. 0 in `runaway`, `jump`, `endless` or `in_vain`: that rule is off.

    `runaway` requests within `runaway_seconds`, each longer than the one before, the last at least
    `runaway_factor` times the first and `runaway_tokens` long, warn. A request of `jump_tokens` warns when
    it is `jump` times as long as the one before. `endless` requests, each longer than the one before, stop
    at `endless_tokens` (at the model's window where that is larger) and `endless_factor` times the first of
    all. `in_vain` summaries of at least `summary_tokens`, of requests of at least `full_tokens`, that each
    free less than `frees` percent stop; one less warns.
    """

    runaway: int = field(default=4, metadata={"most": 16})
    runaway_seconds: float = 30.0
    runaway_factor: float = 2.0
    runaway_tokens: int = 4_000
    jump: float = 50.0
    jump_tokens: int = 100_000
    endless: int = 16
    endless_tokens: int = 1_000_000
    endless_factor: float = 20.0
    in_vain: int = 3
    summary_tokens: int = 1_000
    full_tokens: int = 50_000
    frees: float = 10.0


class Summary(NamedTuple):
    """A long answer to a long request of so many tokens: what may be a summary of the history."""

    tokens: int
    span: bytes
    prints: Fingerprints


class ContextDetector:
    """Watches the requests of one agent at work.

    >>> detector = ContextDetector(ContextLimits(), {})
    >>> for number, tokens in enumerate((2_000, 2_900, 3_600, 4_100), 1):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number * 5 * NS, MODEL, "gpt-4o")
    ...     event.usage = Usage(tokens, 100)
    ...     finding = detector.ended(Call(event, "run", number, 0, 0, (), True))
    ...     print(tokens, finding and (finding.severity.value, finding.message))
    2000 None
    2900 None
    3600 None
    4100 ('warn', 'requests grew from 2000 to 4100 tokens in 4 calls within 15 s')
    """

    name: ClassVar[str] = "context"
    per: ClassVar[tuple[Unit, ...]] = (Unit.LANE,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({MODEL, TOOL})
    woken_by: ClassVar[frozenset[Kind]] = frozenset({MODEL})

    __slots__ = (
        "_awaited",
        "_first",
        "_last_ns",
        "_latest",
        "_limits",
        "_rises",
        "_rising",
        "_same",
        "_spans",
        "_summary",
        "_told",
    )

    def __init__(self, limits: ContextLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._first = self._latest = self._rises = 0  # tokens, tokens, and requests that grew in a row
        self._last_ns = 0
        self._rising = b""  # the latest of those, packed
        self._summary: Summary | None = None  # the latest
        self._awaited = False  # the request that shows whether it was in vain
        self._spans: tuple[bytes, ...] = ()  # of those in vain, in a row
        self._same = True  # they say the same
        self._told: tuple[tuple[str, Severity], ...] = ()

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when a request's length is known."""
        event = call.event
        return event.kind is MODEL and isinstance(event, CallEnded) and event.usage is not None

    def started(self, call: Call) -> None:
        """How long a request was is known when it ends."""

    def ended(self, call: Call) -> Finding | None:
        """Compares a request with those before it."""
        event = call.event
        if not isinstance(event, CallEnded):
            return None
        if event.kind is TOOL:
            if self._spans and call.news is not News.KNOWN and not event.error:
                self._spans = ()  # something new came
            return None
        usage = event.usage
        if usage is None or not usage.input_tokens or self._is_told_again(event, usage):
            return None
        before, self._latest = self._latest, usage.input_tokens
        self._first = self._first or usage.input_tokens
        self._grow(event, usage.input_tokens, before)
        return (
            self._endless(call)
            or self._summed_up(call, event, usage)
            or self._runaway(call)
            or self._jumped(call, before)
        )

    def _is_told_again(self, event: CallEnded, usage: Usage) -> bool:
        """Whether this is the latest call once more, as a layer above it tells of it."""
        again = usage.input_tokens == self._latest and event.started_ns < self._last_ns
        if event.ended_ns > self._last_ns:
            self._last_ns = event.ended_ns
        return again

    def _grow(self, event: CallEnded, tokens: int, before: int) -> None:
        if tokens <= before:
            self._rises, self._rising = 0, b""
        self._rises += 1
        request = _REQUEST.pack(event.started_ns, tokens, int.from_bytes(event.span_id, "big"))
        self._rising = (self._rising + request)[-_REQUEST.size * (self._limits.runaway or 1) :]

    def _endless(self, call: Call) -> Finding | None:
        limits, tokens = self._limits, self._latest
        if not 0 < limits.endless <= self._rises or tokens < limits.endless_factor * self._first:
            return None
        most = max(limits.endless_tokens, call.window)
        if tokens < most:
            return None
        message = f"requests grow without end: {self._rises} in a row, from {self._first} to {tokens} tokens"
        return self._say(call, STOP, "endless", message, tokens, most, "a shorter history")

    def _runaway(self, call: Call) -> Finding | None:
        limits, tokens = self._limits, self._latest
        if tokens < limits.runaway_tokens or not 0 < limits.runaway * _REQUEST.size <= len(self._rising):
            return None
        began, first, _ = _REQUEST.unpack_from(self._rising)
        seconds = (call.event.started_ns - began) / NS
        if not 0 <= seconds <= limits.runaway_seconds or tokens < limits.runaway_factor * first:
            return None
        spans = tuple(span.to_bytes(8, "big") for _, _, span in _REQUEST.iter_unpack(self._rising))
        message = (
            f"requests grew from {first} to {tokens} tokens in {limits.runaway} calls within {seconds:.0f} s"
        )
        factor = tokens / first
        return self._say(
            call, WARN, "runaway", message, factor, limits.runaway_factor, "slower growth", spans
        )

    def _jumped(self, call: Call, before: int) -> Finding | None:
        limits, tokens = self._limits, self._latest
        if tokens < limits.jump_tokens or not before or not 0 < limits.jump * before <= tokens:
            return None
        message = f"a request of {tokens} tokens followed one of {before}"
        return self._say(call, WARN, "jump", message, tokens / before, limits.jump, "smaller steps")

    def _summed_up(self, call: Call, event: CallEnded, usage: Usage) -> Finding | None:
        """Whether the last summary was in vain, and whether this is another."""
        limits, before, tokens = self._limits, self._summary, usage.input_tokens
        if self._awaited and before is not None:
            self._awaited = False
            in_vain = before.tokens * (100 - limits.frees) / 100 < tokens <= before.tokens
            self._spans = (*self._spans, before.span)[-MOST_SPANS:] if in_vain else ()
        if usage.output_tokens >= limits.summary_tokens and tokens >= limits.full_tokens:
            now = Summary(tokens, event.span_id, event.prints or _NOTHING)
            if before is not None and self._spans:
                self._same = self._same and _same(before, now)
            else:
                self._same = True
            self._summary, self._awaited = now, True
        return self._in_vain(call)

    def _in_vain(self, call: Call) -> Finding | None:
        limit, count = self._limits.in_vain, len(self._spans)
        if not 0 < limit <= count + 1 or not count:
            return None
        severity = STOP if count >= limit and self._same else WARN
        message = f"the history was summed up {count} times in a row and got hardly shorter"
        cleared_by = "a summary that is shorter, or something new to go on with"
        result = self._summary.prints.result_masked if self._summary is not None else ""
        prints = (result,) if result and self._same else ()
        return self._say(call, severity, "in_vain", message, count, limit, cleared_by, self._spans, prints)

    def _say(
        self,
        call: Call,
        severity: Severity,
        rule: str,
        message: str,
        observed: float,
        limit: float,
        cleared_by: str,
        spans: tuple[bytes, ...] = (),
        prints: tuple[str, ...] = (),
    ) -> Finding | None:
        if (rule, severity) in self._told or (rule, STOP) in self._told:
            return None
        self._told = (*self._told, (rule, severity))
        return found(
            call,
            self.name,
            severity,
            "CONTEXT",
            message,
            observed=observed,
            limit=limit,
            cleared_by=cleared_by,
            spans=spans,
            rule=rule,
            prints=prints,
        )


def _same(one: Summary, other: Summary) -> bool:
    """Whether both say the same. Two answers to one and the same request are samples, not summaries."""
    first, second = one.prints, other.prints
    if first.result_masked and first.result_masked == second.result_masked:
        return True
    asked_again = first.arguments != "" and first.arguments == second.arguments
    return not asked_again and resemblance(first.result_sketch, second.result_sketch) >= LIKENESS
