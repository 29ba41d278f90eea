"""All breakers of one engine that have ever moved, and when each moves next.

Rule 1: a breaker exists from its first trip or order until it is forgotten; what is not here is CLOSED.
Rule 2: deadlines are a heap with stale entries: one is true if its breaker still says so. It does not
know directives; it answers with transitions, and with the keys that it forgot.
"""

from __future__ import annotations

import heapq
from itertools import count

from spanfuse_processor.engine.breaker import HALF_OPEN, Breaker, Signal
from spanfuse_processor.engine.nouns import BreakerKey, Instant
from spanfuse_processor.engine.orders import OrderKind
from spanfuse_processor.engine.policy import BreakerLimits
from spanfuse_processor.engine.verdicts import BreakerState, Transition

_SIGNALS = {
    OrderKind.KILL: Signal.KILL,
    OrderKind.RELEASE: Signal.RELEASE,
    OrderKind.DISABLE: Signal.DISABLE,
}


class Breakers:
    """Finds, moves and forgets. `limits` are those of the next; `half_open` is how many are being tried."""

    __slots__ = ("_breakers", "_deadlines", "_serial", "half_open", "limits")

    def __init__(self, limits: BreakerLimits) -> None:
        self.half_open = 0
        self.limits = limits
        self._breakers: dict[BreakerKey, Breaker] = {}
        self._deadlines: list[tuple[Instant, int, BreakerKey]] = []
        self._serial = count()  # so that keys are never compared

    def state(self, key: BreakerKey) -> BreakerState:
        """Where `key` stands."""
        breaker = self._breakers.get(key)
        return BreakerState.CLOSED if breaker is None else breaker.state

    def get(self, key: BreakerKey) -> Breaker | None:
        """The breaker of `key`, if it ever moved."""
        return self._breakers.get(key)

    def apply(self, key: BreakerKey, signal: Signal, now: Instant) -> Transition | None:
        """Evidence for `key`. None: nothing moved."""
        breaker = self._breakers.get(key) or Breaker(key, self.limits)
        return self.moved(breaker, breaker.apply(signal, now))

    def order(self, key: BreakerKey, kind: OrderKind, now: Instant) -> Transition | None:
        """An operator's order. Raises OrderError when it has no row in the table."""
        return self.apply(key, _SIGNALS[kind], now)

    def probe(self, key: BreakerKey, now: Instant) -> None:
        """A call under `key` has begun: while half-open it is a probe."""
        breaker = self._breakers.get(key)
        if breaker is not None and breaker.probe(now) is not None:
            self._schedule(breaker)

    def probed(self, key: BreakerKey, good: bool, now: Instant) -> Transition | None:
        """A call under `key` has ended: while half-open it is a probe's answer."""
        breaker = self._breakers.get(key)
        return None if breaker is None else self.moved(breaker, breaker.probed(good, now))

    def forget(self, key: BreakerKey) -> None:
        """Drops the breaker of `key`."""
        breaker = self._breakers.pop(key, None)
        if breaker is not None and breaker.state is HALF_OPEN:
            self.half_open -= 1

    def advance(self, now: Instant) -> list[Transition | BreakerKey]:
        """What time has moved, in order of when it was due; a bare key was forgotten."""
        done: list[Transition | BreakerKey] = []
        while self._deadlines and self._deadlines[0][0] <= now:
            due, _, key = heapq.heappop(self._deadlines)
            breaker = self._breakers.get(key)
            if breaker is None or breaker.deadline != due:
                continue
            transition = self.moved(breaker, breaker.advance(now))
            if transition is None:
                self.forget(key)
            done.append(transition or key)
        return done

    def next_deadline(self) -> Instant | None:
        """When `advance` is due; may be early, never late."""
        return self._deadlines[0][0] if self._deadlines else None

    def moved(self, breaker: Breaker, transition: Transition | None) -> Transition | None:
        """Keeps the books of a move."""
        if transition is not None:
            self._breakers[breaker.key] = breaker
            self.half_open += (transition.after is HALF_OPEN) - (transition.before is HALF_OPEN)
            self._schedule(breaker)
        return transition

    def _schedule(self, breaker: Breaker) -> None:
        if breaker.deadline is not None:
            heapq.heappush(self._deadlines, (breaker.deadline, next(self._serial), breaker.key))
