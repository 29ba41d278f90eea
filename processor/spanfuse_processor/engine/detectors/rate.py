"""Model calls come too fast: too many a minute, a burst, or faster than any model answers (rows L8, W6).

Rule 1: event time, in a sliding window. Rule 2: many calls a minute are only warned of, once. Rule 3: what
stops a run are calls that follow one another, as those of a loop do, and bring nothing new: so many in each
of so many seconds on end, or a few so close that no model can have thought. Calls side by side (a fan-out, a
batch), embeddings, and work that brings something new are warned of. Rule 4: where nobody knows what was
asked, a smaller input is another one (an agent's grows), and another answer is new. Rule 5: a feature's calls
are those of many runs: they only warn (row L10).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Final

from spanfuse_processor.engine import pace
from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.marks import Marks
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.pace import NS
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

MINUTE: Final = 60
MODEL, EMBEDDINGS = Kind.MODEL, Kind.EMBEDDINGS  # a member looked up in its enum costs four times as much
NEW, KNOWN, UNKNOWN = News.NEW, News.KNOWN, News.UNKNOWN

ANSWERS: Final = 64
"""Answers to what nobody knows that are remembered."""

# What is packed. The latest row, which are model calls each of which began after the one before had ended:
# how many; those of them of which nothing new is known; the latest that followed closely, and brought nothing
# new after the first; when the last began, and the latest end; the size of its input, in tokens. Behind it,
# the pace of all model calls.
_MODELS: Final = Struct("<3I2qQIqI")
_pack, _unpack = _MODELS.pack, _MODELS.unpack_from
_OLDER: Final = _MODELS.size  # where the older seconds of the pace begin
_PACE: Final = Struct("<3I2qQ").size
_NONE: Final = _pack(0, 0, 0, -NS, -NS, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class RateLimits(DetectorLimits):
    """More than `per_minute` model calls warn. `burst` a second, `burst_seconds` on end, stop; and so do
    `rapid` in a row, each begun less than `rapid_gap` seconds after the one before. 0 switches a rule off.
    """

    per_minute: int = 20
    burst: int = 10
    burst_seconds: int = 5
    rapid: int = 8
    rapid_gap: float = 0.1


class More:
    """What few runs have: the pace of embeddings, answers to what nobody knows, and what was said."""

    __slots__ = ("answers", "embeddings", "told")

    def __init__(self) -> None:
        self.embeddings = pace.STILL
        self.answers: Marks | None = None
        self.told: tuple[tuple[str, Severity], ...] = ()


class RateDetector:
    """Watches the pace of one run, or of one feature.

    >>> from spanfuse_processor.engine.nouns import Usage
    >>> detector = RateDetector(RateLimits(), {})
    >>> for number in range(120):  # sixteen a second, one after the other
    ...     start = number * NS // 16
    ...     event = CallEnded(bytes(16), b"", b"", start, Kind.MODEL, "gpt-4o", ended_ns=start + 1)
    ...     event.usage = Usage(3_000, 60)
    ...     finding = detector.ended(Call(event, "run", number + 1, 0, 0, (), True))
    ...     if finding:
    ...         print(number + 1, finding.severity.value, finding.message)
    8 stop 8 model calls in a row brought nothing new, each less than 0.1 s after the one before
    21 warn 21 model calls within a minute
    81 stop 10 or more model calls a second for 5 seconds, one after the other
    """

    name: ClassVar[str] = "rate"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN, Unit.FEATURE)
    heeds: ClassVar[frozenset[Kind]] = frozenset({MODEL, EMBEDDINGS})
    only_warns: ClassVar[tuple[Unit, ...]] = (Unit.FEATURE,)

    __slots__ = ("_limits", "_models", "_more")

    def __init__(self, limits: RateLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._models = _NONE  # the latest row and the pace of model calls, packed
        self._more: More | None = None

    def started(self, call: Call) -> None:
        """A start is counted when it ends."""

    def ended(self, call: Call) -> Finding | None:
        """Counts a model's call."""
        event = call.event
        if event.kind is not MODEL or not isinstance(event, CallEnded):
            return self._embedded(call) if event.kind is EMBEDDINGS else None
        limits, models, start, end = self._limits, self._models, event.started_ns, event.ended_ns
        calls, stale, rapid, last_start, last_end, size, minute, newest, count = _unpack(models)
        minute, newest, count, older = pace.step(minute, newest, count, models[_OLDER:], start // NS, MINUTE)
        if start >= last_start:  # else it is of no row: another began meanwhile
            if start < last_end:
                calls = stale = rapid = 0
            before, usage = size, event.usage
            size = 0 if usage is None else usage.input_tokens
            calls += 1
            if call.plain and call.news is NEW:
                rapid = 1
            else:
                news = self._news(call, event, size, before)
                stale += news is not NEW
                rapid = 1 + rapid if news is KNOWN and start - last_start < limits.rapid_gap * NS else 1
            last_start = start
            if end > last_end:
                last_end = end
        head = _pack(calls, stale, rapid, last_start, last_end, size, minute, newest, count)
        models = self._models = head + older
        if rapid < limits.rapid and minute <= limits.per_minute:
            return None
        looping = calls >= limits.burst * limits.burst_seconds and 4 * stale > 3 * calls
        return self._judged(call, models[_PACE:], rapid, looping)

    def _embedded(self, call: Call) -> Finding | None:
        """Counts a call for embeddings, of which only the pace is judged."""
        more = self._more = self._more or More()
        more.embeddings = pace.add(more.embeddings, call.event.started_ns, MINUTE)
        return self._burst(call, more.embeddings, "embeddings calls", False)

    def _news(self, call: Call, event: CallEnded, size: int, before: int) -> News:
        """What a call brought, for all that is known."""
        if event.error:
            return KNOWN
        if call.news is not UNKNOWN:
            return NEW if call.news is NEW else KNOWN
        if size < before:
            return NEW
        answer = event.prints.result if event.prints is not None else ""
        if not answer:
            return KNOWN if before else UNKNOWN
        more = self._more = self._more or More()
        more.answers = more.answers or Marks(ANSWERS)
        return NEW if more.answers.meet(answer) is None else KNOWN

    def _judged(self, call: Call, paced: bytes, rapid: int, looping: bool) -> Finding | None:
        limits, finding = self._limits, None
        if 0 < limits.rapid <= rapid:
            message = f"{rapid} model calls in a row brought nothing new, each less than"
            message += f" {limits.rapid_gap:g} s after the one before"
            finding = self._say(call, Severity.STOP, "rapid", message, rapid, limits.rapid)
        if finding is None:
            finding = self._burst(call, paced, "model calls", looping)
        count = pace.calls(paced)
        if finding is None and 0 < limits.per_minute < count:
            message = f"{count} model calls within a minute"
            finding = self._say(call, Severity.WARN, "per_minute", message, count, limits.per_minute)
        return finding

    def _burst(self, call: Call, paced: bytes, what: str, looping: bool) -> Finding | None:
        limits = self._limits
        slowest = pace.slowest(paced, limits.burst_seconds)
        if not 0 < limits.burst <= slowest or not limits.burst_seconds:
            return None
        severity = Severity.STOP if looping else Severity.WARN
        message = f"{limits.burst} or more {what} a second for {limits.burst_seconds} seconds"
        message += ", one after the other" if looping else ""
        return self._say(call, severity, "burst", message, slowest, limits.burst)

    def _say(
        self, call: Call, severity: Severity, rule: str, message: str, observed: int, limit: int
    ) -> Finding | None:
        more = self._more = self._more or More()
        if (rule, severity) in more.told:
            return None
        more.told += ((rule, severity),)
        return found(
            call,
            self.name,
            severity,
            "RATE" if rule == "per_minute" else "BURST",
            message,
            observed=observed,
            limit=limit,
            cleared_by="a slower pace" if rule == "per_minute" else "a slower pace, or answers that are new",
            rule=rule,
        )
