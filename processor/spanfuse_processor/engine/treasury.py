"""The treasury: what calls cost goes in, what is told and ordered because of it comes out.

    call, price -> ledger -> forecast -> marks -> events and directives

Rule 1: it stands beside the engine and does nothing else: no I/O, no clock, no lock. Time is wall time in
seconds, an argument. Rule 2: a call is charged once to every budget that covers it; what a lease has paid
is not paid again. Rule 3: revisions only grow. It is not thread-safe; its host sees to that.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanfuse_processor.engine.alerts import BudgetEvent, Notice
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Reaction
from spanfuse_processor.engine.budgets import orders
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.budgets.desk import Desk
from spanfuse_processor.engine.budgets.fullest import Fullest
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.budgets.restless import Restless
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.reach import Payer

SOON: Final = 1.0
"""Seconds until it looks again at what time alone may change."""
DESKS: Final = 10_000
"""Accounts that are watched at a time; of more, those that were charged longest ago are forgotten."""
OVER: Final = "the period is over"
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


class Treasury:
    """Keeps budgets. `wall` is now.

    Attributes:
        ledger: keeps count.
        empty: there are no budgets.
        spent: what was charged since it was made, by the name of the budget; corrections down are left out.
    """

    def __init__(self, budgets: Sequence[Budget], wall: float, ledger: Ledger | None = None) -> None:
        self.ledger = ledger or Ledger(budgets, wall)
        self.spent: dict[str, int] = {}
        self._known(budgets)
        self._desks: OrderedDict[Account, Desk] = OrderedDict()
        self._fullest = Fullest()
        self._restless = Restless()
        self._revision = 0

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """What it keeps."""
        return self._budgets

    def charge(self, spend: Spend, wall: float) -> tuple[Notice, ...]:
        """A call ended and cost this much."""
        touched = self.ledger.charge(
            spend.key, spend.payer, spend.amounts, wall, spend.ended, spend.leased, spend.unpriced
        )
        return self._told(touched, spend.amounts, wall, spend.trace_id, spend.span_id)

    def correct(self, key: bytes, amounts: Amounts, wall: float, guess: bool = False) -> tuple[Notice, ...]:
        """A call that was charged came to something else: a price or a usage arrived late."""
        return self.look(self.ledger.correct(key, amounts, wall, guess), wall)

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
        return self._closed(wall) + self.look(self._restless.take(wall), wall)

    def next_deadline(self, wall: float) -> float:
        """When (wall time) `advance` is due; `inf`: time alone changes nothing."""
        return min(self.ledger.next_deadline(), self._restless.soonest())

    def renew(self, budgets: Sequence[Budget], wall: float) -> tuple[Notice, ...]:
        """The budgets have changed. Spent money carries over; orders are given anew by the new limits."""
        same = set(budgets) & set(self._budgets)
        kept = {account: desk for account, desk in self._desks.items() if desk.watch.budget in same}
        changed = {account: desk for account, desk in self._desks.items() if account not in kept}
        self._desks = OrderedDict(kept)
        notes = [note for desk in changed.values() for note in self._lift(desk, RENEWED)]
        self._restless.forget(changed)
        self.ledger.renew(budgets, wall)
        self._known(budgets)
        self._fullest.keep(kept)
        balances = self.ledger.balances(wall)
        for account, desk in changed.items():
            if account in balances:
                self._sit(account, balances[account]).inherit(desk)
        return (*notes, *self.look([each for each in balances if each not in kept], wall))

    def follow(self, entries: Sequence[Entry], wall: float) -> tuple[Notice, ...]:
        """Others charged to the same accounts. What they spent is in their `spent`, not in this one's."""
        own = dict(self.spent)
        notes = self.look(self.ledger.follow(entries), wall)
        self.spent = own
        return notes

    def resume(self, ledger: Ledger, dump: Mapping[str, Any], wall: float) -> tuple[Notice, ...]:
        """Goes on with a ledger that has been restored, and with what was told and learnt of its accounts
        (`dump`). What is due is ordered anew."""
        self.ledger = ledger
        told = {_account(each): each for each in dump.get("desks", ())}
        balances = ledger.balances(wall)
        for account, balance in balances.items():
            desk = self._desks.get(account)
            if desk is not None:
                desk.last = balance
            elif account in told:
                self._sit(account, balance).load(told[account])
        return self.look(balances, wall)

    def dump(self) -> dict[str, Any]:
        """What was told and learnt of accounts, as plain data; to be kept beside the ledger's dump."""
        return {"desks": [desk.dump() for desk in self._desks.values()]}

    def views(self, wall: float) -> list[AccountView]:
        """Every account that something was charged to, or promised of."""
        return [self._view(account, balance, wall) for account, balance in self.ledger.balances(wall).items()]

    def front(self, wall: float) -> list[AccountView]:
        """One account of each budget: of one that is counted apart, the fullest. It costs next to nothing."""
        accounts = [self._fullest.of(each.name) for each in self._budgets]
        return [self._view(account, self.ledger.balance(account, wall), wall) for account in accounts]

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
            notes += self._look(account, amounts, wall, trace_id, span_id)
        return tuple(notes)

    def _look(
        self,
        account: Account,
        charged: Amounts | None,
        wall: float,
        trace_id: bytes = b"",
        span_id: bytes = b"",
    ) -> list[Notice]:
        """`charged` is what was charged just now; None: what is spent more than at the last look."""
        if account.budget not in self._names:  # of a budget that is no more
            return []
        now = self.ledger.balance(account, wall)
        desk = self._desks.get(account) or self._open(account, now)
        notes: list[Notice] = []
        if desk.last.start != now.start and not desk.rolls:
            notes += self._closed(wall)
            desk.last = now._replace(spent=0)
        more = now.spent - desk.last.spent if charged is None else charged[desk.at]
        desk.last = now
        self._count(desk, now, more, wall)
        forecast = desk.foresee(now, more, wall)
        events = desk.watch.look(now, forecast, wall)
        if events:
            events = [event._replace(trace_id=trace_id, span_id=span_id) for event in events]
            notes += [Notice(event=event) for event in events]
        if desk.busy or account in self._restless:
            notes += self._ordered(desk, events, wall)
        return notes

    def _count(self, desk: Desk, now: Balance, more: int, wall: float) -> None:
        """Notes what is spent, and which account of its budget is the fullest."""
        budget = desk.watch.budget
        if more > 0:
            self.spent[budget.name] += more
        if desk.apart:
            share = now.spent / now.limit if now.limit else 0.0
            until = wall + budget.window if desk.rolls else now.end
            self._fullest.note(desk.watch.account, share, until, wall)

    def _open(self, account: Account, now: Balance) -> Desk:
        last = now if now.calls > 1 else now._replace(spent=0)
        desk = self._desks[account] = Desk(account, self.ledger.budget(account), last)
        while len(self._desks) > DESKS:
            _, gone = self._desks.popitem(last=False)
            self._restless.forget((gone.watch.account,))
        return desk

    def _sit(self, account: Account, balance: Balance) -> Desk:
        """A desk for an account whose spend is no news."""
        desk = self._desks[account] = Desk(account, self.ledger.budget(account), balance)
        return desk

    def _closed(self, wall: float) -> tuple[Notice, ...]:
        """Periods that are over: what they came to is learnt, what was ordered in them is lifted."""
        notes: list[Notice] = []
        for over in self.ledger.close(wall):
            desk = self._desks.get(over.account)
            if desk is None:
                continue
            desk.close(over.start, over.end, over.spent)
            notes += self._lift(desk, OVER)
        return tuple(notes)

    def _ordered(self, desk: Desk, events: list[BudgetEvent], wall: float) -> list[Notice]:
        """What applications are told, as far as it changes."""
        watch = desk.watch
        wanted = watch.reactions()
        notes = [
            self._lifted(desk, reaction, orders.why_lifted(desk.ordered[reaction], wanted))
            for reaction in tuple(desk.ordered)
            if reaction not in wanted
        ]
        for reaction in sorted(wanted - desk.ordered.keys()):
            event = desk.reason(reaction, events, wall)
            desk.order(reaction, event)
            given = orders.order(event, watch.budget, reaction, self._next(), desk.ttl(wall))
            notes.append(Notice(directive=given))
        if watch.restless:
            self._restless.note(watch.account, wall + SOON, wall)
        elif desk.rolls and desk.ordered:
            self._restless.note(watch.account, desk.last.turns, wall)
        else:
            self._restless.forget((watch.account,))
        return notes

    def _lift(self, desk: Desk, reason: str) -> list[Notice]:
        return [self._lifted(desk, reaction, reason) for reaction in tuple(desk.ordered)]

    def _lifted(self, desk: Desk, reaction: Reaction, reason: str) -> Notice:
        del desk.ordered[reaction]
        return Notice(removal=orders.removal(desk.watch.account, reaction, self._next(), reason))

    def _view(self, account: Account, balance: Balance, wall: float) -> AccountView:
        desk = self._desks.get(account)
        forecast = desk.foresee(balance, 0, wall) if desk is not None else None
        reactions = desk.watch.reactions() if desk is not None else frozenset()
        return AccountView(account, self.ledger.budget(account), balance, forecast, reactions)

    def _known(self, budgets: Sequence[Budget]) -> None:
        self.empty = not budgets
        self._budgets = tuple(budgets)
        self._names = frozenset(each.name for each in budgets)
        for each in budgets:
            self.spent.setdefault(each.name, 0)

    def _next(self) -> int:
        self._revision += 1
        return self._revision


def _account(dump: Mapping[str, Any]) -> Account:
    name, values = dump["account"]
    return Account(name, tuple(values))
