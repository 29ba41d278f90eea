"""What directives did in this process: the record that goes back to whoever issued them.

Rule 1: a record answers one revision of one directive; a newer revision begins a new record. Rule 2:
everything is bounded; the oldest is forgotten first. Rule 3: noting the end of a span takes no lock, it
happens on every call; everything else is rare. It does not know what holds now: that is the board's.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from spanfuse.answering import Answering
from spanfuse.orders import REFUSING
from spanfuse_processor.engine.verdicts import Directive
from spanfuse_processor.wire.effect import Effect, EffectState

RECORDS: Final = 10_000
"""How many directives' records are kept."""
ENDS: Final = 4_096
"""How many ends of spans are kept to time kills by."""


@dataclass(slots=True)
class Effects:
    """What came of one directive in this process. Latencies are seconds."""

    directive: Directive
    received: float  # monotonic
    rejected: str = ""
    calls_refused: int = 0
    calls_passed: int = 0  # that ENFORCE would have refused
    tasks_cancelled: int = 0
    streams_closed: int = 0
    not_interruptible: int = 0
    calls_throttled: int = 0  # that waited, or wait still
    throttled_for: float = 0.0  # how long they waited, together
    calls_degraded: int = 0
    calls_not_degraded: int = 0  # that had nothing to give up, or were not taken so
    applied_after: float | None = None  # receipt -> first effect
    kill_latency: float | None = None  # offending span's end here -> gate closed here


def told(record: Effects) -> Effect:
    """The record as whoever gave the directive is told of it."""
    if record.rejected:
        state = EffectState.REJECTED
    else:
        state = EffectState.RECEIVED if record.applied_after is None else EffectState.APPLIED
    return Effect(
        directive_id=record.directive.id,
        revision=record.directive.revision,
        state=state,
        error=record.rejected,
        calls_refused=record.calls_refused,
        tasks_cancelled=record.tasks_cancelled,
        streams_closed=record.streams_closed,
        not_interruptible=record.not_interruptible,
        applied_after=record.applied_after,
        kill_latency=record.kill_latency,
        calls_throttled=record.calls_throttled,
        throttled_for=record.throttled_for,
        calls_degraded=record.calls_degraded,
        calls_not_degraded=record.calls_not_degraded,
    )


class Ledger:
    """The records of all directives that this process heard of. Any thread may call.

    Attributes:
        answering: how the gate answered, whatever was ordered.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.RLock()  # the collector may end a call in the middle of anything
        self._records: OrderedDict[str, Effects] = OrderedDict()
        self._changed: set[str] = set()
        self._ends: dict[bytes, float] = {}
        self._order: deque[bytes] = deque()
        self.answering = Answering()

    def of(self, directive: Directive) -> Effects:
        """The running record of a directive; it begins with the first mention."""
        with self._lock:
            return self._of(directive)

    def rejected(self, directive: Directive, reason: str) -> None:
        """The directive is not obeyed here, and why."""
        with self._lock:
            self._of(directive).rejected = reason
            self._changed.add(directive.id)

    def in_force(self, directive: Directive) -> None:
        """The gate is closed now: times it from the end of the offending span, when that ended here."""
        spans = directive.evidence.span_ids
        ended = self._ends.get(spans[-1]) if spans else None
        with self._lock:
            record = self._of(directive)
            if ended is not None and directive.action in REFUSING:
                record.kill_latency = self._clock() - ended
            self._changed.add(directive.id)

    def add(
        self,
        directive: Directive,
        *,
        refused: int = 0,
        passed: int = 0,
        cancelled: int = 0,
        closed: int = 0,
        not_interruptible: int = 0,
    ) -> None:
        """Adds to the record of a directive; its first effect is timed."""
        with self._lock:
            record = self._of(directive)
            record.calls_refused += refused
            record.calls_passed += passed
            record.tasks_cancelled += cancelled
            record.streams_closed += closed
            record.not_interruptible += not_interruptible
            if record.applied_after is None and (refused or cancelled or closed):
                record.applied_after = self._clock() - record.received
            self._changed.add(directive.id)

    def spare(
        self,
        directive: Directive,
        *,
        throttled: int = 0,
        waited: float = 0.0,
        degraded: int = 0,
        not_degraded: int = 0,
    ) -> None:
        """Adds to the record of a directive that lets calls be made later, or for less."""
        with self._lock:
            record = self._of(directive)
            record.calls_throttled += throttled
            record.throttled_for += waited
            record.calls_degraded += degraded
            record.calls_not_degraded += not_degraded
            if record.applied_after is None and (throttled or degraded):
                record.applied_after = self._clock() - record.received
            self._changed.add(directive.id)

    def drain(self) -> list[Effects]:
        """Copies of the records that changed since the last drain."""
        with self._lock:
            drained = [replace(self._records[name]) for name in self._changed if name in self._records]
            self._changed.clear()
        return drained

    def ended(self, span_id: bytes, at: float) -> None:
        """Notes when a span ended here (monotonic). Lock-free."""
        self._ends[span_id] = at
        self._order.append(span_id)
        if len(self._order) > ENDS:
            self._ends.pop(self._order.popleft(), None)

    def _of(self, directive: Directive) -> Effects:
        record = self._records.get(directive.id)
        if record is None or record.directive.revision < directive.revision:
            record = self._records[directive.id] = Effects(directive, received=self._clock())
            if len(self._records) > RECORDS:
                self._records.popitem(last=False)
        return record
