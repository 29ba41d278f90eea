"""A judge in the application: an engine, a treasury, their lock and clocks, and the board they write on.

Rule 1: the engine is touched under the one lock only, and the lock covers memory alone: posting to the board,
and so telling its listeners, comes after. Rule 2: time is read here and nowhere deeper. Rule 3: whatever
goes wrong is the caller's to guard. Both hosts use it, the remote one while no processor judges; it knows
neither.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from math import inf, isinf
from typing import Protocol, TypeVar

from spanfuse.board import Board
from spanfuse_processor.engine import Engine, Order, OrderKind, Policy, PriceBook
from spanfuse_processor.engine.alerts import BudgetEvent, Notice
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.cashier import Cashier
from spanfuse_processor.engine.events import CallEnded, CallStarted, Heartbeat, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey
from spanfuse_processor.engine.steps import Steps
from spanfuse_processor.engine.treasury import Treasury
from spanfuse_processor.engine.tree.spending import Amended
from spanfuse_processor.engine.verdicts import Directive, Removal, Verdict

T = TypeVar("T")
Step = Callable[[float], tuple[Verdict, ...]]


class Recorder(Protocol):
    """Hears what happens, where the engine is touched: it is quick, and raises nothing."""

    def look(self, span: RawSpan) -> None:
        """A span is about to be judged."""

    def ended(self, call: Call, event: CallEnded) -> None:
        """A call ended."""

    def amended(self, told: Amended) -> None:
        """A call came to something else."""

    def settle(self) -> None:
        """The span has been judged."""

    def verdict(self, verdict: Verdict, wall: float) -> None:
        """The engine has spoken, with the directive as it is on the board."""

    def order(self, order: Order, done: bool, wall: float) -> None:
        """The application has ordered something; it changed something or not."""


def _ignore(told: object) -> None:
    """Nobody listens."""


class Judge:
    """Judges the calls of this process. Every method may be called from any thread.

    `issuer` signs the directives; `prefix` goes before their ids, so that they never meet the processor's on
    one board. `on_verdict` is told of everything, also of warnings, and `on_event` of what happens to
    budgets, on the thread that brought the call. `journal` changes of the ledger are kept for whoever writes
    them down, and `recorder` hears what happens, of verdicts when they are on the board. `clock` never goes
    back, `wall` is the time of day: periods of budgets go by it.
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
        on_event: Callable[[BudgetEvent], None] = _ignore,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        journal: int = 0,
        recorder: Recorder | None = None,
    ) -> None:
        self._board = board
        self._treasury = Treasury(policy.budgets, wall(), Ledger(policy.budgets, wall(), journal=journal))
        self._cashier = Cashier(self._treasury, self._is_stopped)
        self._recorder = recorder
        self._tellers = (self._cashier, recorder) if recorder is not None else (self._cashier,)
        self._engine = Engine(policy, prices, observer=self._ended, amend=self._amended)
        self._issuer = issuer
        self._prefix = prefix
        self._on_verdict = on_verdict
        self._on_event = on_event
        self._clock = clock
        self._wall = wall
        self._lock = threading.RLock()
        self._busy = False
        self._deferred: deque[Step] = deque()
        self._notes: deque[Notice] = deque()  # what the treasury said and nobody has been told yet

    def observe(self, event: CallStarted | Heartbeat) -> tuple[Verdict, ...]:
        """A call began or goes on, or a run lives. Returns what was said of it; the board knows already."""
        return self._publish(self._step(lambda now: self._engine.observe(event, now)))

    def span_ended(self, span: RawSpan) -> tuple[Verdict, ...]:
        """A call ended. Returns what was said about it; the board knows already."""
        return self._publish(self._step(lambda now: self._ingest(span, now)))

    def kill(self, key: BreakerKey, reason: str) -> bool:
        """Stops `key` by order; False when it stood already."""
        return self._order(OrderKind.KILL, key, reason)

    def release(self, key: BreakerKey) -> bool:
        """Takes a stop of `key` back; False when nothing stood."""
        return self._order(OrderKind.RELEASE, key, "")

    def advance(self) -> float | None:
        """Lets time pass. Returns the seconds until it should be called again; None: no need."""
        self._publish(self._step(self._pass_time))
        with self._lock:
            deadline, wall = self._engine.next_deadline(), self._wall()
            money = self._treasury.next_deadline(wall) - wall
        left = inf if deadline is None else deadline - self._clock()
        soonest = min(left, money)
        return None if isinf(soonest) else max(0.0, soonest)

    def renew(self, policy: Policy) -> None:
        """Judges by another policy from now on; spent money carries over.

        Raises:
            PolicyError: it cannot be obeyed; then nothing has changed.
        """
        self._publish(self._step(lambda now: self._renew(policy)))

    def money(self, act: Callable[[Treasury, float], T]) -> T:
        """Does something with the treasury, at the time of day, under the lock; what comes of it is told."""
        with self._lock:
            result = act(self._treasury, self._wall())
        return result

    def aside(self, act: Callable[[float], object]) -> None:
        """Does something at the time of day while the engine rests: what ends meanwhile is judged after."""

        def step(now: float) -> tuple[Verdict, ...]:
            act(self._wall())
            return ()

        self._publish(self._step(step))

    @property
    def steps(self) -> Steps:
        """What is known of runs, step by step; to be touched where `money` acts."""
        return self._cashier.steps

    @property
    def inside(self) -> bool:
        """Whether this very thread is at work in here: a finaliser is that must not go on inside."""
        owned: bool = self._lock._is_owned()  # type: ignore[attr-defined]  # as threading.Condition asks
        return owned

    def tell(self, notes: Iterable[Notice]) -> None:
        """Passes on what the treasury said."""
        for note in notes:
            self._post(note.removal, note.directive)
            if note.event is not None:
                self._on_event(note.event)

    def inspect(self, look: Callable[[Engine], T]) -> T:
        """What `look` reads from the engine, under the lock: for tests, statistics and the end of a run."""
        with self._lock:
            return look(self._engine)

    def _ingest(self, span: RawSpan, now: float) -> tuple[Verdict, ...]:
        recorder = self._recorder
        if recorder is None:
            return self._engine.ingest(span, now)
        recorder.look(span)
        verdicts = self._engine.ingest(span, now)
        recorder.settle()
        return verdicts

    def _pass_time(self, now: float) -> tuple[Verdict, ...]:
        self._notes += self._treasury.advance(self._wall())
        return self._engine.advance(now)

    def _renew(self, policy: Policy) -> tuple[Verdict, ...]:
        self._engine.renew(policy)
        self._notes += self._treasury.renew(policy.budgets, self._wall())
        return ()

    def _ended(self, call: Call, event: CallEnded) -> None:
        for teller in self._tellers:
            teller.ended(call, event)

    def _amended(self, told: Amended) -> None:
        for teller in self._tellers:
            teller.amended(told)

    def _is_stopped(self, run: str) -> bool:
        view = self._engine.run(run)
        return view is not None and view.stop is not None

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
                self._notes += self._cashier.settle(self._wall())
            finally:
                self._busy = False
        return verdicts

    def _order(self, kind: OrderKind, key: BreakerKey, reason: str) -> bool:
        order = Order(kind=kind, key=key, reason=reason, issuer=self._issuer)
        done = bool(self._publish(self._step(lambda now: self._engine.command(order, now))))
        recorder = self._recorder
        if recorder is not None:
            self.aside(lambda wall: recorder.order(order, done, wall))
        return done

    def _publish(self, verdicts: tuple[Verdict, ...]) -> tuple[Verdict, ...]:
        posted = []
        for verdict in verdicts:
            directive = self._post(verdict.removal, verdict.directive)
            posted.append(replace(verdict, directive=directive) if directive else verdict)
            self._on_verdict(verdict)
        if posted and self._recorder is not None:
            self.aside(lambda wall: self._record(posted, wall))
        while self._notes:
            with suppress(IndexError):  # another thread may have told the last of them
                self.tell((self._notes.popleft(),))
        return verdicts

    def _record(self, verdicts: Iterable[Verdict], wall: float) -> None:
        if self._recorder is not None:
            for verdict in verdicts:
                self._recorder.verdict(verdict, wall)

    def _post(self, removal: Removal | None, directive: Directive | None) -> Directive | None:
        """Puts on the board, and takes down; returns the directive as it is there."""
        if removal is not None:
            self._board.withdraw(self._prefix + removal.id, removal.revision)
        if directive is None:
            return None
        signed = self._signed(directive)
        self._board.post(signed)
        return signed

    def _signed(self, directive: Directive) -> Directive:
        return replace(
            directive,
            id=self._prefix + directive.id,
            issuer=directive.issuer or self._issuer,
            issued_ns=time.time_ns(),
        )
