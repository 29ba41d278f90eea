"""The host that judges in the application itself: no service at all.

Rule 1: calls are judged on the thread that made them, under the judge's lock. Rule 2: a timer thread lets
time pass, tells of what has been open for a while and of budgets, hands what happens and what is spent to
their stores, and looks at the policy's file. Rule 3: a fault here never reaches the caller: it is counted.
It does not know who makes calls, nor what the board's directives do.
"""

from __future__ import annotations

import importlib
import logging
import threading
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any, Final

from spanfuse import prices
from spanfuse.announcing import WAITING, Announcer
from spanfuse.board import Board
from spanfuse.chronicle import Chronicle
from spanfuse.guard import fault
from spanfuse.host import HostState, HostStats, OnPolicy, Underway, Witness
from spanfuse.judge import Judge
from spanfuse.purse import Purse
from spanfuse.purses.own import OwnPurse
from spanfuse.rereading import PolicyFile
from spanfuse.settings import OFF, Settings, policy_of
from spanfuse.signs import Signs
from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.events import Heartbeat, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey
from spanfuse_processor.engine.policy import Policy, PolicyError
from spanfuse_processor.engine.pricing import PriceBook
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.engine.verdicts import Verdict
from spanfuse_processor.wire.effect import Instance

ISSUER: Final = "embedded"
LONGEST: Final = 1.0
"""Seconds between two looks at the engine's deadlines, at most: they come nearer while the timer sleeps."""
SHORTEST: Final = 0.01
"""The least of them, in seconds."""
MOST: Final = 1_000
"""Open calls of which the judge is told in one go; others wait for their turn."""

_log = logging.getLogger("spanfuse")


class EmbeddedHost:
    """An engine in this process. Starts and stops once.

    Raises:
        SettingsError: the policy cannot be read.
    """

    def __init__(self, settings: Settings, board: Board, book: PriceBook | None = None) -> None:
        self._stats = HostStats()
        self._clock = board.clock
        self._signs = Signs()
        policy = policy_of(settings)
        self.followers: list[OnPolicy] = []
        self._file = PolicyFile(settings, board.clock)
        self._bell = threading.Event()
        self._board = board
        self._announcer = Announcer(settings.on_event, self._bell.set)
        self._journaling = _journaling(settings, policy, self._view, self._unkept)
        journal = self._journaling.journal if self._journaling else None
        self._chronicle = Chronicle(journal, self._view, self._bell.set)
        self._money: deque[BudgetEvent] = deque(maxlen=WAITING)  # what the record has not been told yet
        self.witnesses: list[Witness] = []
        self._who = Instance(settings.service, settings.instance)
        keeping = _module("keeping") if settings.store else None
        self.judge = Judge(
            board,
            policy,
            book or prices.shared(),
            issuer=ISSUER,
            on_verdict=self._heard,
            on_event=self._told,
            clock=board.clock,
            journal=keeping.JOURNAL if keeping else 0,
            recorder=self._chronicle,
        )
        self._keeping = self._keep(settings.store, keeping) if keeping else None
        self._own = OwnPurse(self.judge, policy.budgets)
        self.purse: Purse = self._own
        self._stopping = threading.Event()
        self._timer: threading.Thread | None = None
        self._once = threading.Lock()

    def start(self) -> None:
        """Begins to judge."""
        self._stats.state = HostState.JUDGING
        if self._keeping is not None:
            self._keeping.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Ends. Nothing is queued, so nothing is waited for but the timer, and the store."""
        self._stats.state = HostState.IDLE
        self._stopping.set()
        self._bell.set()
        if self._timer is not None and self._timer.is_alive():
            self._timer.join(timeout)
        try:
            self._tell()
        except Exception as error:
            self._failed("stop", error)
        if self._keeping is not None:
            self._keeping.stop(timeout)
        if self._journaling is not None:
            self._journaling.stop(timeout)

    def call_started(self, call: Underway) -> None:
        """A call began: noted; an agent is judged here and now, for nesting shows at its beginning."""
        try:
            if self._signs.began(call):
                self.judge.observe(call.told(self._clock()))
            self._keep_time()
        except Exception as error:
            self._failed("call_started", error)

    def heartbeat(self, beat: Heartbeat) -> None:
        """A run lives: noted."""
        self._signs.beat(beat, self._clock())

    def span_ended(self, span: RawSpan) -> None:
        """A call ended: judged here and now; the board knows before this returns."""
        if self._stats.state is not HostState.JUDGING:
            self._stats.dropped += 1
            return
        self._stats.spans += 1
        try:
            self._signs.ended(span.span_id)
            self.judge.span_ended(span)
            self.purse.room.made()
            self._keep_time()
        except Exception as error:
            self._failed("span_ended", error)

    def kill(self, key: BreakerKey, reason: str) -> bool:
        """Stops `key`; False when it is stopped already."""
        return self.judge.kill(key, reason)

    def release(self, key: BreakerKey) -> bool:
        """Takes a stop back; False when there is none."""
        return self.judge.release(key)

    def stats(self) -> HostStats:
        """What happened so far."""
        if self._journaling is not None:
            self._stats.lost = self._journaling.lost
        return self._stats

    def tick(self) -> float | None:
        """Lets time pass. Returns the seconds until it should be called again, None when there is no need."""
        for sign in self._signs.due(self._clock(), MOST):
            self.judge.observe(sign)
        due = self.judge.advance()
        self._tell()
        if self._journaling is not None and self._journaling.busy():
            due = min(inf if due is None else due, self._journaling.every)
        if self._keeping is not None:
            self._keeping.advance()
            due = min(inf if due is None else due, self._keeping.every)
        policy = self._file.changed()
        if policy is not None:
            self._obey(policy)
        return due

    def _obey(self, policy: Policy) -> None:
        """The file says something else by now."""
        try:
            self.judge.renew(policy)
        except PolicyError as error:
            _log.error("%s; the policy before stays", error)
            return
        self._own.renew(policy.budgets)
        if self._journaling is not None:
            self._journaling.journal.obey(policy)
        for follower in self.followers:
            follower(policy)
        _log.info("the policy has changed and is obeyed")

    def _heard(self, verdict: Verdict) -> None:
        if verdict.directive is not None:
            self._stats.directives += 1

    def _told(self, event: BudgetEvent) -> None:
        self._money.append(event)
        self._announcer.put(event)

    def _tell(self) -> None:
        """Tells the application, the record and the trace what waits."""
        self._announcer.deliver()
        if self._journaling is not None:
            self._journaling.settle(self.judge.aside)
        self.judge.aside(self._hand_on)
        for said in self._chronicle.take():
            for witness in self.witnesses:
                witness(said)

    def _hand_on(self, wall: float) -> None:
        self._chronicle.catch_up()
        events = [self._money.popleft() for _ in range(len(self._money))]
        self._chronicle.budgets(events)
        if self._journaling is not None:
            self._journaling.hand_on(self._who, self._board.drain_effects(), wall)

    def _view(self, run: str) -> RunView | None:
        return self.judge.inspect(lambda engine: engine.run(run))

    def _keep(self, store: str, keeping: Any) -> Any:
        """The ledger's; what records and what is spent go by one writer where they share a store."""
        journaling, url = self._journaling, keeping.url_of(store)
        if journaling is None or journaling.url != url:
            return keeping.Keeping(url, self.judge, self._unkept)
        journaling.patient = True
        return keeping.Keeping(url, self.judge, self._unkept, journaling.writer)

    def _unkept(self) -> None:
        self._stats.unkept += 1

    def _failed(self, where: str, error: Exception) -> None:
        self._stats.faults += 1
        self._stats.last_fault = f"{where}: {error}"
        fault(where, error)

    def _keep_time(self) -> None:
        """Starts the timer with the first call: an application that makes none needs no thread."""
        if self._timer is None and self._once.acquire(blocking=False):
            self._timer = threading.Thread(target=self._let_time_pass, name="spanfuse-timer", daemon=True)
            self._timer.start()

    def _let_time_pass(self) -> None:
        while not self._stopping.is_set():
            try:
                due = self.tick()
            except Exception as error:
                self._failed("tick", error)
                due = None
            self._bell.wait(LONGEST if due is None else min(max(due, SHORTEST), LONGEST))
            self._bell.clear()


def _journaling(
    settings: Settings,
    policy: Policy,
    view: Callable[[str], RunView | None],
    on_fault: Callable[[], object],
) -> Any:
    if settings.journal == OFF:
        return None
    contents = settings.capture_content
    return _module("journaling").Journaling(settings.journal, policy, view, on_fault, contents=contents)


def _module(name: str) -> Any:
    """A module of ours, imported where something is to be kept."""
    return importlib.import_module(f"spanfuse.{name}")
