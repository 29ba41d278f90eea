"""The treasury: what calls cost goes in, what is told and ordered because of it comes out.

    call, price -> ledger -> forecast -> marks -> events and directives

Rule 1: it stands beside the engine and does nothing else: no I/O, no clock, no lock. Time is wall time in
seconds, an argument. Rule 2: a call is charged once to every budget that covers it; what a lease has paid
is not paid again. Rule 3: revisions only grow. It is not thread-safe; its host sees to that.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from math import isinf
from typing import Final, NamedTuple

from spanfuse_processor.engine.alerts import BudgetEvent, Condition, Notice
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Period, Reaction
from spanfuse_processor.engine.budgets import orders
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.budgets.watch import AccountWatch, Standing
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.forecasts.budgets import BudgetForecaster
from spanfuse_processor.engine.reach import Payer

SOON: Final = 1.0
"""Seconds until it looks again at what time alone may change."""
LASTING: Final = 86_400.0
"""Seconds that an order holds where its period has no end: a run's."""
DESKS: Final = 10_000
"""Accounts that are watched at a time; of more, those that were charged longest ago are forgotten."""
OVER: Final = "the period is over"
CALM: Final = "the forecast has been calm"
RENEWED: Final = "the budget was changed"


class Spend(NamedTuple):
    """What one call came to. `key` is the same for the same call, `ended` when it ended (wall time);
    `leased` are the accounts, by name, that a lease has paid. `unpriced`: its price is not known (yet)."""

    key: bytes
    payer: Payer
    amounts: Amounts
    ended: float
    leased: Collection[str] = ()
    unpriced: bool = False
    trace_id: bytes = b""
    span_id: bytes = b""


class AccountView(NamedTuple):
    """One account as operators see it."""

    account: Account
    budget: Budget
    balance: Balance
    forecast: Forecast | None
    reactions: frozenset[Reaction]


class _Desk:
    """All about one account but its money."""

    __slots__ = ("forecaster", "last", "ordered", "watch")

    def __init__(self, watch: AccountWatch, forecaster: BudgetForecaster | None, last: Standing) -> None:
        self.watch = watch
        self.forecaster = forecaster
        self.last = last
        self.ordered: dict[Reaction, BudgetEvent] = {}


class Treasury:
    """Keeps budgets. `wall` is now."""

    def __init__(self, budgets: Sequence[Budget], wall: float, ledger: Ledger | None = None) -> None:
        self.ledger = ledger or Ledger(budgets, wall)
        self.empty = not budgets
        self._desks: OrderedDict[Account, _Desk] = OrderedDict()
        self._restless: set[Account] = set()
        self._revision = 0

    def charge(self, spend: Spend, wall: float) -> tuple[Notice, ...]:
        """A call ended and cost this much."""
        touched = self.ledger.charge(
            spend.key, spend.payer, spend.amounts, wall, spend.ended, spend.leased, spend.unpriced
        )
        return self._told(touched, spend.amounts, wall, spend.trace_id, spend.span_id)

    def correct(self, key: bytes, amounts: Amounts, wall: float) -> tuple[Notice, ...]:
        """A call that was charged came to something else: a price or a usage arrived late."""
        return self.look(self.ledger.correct(key, amounts, wall), wall)

    def settle(self, key: bytes, amounts: Amounts, wall: float) -> tuple[Notice, ...]:
        """What was reserved has been spent, to this amount."""
        return self._told(self.ledger.settle(key, amounts, wall), amounts, wall)

    def look(self, accounts: Iterable[Account], wall: float) -> tuple[Notice, ...]:
        """What of these accounts is spent may have changed: what comes of it."""
        return tuple(note for account in accounts for note in self._look(account, None, wall))

    def advance(self, wall: float) -> tuple[Notice, ...]:
        """Time has passed: periods end, forecasts calm down, throttling turns into a block."""
        if self.ledger.next_deadline() <= wall:
            self.ledger.expire(wall)
        return self._closed(wall) + self.look(tuple(self._restless), wall)

    def next_deadline(self, wall: float) -> float:
        """When (wall time) `advance` is due; `inf`: time alone changes nothing."""
        due = self.ledger.next_deadline()
        return min(due, wall + SOON) if self._restless else due

    def renew(self, budgets: Sequence[Budget], wall: float) -> tuple[Notice, ...]:
        """The budgets have changed. Spent money carries over; orders are given anew by the new limits."""
        notes = [note for desk in self._desks.values() for note in self._lift(desk, RENEWED)]
        self.ledger.renew(budgets, wall)
        self.empty = not budgets
        self._desks.clear()
        self._restless.clear()
        return (*notes, *self.look(self.ledger.balances(wall), wall))

    def views(self, wall: float) -> list[AccountView]:
        """Every account that something was charged to, or promised of."""
        return [self._view(account, balance, wall) for account, balance in self.ledger.balances(wall).items()]

    def _told(
        self,
        touched: Iterable[Account],
        amounts: Amounts,
        wall: float,
        trace_id: bytes = b"",
        span_id: bytes = b"",
    ) -> tuple[Notice, ...]:
        notes: list[Notice] = []
        for account in touched:
            amount = amounts.of(self.ledger.budget(account).measure)
            notes += self._look(account, amount, wall, trace_id, span_id)
        return tuple(notes)

    def _look(
        self, account: Account, amount: int | None, wall: float, trace_id: bytes = b"", span_id: bytes = b""
    ) -> list[Notice]:
        """`amount` is what was charged just now; None: what is spent more than at the last look."""
        balance = self.ledger.balance(account, wall)
        now = Standing(balance.start, balance.end, balance.spent, balance.limit)
        desk = self._desks.get(account) or self._open(account, now, balance.calls)
        notes: list[Notice] = []
        if desk.last.start != now.start and desk.watch.budget.period is not Period.ROLLING:
            notes += self._closed(wall)
            desk.last = now._replace(spent=0)
        more = now.spent - desk.last.spent if amount is None else amount
        desk.last = now
        forecast = self._foresee(desk, balance, more, wall)
        events = desk.watch.look(now, forecast, wall)
        events = [event._replace(trace_id=trace_id, span_id=span_id) for event in events]
        notes += [Notice(event=event) for event in events]
        return notes + self._ordered(desk, events, wall)

    def _open(self, account: Account, now: Standing, calls: int) -> _Desk:
        budget = self.ledger.budget(account)
        forecaster = None if budget.period is Period.RUN else BudgetForecaster(now.end - now.start)
        last = now if calls > 1 else now._replace(spent=0)
        desk = self._desks[account] = _Desk(AccountWatch(account, budget, now.start), forecaster, last)
        while len(self._desks) > DESKS:
            _, gone = self._desks.popitem(last=False)
            self._restless.discard(gone.watch.account)
        return desk

    def _closed(self, wall: float) -> tuple[Notice, ...]:
        """Periods that are over: what they came to is learnt, what was ordered in them is lifted."""
        notes: list[Notice] = []
        for over in self.ledger.close(wall):
            desk = self._desks.get(over.account)
            if desk is None:
                continue
            if desk.forecaster is not None:
                desk.forecaster.close(over.start, over.end, over.spent)
            notes += self._lift(desk, OVER)
        return tuple(notes)

    def _foresee(self, desk: _Desk, balance: Balance, more: int, wall: float) -> Forecast | None:
        if desk.forecaster is None:
            return None
        if more > 0:
            desk.forecaster.observe(wall, more)
        return desk.forecaster.forecast(
            wall, balance.spent, balance.limit, balance.start, balance.end, balance.calls
        )

    def _ordered(self, desk: _Desk, events: list[BudgetEvent], wall: float) -> list[Notice]:
        """What applications are told, as far as it changes."""
        watch, now = desk.watch, desk.last
        wanted = watch.reactions()
        notes = [
            self._lifted(desk, reaction, CALM) for reaction in tuple(desk.ordered) if reaction not in wanted
        ]
        for reaction in sorted(wanted - desk.ordered.keys()):
            event = self._reason(events, watch, now, wall)
            desk.ordered[reaction] = event
            ttl = self._ttl(watch.budget, now, wall)
            notes.append(Notice(directive=orders.order(event, watch.budget, reaction, self._next(), ttl)))
        rolls = watch.budget.period is Period.ROLLING
        if watch.restless or (rolls and desk.ordered):
            self._restless.add(watch.account)
        else:
            self._restless.discard(watch.account)
        return notes

    def _ttl(self, budget: Budget, now: Standing, wall: float) -> float:
        """Seconds until the period is over; of a rolling one, until nothing of now counts any more."""
        if budget.period is Period.ROLLING:
            return budget.window
        return LASTING if isinf(now.end) else max(SOON, now.end - wall)

    def _reason(
        self, events: list[BudgetEvent], watch: AccountWatch, now: Standing, wall: float
    ) -> BudgetEvent:
        """The event that an order is given for; told before, when this look brought none."""
        if events:
            return events[-1]
        budget = watch.budget
        return BudgetEvent(
            watch.account, budget.measure, Condition.IMMINENT, budget.forecast.react, budget.mode, wall,
            now.start, now.end, now.spent, now.limit,
        )  # fmt: skip

    def _lift(self, desk: _Desk, reason: str) -> list[Notice]:
        return [self._lifted(desk, reaction, reason) for reaction in tuple(desk.ordered)]

    def _lifted(self, desk: _Desk, reaction: Reaction, reason: str) -> Notice:
        del desk.ordered[reaction]
        return Notice(removal=orders.removal(desk.watch.account, reaction, self._next(), reason))

    def _view(self, account: Account, balance: Balance, wall: float) -> AccountView:
        desk = self._desks.get(account)
        forecast = self._foresee(desk, balance, 0, wall) if desk is not None else None
        reactions = desk.watch.reactions() if desk is not None else frozenset()
        return AccountView(account, self.ledger.budget(account), balance, forecast, reactions)

    def _next(self) -> int:
        self._revision += 1
        return self._revision
