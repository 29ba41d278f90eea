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

# What every agent has is packed: tokens of its first request and of the latest, the latest end, and how many
# requests grew in a row; then the latest of those, as many as a runaway takes but for the one at hand.
_SENT: Final = Struct("<2QqI")
_pack_sent, _read_sent = _SENT.pack, _SENT.unpack_from
_HEAD: Final = _SENT.size
_NOTHING_SENT: Final = bytes(_HEAD)
_REQUEST: Final = Struct("<2Q8s")  # when it began, its tokens, its span
_SIZE, _pack_request = _REQUEST.size, _REQUEST.pack
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


class Summaries:
    """The latest, and which in a row were in vain."""

    __slots__ = ("awaited", "latest", "same", "spans")

    def __init__(self) -> None:
        self.latest: Summary | None = None
        self.awaited = False  # the request that shows whether it was in vain
        self.spans: tuple[bytes, ...] = ()  # of those in vain
        self.same = True  # they say the same


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

    __slots__ = ("_limits", "_sent", "_summaries", "_told")

    def __init__(self, limits: ContextLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._sent = _NOTHING_SENT
        self._summaries: Summaries | None = None  # since there was one
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
        summaries, usage = self._summaries, event.usage
        if event.kind is TOOL:
            if summaries is not None and call.news is not News.KNOWN and not event.error:
                summaries.spans = ()  # something new came
            return None
        if usage is None or not usage.input_tokens:
            return None
        sent, tokens, start, end = self._sent, usage.input_tokens, event.started_ns, event.ended_ns
        first, before, last_ns, rises = _read_sent(sent)
        latest_ns = end if end > last_ns else last_ns
        if tokens == before and start < last_ns:  # the latest once more, as a layer above it tells of it
            self._sent = _pack_sent(first, before, latest_ns, rises) + sent[_HEAD:]
            return None
        request = _pack_request(start, tokens, event.span_id.rjust(8, b"\0"))
        if tokens > before:
            rises, row = rises + 1, sent[_HEAD:] + request
        else:
            rises, row = 1, request
        first = first or tokens
        runaway = self._limits.runaway
        kept = row if len(row) < _SIZE * runaway else row[-_SIZE * max(1, runaway - 1) :]
        self._sent = _pack_sent(first, tokens, latest_ns, rises) + kept
        return self._judged(call, event, usage, (first, before, rises), row)

    def _judged(
        self, call: Call, event: CallEnded, usage: Usage, so_far: tuple[int, int, int], row: bytes
    ) -> Finding | None:
        """The first thing that there is to say of a request; most are far from all limits."""
        limits, tokens, (first, before, rises) = self._limits, usage.input_tokens, so_far
        finding = None
        if 0 < limits.endless <= rises:
            finding = self._endless(call, rises, first, tokens)
        if finding is None and (self._summaries is not None or usage.output_tokens >= limits.summary_tokens):
            finding = self._summed_up(call, event, usage)
        if finding is None and tokens >= limits.runaway_tokens and 0 < limits.runaway * _SIZE <= len(row):
            finding = self._runaway(call, tokens, row[-limits.runaway * _SIZE :])
        if finding is None and tokens >= limits.jump_tokens:
            finding = self._jumped(call, tokens, before)
        return finding

    def _endless(self, call: Call, rises: int, first: int, tokens: int) -> Finding | None:
        limits = self._limits
        most = max(limits.endless_tokens, call.window)
        if tokens < limits.endless_factor * first or tokens < most:
            return None
        message = f"requests grow without end: {rises} in a row, from {first} to {tokens} tokens"
        return self._say(call, STOP, "endless", message, tokens, most, "a shorter history")

    def _runaway(self, call: Call, tokens: int, row: bytes) -> Finding | None:
        limits = self._limits
        began, first, _ = _REQUEST.unpack_from(row)
        seconds = (call.event.started_ns - began) / NS
        if not 0 <= seconds <= limits.runaway_seconds or tokens < limits.runaway_factor * first:
            return None
        spans = tuple(span for _, _, span in _REQUEST.iter_unpack(row))
        message = (
            f"requests grew from {first} to {tokens} tokens in {limits.runaway} calls within {seconds:.0f} s"
        )
        factor = tokens / first
        return self._say(
            call, WARN, "runaway", message, factor, limits.runaway_factor, "slower growth", spans
        )

    def _jumped(self, call: Call, tokens: int, before: int) -> Finding | None:
        limits = self._limits
        if not before or not 0 < limits.jump * before <= tokens:
            return None
        message = f"a request of {tokens} tokens followed one of {before}"
        return self._say(call, WARN, "jump", message, tokens / before, limits.jump, "smaller steps")

    def _summed_up(self, call: Call, event: CallEnded, usage: Usage) -> Finding | None:
        """Whether the last summary was in vain, and whether this is another."""
        limits, tokens, known = self._limits, usage.input_tokens, self._summaries
        before = known.latest if known is not None else None
        if known is not None and before is not None and known.awaited:
            known.awaited = False
            in_vain = before.tokens * (100 - limits.frees) / 100 < tokens <= before.tokens
            known.spans = (*known.spans, before.span)[-MOST_SPANS:] if in_vain else ()
        if usage.output_tokens >= limits.summary_tokens and tokens >= limits.full_tokens:
            known = self._summaries = known or Summaries()
            now = Summary(tokens, event.span_id, event.prints or _NOTHING)
            known.same = before is None or not known.spans or (known.same and _same(before, now))
            known.latest, known.awaited = now, True
        return self._in_vain(call, known) if known is not None else None

    def _in_vain(self, call: Call, known: Summaries) -> Finding | None:
        limit, count = self._limits.in_vain, len(known.spans)
        if not 0 < limit <= count + 1 or not count:
            return None
        severity = STOP if count >= limit and known.same else WARN
        message = f"the history was summed up {count} times in a row and got hardly shorter"
        cleared_by = "a summary that is shorter, or something new to go on with"
        result = known.latest.prints.result_masked if known.latest is not None else ""
        prints = (result,) if result and known.same else ()
        return self._say(call, severity, "in_vain", message, count, limit, cleared_by, known.spans, prints)

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
