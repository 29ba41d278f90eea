"""A ledger that keeps every fact in a list and adds them up anew whenever it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from zoneinfo import ZoneInfo

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Period
from spanfuse_processor.engine.reach import Payer

SLOTS = 60


def era(budget: Budget, wall: float) -> object:
    """Which period a moment is in, by what a calendar on the wall says."""
    return _era(budget.period, budget.zone, budget.reset, wall)


@lru_cache(100_000)
def _era(period: Period, zone: str, reset: int, wall: float) -> object:
    local = datetime.fromtimestamp(wall, ZoneInfo(zone))
    shifted = datetime.fromtimestamp(wall - reset, ZoneInfo(zone))
    return {
        Period.HOURLY: (local.date(), local.hour, local.utcoffset()),
        Period.DAILY: shifted.date(),
        Period.WEEKLY: local.isocalendar()[:2],
        Period.MONTHLY: (local.year, local.month),
        Period.RUN: "ever",
    }[period]


@dataclass
class Fact:
    """Something that counts for an account, from `wall` on."""

    account: Account
    wall: float
    amount: int = 0
    calls: int = 0
    late: int = 0
    overrun: int = 0


@dataclass
class Paid:
    amounts: Amounts
    accounts: list[Account]
    wall: float
    presumed: bool


@dataclass
class Promise:
    payer: Payer
    amounts: Amounts
    deadline: float
    admitted: list[Account]


class Twin:
    """Slow, and easy to believe."""

    def __init__(self, budgets: Sequence[Budget]) -> None:
        self.budgets = {each.name: each for each in budgets}
        self.known = dict(self.budgets)  # and those that there were
        self.facts: list[Fact] = []
        self.paid: dict[bytes, Paid] = {}
        self.promised: dict[bytes, Promise] = {}
        self.granted: dict[Account, int] = {}

    def renew(self, budgets: Sequence[Budget]) -> None:
        self.budgets = {each.name: each for each in budgets}
        self.known |= self.budgets
        for promise in self.promised.values():
            gone = [each for each in promise.admitted if each.budget not in self.budgets]
            promise.admitted = [*self.accounts(promise.payer, strict=True), *gone]

    def accounts(self, payer: Payer, strict: bool = False) -> list[Account]:
        found = []
        for budget in self.budgets.values():
            pattern = (budget.reach.feature or ("*",))[0]
            fields = (*budget.per, *(["run"] if budget.period is Period.RUN else []))
            values = tuple(getattr(payer, name) for name in fields)
            if all(values) and fnmatchcase(payer.feature, pattern) and (budget.strict or not strict):
                found.append(Account(budget.name, values))
        return found

    def counts(self, fact: Fact, wall: float) -> bool:
        """Whether what was spent then still is of the period that is now."""
        budget = self.known[fact.account.budget]
        if budget.period is not Period.ROLLING:
            return era(budget, fact.wall) == era(budget, wall)
        width = budget.window / SLOTS
        return wall < (int(fact.wall // width) + 1) * width + budget.window

    def past(self, account: Account, then: float, wall: float) -> bool:
        budget = self.known[account.budget]
        if budget.period is Period.ROLLING:
            return then < wall - budget.window
        return then < wall and era(budget, then) != era(budget, wall)

    def spent(self, account: Account, wall: float) -> tuple[int, int, int, int]:
        """Spent, calls, late and overrun."""
        mine = [fact for fact in self.facts if fact.account == account]
        now = [fact for fact in mine if self.counts(fact, wall)]
        kept = mine if self.known[account.budget].period is Period.ROLLING else now
        return (
            sum(fact.amount for fact in now),
            sum(fact.calls for fact in now),
            sum(fact.late for fact in kept),
            sum(fact.overrun for fact in kept),
        )

    def reserved(self, account: Account) -> int:
        measure = self.known[account.budget].measure
        promised = (each.amounts.of(measure) for each in self.promised.values() if account in each.admitted)
        return sum(promised) + self.granted.get(account, 0)

    def room(self, account: Account, wall: float) -> int:
        budget = self.known[account.budget]
        return budget.limit - self.spent(account, wall)[0] - self.reserved(account)

    def reserve(self, key: bytes, payer: Payer, amounts: Amounts, wall: float, ttl: float) -> Account | None:
        if key in self.promised:
            return None
        for account in self.accounts(payer, strict=True):
            need = amounts.of(self.known[account.budget].measure)
            if need and need > self.room(account, wall):
                return account
        if key not in self.paid and self.accounts(payer):
            self.promised[key] = Promise(payer, amounts, wall + ttl, self.accounts(payer, strict=True))
        return None

    def expire(self, wall: float) -> set[bytes]:
        dead = {key for key, each in self.promised.items() if each.deadline <= wall}
        for key in dead:
            each = self.promised[key]
            self.charge(key, each.payer, each.amounts, wall, wall, presumed=True)
        return dead

    def settle(self, key: bytes, amounts: Amounts, wall: float) -> None:
        if key in self.promised:
            self.charge(key, self.promised[key].payer, amounts, wall, wall)
        elif key in self.paid and self.paid[key].presumed:
            self.correct(key, amounts, wall)

    def charge(
        self,
        key: bytes,
        payer: Payer,
        amounts: Amounts,
        wall: float,
        ended: float,
        leased: Sequence[str] = (),
        presumed: bool = False,
    ) -> None:
        promise = self.promised.pop(key, None)
        if promise is None and key in self.paid:
            if self.paid[key].presumed:
                self.correct(key, amounts, wall)
            return
        admitted = [] if promise is None else promise.admitted
        accounts = list(dict.fromkeys([*self.accounts(payer), *admitted]))
        if not accounts:
            return
        mine = [account for account in accounts if str(account) not in leased]
        for account in accounts:
            budget = self.known[account.budget]
            amount = amounts.of(budget.measure) if account in mine else 0
            before = promise.amounts.of(budget.measure) if promise and account in admitted else 0
            late = amount if self.past(account, ended, wall) else 0
            overrun = max(0, amount - before) if budget.strict else 0
            self.facts.append(Fact(account, wall, amount, 1, late, overrun))
        self.paid[key] = Paid(amounts, mine, wall, presumed)

    def correct(self, key: bytes, amounts: Amounts, wall: float) -> None:
        paid = self.paid.get(key)
        if paid is None:
            return
        for account in paid.accounts:
            budget = self.known[account.budget]
            more = amounts.of(budget.measure) - paid.amounts.of(budget.measure)
            past = self.past(account, paid.wall, wall)
            if past and more < 0:
                continue
            overrun = max(0, more) if budget.strict else 0
            self.facts.append(
                Fact(account, wall if past else paid.wall, more, 0, more if past else 0, overrun)
            )
        self.paid[key] = Paid(amounts, paid.accounts, paid.wall, False)

    def grant(self, account: Account, amount: int, wall: float) -> int:
        if self.known[account.budget].strict:
            amount = max(0, min(amount, self.room(account, wall)))
        self.granted[account] = self.granted.get(account, 0) + amount
        return amount

    def give_back(self, account: Account, amount: int) -> None:
        self.granted[account] = max(0, self.granted.get(account, 0) - amount)

    def rename(self, key: bytes, new: bytes) -> None:
        promise = self.promised.pop(key, None)
        if promise and new not in self.paid:
            self.promised.setdefault(new, promise)

    def refund(self, account: Account, amount: int, wall: float, at: float) -> None:
        if not self.past(account, at, wall):
            self.facts.append(Fact(account, at, -amount))

    def used(self, account: Account, amount: int, wall: float) -> None:
        granted = self.granted.get(account, 0)
        overrun = max(0, amount - granted) if self.known[account.budget].strict else 0
        self.facts.append(Fact(account, wall, amount, 0, 0, overrun))
        self.granted[account] = max(0, granted - amount)
