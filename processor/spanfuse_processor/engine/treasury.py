"""The treasury: what calls cost goes in, what is told and ordered because of it comes out.

    call, price -> ledger -> forecast -> marks -> events and directives

Rule 1: it stands beside the engine and does nothing else: no I/O, no clock, no lock. Time is wall time in
seconds, an argument. Rule 2: a call is charged once to every budget that covers it; what a lease has paid
is not paid again. Rule 3: revisions only grow. It is not thread-safe; its host sees to that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from spanfuse_processor.engine.alerts import BudgetEvent, Condition, Notice
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Period, Reaction
from spanfuse_processor.engine.budgets import orders
from spanfuse_processor.engine.budgets.ledger import Balance, Ledger
from spanfuse_processor.engine.budgets.watch import AccountWatch, Standing
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.forecasts.budgets import BudgetForecaster
from spanfuse_processor.engine.reach import Payer

SOON: Final = 1.0
"""Seconds until it looks again at what time alone may change."""
OVER: Final = "the period is over"
CALM: Final = "the forecast has been calm"
RENEWED: Final = "the budget was changed"


class Spend(NamedTuple):
    """What one call came to. `key` is the same for the same call, `ended` when it ended (wall time);
    `leased` are the accounts, by name, that a lease has paid."""

    key: bytes
    payer: Payer
    amounts: Amounts
    ended: float
    leased: Collection[str] = ()
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

    def __init__(self, budgets: Sequence[Budget], wall: float, dump: dict[str, Any] | None = None) -> None:
        self.ledger = Ledger.load(budgets, dump, wall) if dump else Ledger(budgets, wall)
        self._desks: dict[Account, _Desk] = {}
        self._restless: set[Account] = set()
        self._revision = 0

    @property
    def empty(self) -> bool:
        """Whether there is no budget: then nothing need be told."""
        return not self.ledger.budgets

    def charge(self, spend: Spend, wall: float) -> tuple[Notice, ...]:
        """A call ended and cost this much."""
        touched = self.ledger.charge(spend.key, spend.payer, spend.amounts, wall, spend.ended, spend.leased)
        return self._told(touched, spend.amounts, wall, spend.trace_id, spend.span_id)

    def correct(self, key: bytes, amounts: Amounts, wall: float) -> tuple[Notice, ...]:
        """A call that was charged came to something else: a price or a usage arrived late."""
        changes = self.ledger.correct(key, amounts, wall)
        return tuple(note for account, more in changes for note in self._look(account, more, wall))

    def settle(self, key: bytes, amounts: Amounts, wall: float) -> tuple[Notice, ...]:
        """What was reserved has been spent, to this amount."""
        return self._told(self.ledger.settle(key, amounts, wall), amounts, wall)

    def look(self, accounts: Iterable[tuple[Account, int]], wall: float) -> tuple[Notice, ...]:
        """The ledger was told elsewhere that so much of an account was used: what comes of it."""
        return tuple(note for account, amount in accounts for note in self._look(account, amount, wall))

    def advance(self, wall: float) -> tuple[Notice, ...]:
        """Time has passed: periods end, forecasts calm down, throttling turns into a block."""
        self.ledger.expire(wall)
        return tuple(note for account in tuple(self._restless) for note in self._look(account, 0, wall))

    def next_deadline(self, wall: float) -> float | None:
        """When `advance` is due; None: time alone changes nothing."""
        due = [self._desks[account].last.end for account in self._restless]
        busy = any(self._desks[account].watch.restless for account in self._restless)
        return min([*due, *([wall + SOON] if busy else [])], default=None)

    def renew(self, budgets: Sequence[Budget], wall: float) -> tuple[Notice, ...]:
        """The budgets have changed. Spent money carries over; orders are given anew by the new limits."""
        notes = [note for account in list(self._desks) for note in self._lift(account, RENEWED)]
        self.ledger.renew(budgets, wall)
        before, self._desks, self._restless = self._desks, {}, set()
        for account in before:
            if self.ledger.balance(account, wall) is not None:
                notes += self._look(account, 0, wall)
        return tuple(notes)

    def views(self, wall: float) -> list[AccountView]:
        """Every account that is known, in the order of the budgets."""
        return [self._view(account, balance, wall) for account, balance in self.ledger.balances(wall)]

    def _told(
        self,
        touched: Iterable[Account],
        amounts: Amounts,
        wall: float,
        trace_id: bytes = b"",
        span_id: bytes = b"",
    ) -> tuple[Notice, ...]:
        budget_of = self.ledger.budget
        notes: list[Notice] = []
        for account in touched:
            notes += self._look(account, amounts.of(budget_of(account).measure), wall, trace_id, span_id)
        return tuple(notes)

    def _look(
        self, account: Account, amount: int, wall: float, trace_id: bytes = b"", span_id: bytes = b""
    ) -> list[Notice]:
        balance = self.ledger.balance(account, wall)
        if balance is None:
            return []
        now = Standing(balance.start, balance.end, balance.spent, balance.limit)
        desk = self._desks.get(account) or self._open(account, now)
        notes = self._turn(desk, now) if desk.last.start != now.start else []
        desk.last = now
        forecast = self._foresee(desk, balance, amount, wall)
        events = [
            event._replace(trace_id=trace_id, span_id=span_id)
            for event in desk.watch.look(now, forecast, wall)
        ]
        notes += [Notice(event=event) for event in events]
        return notes + self._ordered(desk, events, wall)

    def _open(self, account: Account, now: Standing) -> _Desk:
        budget = self.ledger.budget(account)
        forecaster = None if budget.period is Period.RUN else BudgetForecaster(now.end - now.start)
        desk = self._desks[account] = _Desk(AccountWatch(account, budget, now.start), forecaster, now)
        return desk

    def _turn(self, desk: _Desk, now: Standing) -> list[Notice]:
        """A period is over: what it came to is learnt, what was ordered in it is lifted."""
        budget, last = desk.watch.budget, desk.last
        if budget.period is Period.ROLLING:
            return []
        if desk.forecaster is not None:
            desk.forecaster.close(last.start, last.end, last.spent)
        return self._lift(desk.watch.account, OVER)

    def _foresee(self, desk: _Desk, balance: Balance, amount: int, wall: float) -> Forecast | None:
        if desk.forecaster is None:
            return None
        if amount > 0:
            desk.forecaster.observe(wall, amount)
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
            ttl = max(
                SOON,
                (now.end if watch.budget.period is not Period.ROLLING else wall + now.end - now.start) - wall,
            )
            notes.append(Notice(directive=orders.order(event, watch.budget, reaction, self._next(), ttl)))
        if desk.ordered or watch.restless:
            self._restless.add(watch.account)
        else:
            self._restless.discard(watch.account)
        return notes

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

    def _lift(self, account: Account, reason: str) -> list[Notice]:
        desk = self._desks[account]
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
