"""Model calls come too fast: too many a minute, or a burst that no provider would answer to honest work.

Rule 1: event time, in a sliding window. Rule 2: many calls a minute are only warned of, once. Rule 3: a
burst is so many calls in each of so many seconds on end. It stops a run when its calls follow one another,
as those of a loop do, and most of their results are not new; calls side by side (a fan-out, a batch),
embeddings, and work that gets new results are warned of. Rule 4: a feature's calls are those of many runs:
they only warn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import Call, CallEnded
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity
from spanfuse_processor.engine.window import Window

MINUTE: Final = 60
_RULES: Final = {"RATE": "per_minute", "BURST": "burst"}

MODEL, EMBEDDINGS = Kind.MODEL, Kind.EMBEDDINGS  # a member looked up in its enum costs four times as much


@dataclass(frozen=True, slots=True)
class RateLimits(DetectorLimits):
    """More than `per_minute` model calls warn; `burst` a second, `burst_seconds` on end, stop. 0: off."""

    per_minute: int = 20
    burst: int = 10
    burst_seconds: int = 5


class Results:
    """Whether calls that come too fast get results that are new. Bounded: the last 128 are known."""

    __slots__ = ("_known", "_new", "_old")

    def __init__(self) -> None:
        self._known: dict[str, None] = {}
        self._new = self._old = 0

    def add(self, event: CallEnded) -> None:
        """Counts one call; a result that nobody can compare is not new."""
        digest = event.prints.result if event.prints is not None and not event.error else ""
        if not digest or digest in self._known:
            self._old += 1
            return
        self._new += 1
        self._known[digest] = None
        if len(self._known) > 128:
            del self._known[next(iter(self._known))]

    @property
    def mostly_new(self) -> bool:
        """More new ones than others."""
        return self._new > self._old


class RateDetector:
    """Watches the pace of one run, or of one feature.

    >>> NS = 1_000_000_000
    >>> detector = RateDetector(RateLimits(), {})
    >>> for number in range(120):  # twenty a second, one after the other
    ...     start = number * NS // 20
    ...     event = CallEnded(bytes(16), b"", b"", start, Kind.MODEL, "gpt-4o", ended_ns=start + 1)
    ...     finding = detector.ended(Call(event, "run", number + 1, 0, 0, (), True))
    ...     if finding:
    ...         print(number + 1, finding.severity.value, finding.message)
    21 warn 21 model calls within a minute
    101 stop 10 or more model calls a second for 5 seconds, one after the other
    """

    name: ClassVar[str] = "rate"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN, Unit.FEATURE)
    heeds: ClassVar[frozenset[Kind]] = frozenset({MODEL, EMBEDDINGS})
    only_warns: ClassVar[tuple[Unit, ...]] = (Unit.FEATURE,)

    __slots__ = ("_embeddings", "_in_a_row", "_last_ns", "_limits", "_results", "_told", "_window")

    def __init__(self, limits: RateLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._window: Window | None = None  # None before the first call, here and of embeddings
        self._embeddings: Window | None = None
        self._in_a_row = 0  # model calls each of which began after the one before had ended
        self._results: Results | None = None  # of calls that come too fast: few runs have any
        self._last_ns = 0
        self._told: tuple[tuple[str, Severity], ...] = ()

    def started(self, call: Call) -> None:
        """A start is counted when it ends."""

    def ended(self, call: Call) -> Finding | None:
        """Counts a model's call."""
        event = call.event
        kind = event.kind
        if kind is MODEL and isinstance(event, CallEnded):
            usage = event.usage
            tokens = usage.input_tokens + usage.output_tokens if usage is not None else 0
            start, end, window = event.started_ns, event.ended_ns, self._window or self._begin()
            window.add(start, tokens, call.cost or 0, end - start)
            self._in_a_row = self._in_a_row + 1 if start >= self._last_ns else 0
            if end > self._last_ns:
                self._last_ns = end
            if window.calls > self._limits.per_minute:
                return self._judged(call, event, window)
            self._results = None
            return None
        if kind is EMBEDDINGS:
            self._embeddings = self._embeddings or Window(MINUTE)
            self._embeddings.add(event.started_ns)
            return self._burst(call, self._embeddings, "embeddings calls", False)
        return None

    def _begin(self) -> Window:
        self._window = Window(MINUTE)
        return self._window

    def _judged(self, call: Call, event: CallEnded, window: Window) -> Finding | None:
        limits = self._limits
        results = self._results = self._results or Results()
        results.add(event)
        looping = self._in_a_row >= limits.burst * limits.burst_seconds and not results.mostly_new
        finding = self._burst(call, window, "model calls", looping)
        if finding is None and limits.per_minute:
            calls = window.calls
            finding = self._say(
                call, Severity.WARN, "RATE", f"{calls} model calls within a minute", calls, limits.per_minute
            )
        return finding

    def _burst(self, call: Call, window: Window, what: str, looping: bool) -> Finding | None:
        limits = self._limits
        slowest = window.slowest(limits.burst_seconds)
        if not 0 < limits.burst <= slowest or not limits.burst_seconds:
            return None
        severity = Severity.STOP if looping else Severity.WARN
        message = f"{limits.burst} or more {what} a second for {limits.burst_seconds} seconds"
        message += ", one after the other" if looping else ""
        return self._say(call, severity, "BURST", message, slowest, limits.burst)

    def _say(
        self, call: Call, severity: Severity, reason: str, message: str, observed: int, limit: int
    ) -> Finding | None:
        if (reason, severity) in self._told:
            return None
        self._told += ((reason, severity),)
        return found(
            call,
            self.name,
            severity,
            reason,
            message,
            observed=observed,
            limit=limit,
            cleared_by="a slower pace",
            rule=_RULES[reason],
        )
