"""A judge in the application: an engine, its lock, its clock, and the board that its verdicts go to.

Rule 1: the engine is touched under the one lock only, and the lock covers memory alone: posting to the board,
and so telling its listeners, comes after. Rule 2: time is read here and nowhere deeper. Rule 3: whatever
goes wrong is the caller's to guard. Both hosts use it, the remote one while no processor judges; it knows
neither.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from spanfuse.board import Board
from spanfuse_processor.engine import Engine, Order, OrderKind, Policy, PriceBook
from spanfuse_processor.engine.events import CallStarted, Heartbeat, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey
from spanfuse_processor.engine.verdicts import Directive, Verdict

T = TypeVar("T")
Step = Callable[[float], tuple[Verdict, ...]]


def _ignore(verdict: Verdict) -> None:
    """Nobody listens."""


class Judge:
    """Judges the calls of this process. Every method may be called from any thread.

    `issuer` signs the directives; `prefix` goes before their ids, so that they never meet the processor's on
    one board. `on_verdict` is told of everything, also of warnings, on the thread that brought the call.
    """

    def __init__(
        self,
        board: Board,
        policy: Policy,
        prices: PriceBook,
        *,
        issuer: str,
        prefix: str = "",
        on_verdict: Callable[[Verdict], None] = _ignore,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._board = board
        self._engine = Engine(policy, prices)
        self._issuer = issuer
        self._prefix = prefix
        self._on_verdict = on_verdict
        self._clock = clock
        self._lock = threading.RLock()
        self._busy = False
        self._deferred: deque[Step] = deque()

    def observe(self, event: CallStarted | Heartbeat) -> tuple[Verdict, ...]:
        """A call began or goes on, or a run lives. Returns what was said of it; the board knows already."""
        return self._publish(self._step(lambda now: self._engine.observe(event, now)))

    def span_ended(self, span: RawSpan) -> tuple[Verdict, ...]:
        """A call ended. Returns what was said about it; the board knows already."""
        return self._publish(self._step(lambda now: self._engine.ingest(span, now)))

    def kill(self, key: BreakerKey, reason: str) -> bool:
        """Stops `key` by order; False when it stood already."""
        return self._order(OrderKind.KILL, key, reason)

    def release(self, key: BreakerKey) -> bool:
        """Takes a stop of `key` back; False when nothing stood."""
        return self._order(OrderKind.RELEASE, key, "")

    def advance(self) -> float | None:
        """Lets time pass. Returns the seconds until it should be called again; None: no need."""
        self._publish(self._step(lambda now: self._engine.advance(now)))
        deadline = self.inspect(lambda engine: engine.next_deadline())
        return None if deadline is None else max(0.0, deadline - self._clock())

    def inspect(self, look: Callable[[Engine], T]) -> T:
        """What `look` reads from the engine, under the lock: for tests, statistics and the end of a run."""
        with self._lock:
            return look(self._engine)

    def after_fork(self) -> None:
        """In the child of a fork: a lock of its own, whoever held the parent's."""
        self._lock = threading.RLock()
        self._busy = False

    def _step(self, step: Step) -> tuple[Verdict, ...]:
        """Runs one step of the engine, and those that came while it ran.

        A finaliser (of a stream that was dropped, say) may end a call on the very thread that is inside the
        engine, wherever the collector happens to run. It must neither wait for itself nor meet half a step.
        """
        with self._lock:
            if self._busy:
                self._deferred.append(step)
                return ()
            self._busy = True
            try:
                verdicts = step(self._clock())
                while self._deferred:
                    verdicts += self._deferred.popleft()(self._clock())
            finally:
                self._busy = False
        return verdicts

    def _order(self, kind: OrderKind, key: BreakerKey, reason: str) -> bool:
        order = Order(kind=kind, key=key, reason=reason, issuer=self._issuer)
        return bool(self._publish(self._step(lambda now: self._engine.command(order, now))))

    def _publish(self, verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
        for verdict in verdicts:
            if verdict.removal is not None:
                self._board.withdraw(self._prefix + verdict.removal.id, verdict.removal.revision)
            if verdict.directive is not None:
                self._board.post(self._signed(verdict.directive))
            self._on_verdict(verdict)
        return verdicts

    def _signed(self, directive: Directive) -> Directive:
        return replace(
            directive,
            id=self._prefix + directive.id,
            issuer=directive.issuer or self._issuer,
            issued_ns=time.time_ns(),
        )
