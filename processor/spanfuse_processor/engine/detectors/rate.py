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
from typing import ClassVar, Final

from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.marks import Marks
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.pace import NS, Pace
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

MINUTE: Final = 60
MODEL, EMBEDDINGS = Kind.MODEL, Kind.EMBEDDINGS  # a member looked up in its enum costs four times as much
_STILL: Final = Pace()
NEW, KNOWN, UNKNOWN = News.NEW, News.KNOWN, News.UNKNOWN

ANSWERS: Final = 64
"""Answers to what nobody knows that are remembered."""


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


class Row:
    """Model calls each of which began after the one before had ended.

    Attributes:
        calls: how many.
        stale: those of them of which nothing new is known.
        rapid: the latest that followed closely, and brought nothing new after the first.
    """

    __slots__ = ("_answers", "_last_end", "_last_start", "_size", "calls", "rapid", "stale")

    def __init__(self) -> None:
        self.calls = self.stale = self.rapid = 0
        self._last_start = self._last_end = -NS
        self._size = 0  # of the input, in tokens
        self._answers: Marks | None = None

    def add(self, call: Call, event: CallEnded, gap_ns: float) -> None:
        """One more call."""
        start = event.started_ns
        if start < self._last_start:
            return  # it is of no row: another began meanwhile
        if start < self._last_end:
            self.calls = self.stale = self.rapid = 0
        news = self._news(call, event)
        close = start - self._last_start < gap_ns
        self.calls += 1
        self.stale += news is not NEW
        self.rapid = 1 + self.rapid if close and news is KNOWN else 1
        self._last_start = start
        if event.ended_ns > self._last_end:
            self._last_end = event.ended_ns

    @property
    def is_stale(self) -> bool:
        """Whether next to nothing was new."""
        return 4 * self.stale > 3 * self.calls

    def _news(self, call: Call, event: CallEnded) -> News:
        """What a call brought, for all that is known."""
        before, self._size = self._size, event.usage.input_tokens if event.usage is not None else 0
        if event.error:
            return KNOWN
        if call.news is not UNKNOWN:
            return NEW if call.news is NEW else KNOWN
        if self._size < before:
            return NEW
        answer = event.prints.result if event.prints is not None else ""
        if not answer:
            return KNOWN if before else UNKNOWN
        self._answers = self._answers or Marks(ANSWERS)
        return NEW if self._answers.meet(answer, False) is None else KNOWN


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

    __slots__ = ("_embeddings", "_limits", "_pace", "_row", "_told")

    def __init__(self, limits: RateLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._row = Row()
        self._pace = self._embeddings = _STILL  # of model calls, and of embeddings
        self._told: tuple[tuple[str, Severity], ...] = ()

    def started(self, call: Call) -> None:
        """A start is counted when it ends."""

    def ended(self, call: Call) -> Finding | None:
        """Counts a model's call."""
        event = call.event
        kind = event.kind
        if kind is MODEL and isinstance(event, CallEnded):
            limits, row = self._limits, self._row
            pace = self._pace = self._pace.add(event.started_ns, MINUTE)
            row.add(call, event, limits.rapid_gap * NS)
            if row.rapid >= limits.rapid or pace.calls > limits.per_minute:
                return self._judged(call, pace)
            return None
        if kind is EMBEDDINGS:
            self._embeddings = self._embeddings.add(event.started_ns, MINUTE)
            return self._burst(call, self._embeddings, "embeddings calls", False)
        return None

    def _judged(self, call: Call, pace: Pace) -> Finding | None:
        limits, row, finding = self._limits, self._row, None
        if 0 < limits.rapid <= row.rapid:
            message = f"{row.rapid} model calls in a row brought nothing new, each less than"
            message += f" {limits.rapid_gap:g} s after the one before"
            finding = self._say(call, Severity.STOP, "rapid", message, row.rapid, limits.rapid)
        if finding is None:
            looping = row.calls >= limits.burst * limits.burst_seconds and row.is_stale
            finding = self._burst(call, pace, "model calls", looping)
        if finding is None and 0 < limits.per_minute < pace.calls:
            message = f"{pace.calls} model calls within a minute"
            finding = self._say(call, Severity.WARN, "per_minute", message, pace.calls, limits.per_minute)
        return finding

    def _burst(self, call: Call, pace: Pace, what: str, looping: bool) -> Finding | None:
        limits = self._limits
        slowest = pace.slowest(limits.burst_seconds)
        if not 0 < limits.burst <= slowest or not limits.burst_seconds:
            return None
        severity = Severity.STOP if looping else Severity.WARN
        message = f"{limits.burst} or more {what} a second for {limits.burst_seconds} seconds"
        message += ", one after the other" if looping else ""
        return self._say(call, severity, "burst", message, slowest, limits.burst)

    def _say(
        self, call: Call, severity: Severity, rule: str, message: str, observed: int, limit: int
    ) -> Finding | None:
        if (rule, severity) in self._told:
            return None
        self._told += ((rule, severity),)
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
