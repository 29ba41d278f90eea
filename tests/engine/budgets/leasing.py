"""A ledger of one number, for the office of leases, and a holder as an application is one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from spanfuse_processor.engine.budget import Account, Budget
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk
from spanfuse_processor.engine.budgets.leasing import LeaseOffice

DAILY = Account("daily")


@dataclass
class OneNumber:
    """Counts one account that never ends."""

    limit: int
    spent: int = 0
    granted: int = 0
    overrun: int = 0
    strict: bool = True
    safe: int = 0
    since: float = 0.0
    end: float = math.inf

    @property
    def left(self) -> int:
        return max(0, self.limit - self.spent - self.granted)

    def balance(self, account: Account, wall: float) -> OneNumber:
        return self

    def grant(self, account: Account, amount: int, wall: float, lease: bytes) -> int:
        given = min(amount, self.left)
        self.granted += given
        return given

    def give_back(self, account: Account, amount: int, wall: float, lease: bytes) -> None:
        self.granted -= amount
        assert self.granted >= 0

    def used(self, account: Account, amount: int, wall: float, held: int, lease: bytes) -> None:
        self.spent += amount
        self.granted -= held
        self.overrun += amount - held
        assert self.granted >= 0

    def refund(self, account: Account, amount: int, wall: float, at: float, lease: bytes) -> None:
        if at >= self.since:
            self.spent -= amount
        assert self.spent >= 0

    def budget(self, account: Account) -> Budget:
        if account.budget != DAILY.budget:
            raise KeyError(account.budget)
        return Budget(DAILY.budget, self.limit, strict=self.strict, safe=self.safe)


@dataclass
class Holder:
    """A lease as its holder sees it. `may` is all that it was ever allowed, `taken` is promised to calls."""

    name: str
    may: int = 0
    used: int = 0
    taken: int = 0
    until: float = 0.0
    safe: int = 0
    asks: int = 0
    sent: list[LeaseAsk] = field(default_factory=list)

    @property
    def free(self) -> int:
        return self.may - self.used - self.taken

    def ask(self, want: int = 0, least: int = 0, release: bool = False) -> LeaseAsk:
        """A new ask, on its way."""
        self.asks += 1
        held = self.may - self.used
        ask = LeaseAsk(DAILY, self.name, f"{self.asks:09}", want, least, self.used, max(0, held), release)
        self.sent.append(ask)
        return ask

    def hear(self, ask: LeaseAsk, answer: LeaseAnswer, sent_at: float) -> None:
        """The answer to the newest ask."""
        if ask is not self.sent[-1]:
            return
        self.may = max(ask.used + answer.granted, self.used + self.taken)
        self.until, self.safe = sent_at + answer.ttl, answer.safe

    def lapse(self, wall: float) -> None:
        """Its own clock says that the lease is over."""
        if wall >= self.until:
            self.may = self.used + self.taken + min(max(0, self.free), self.safe)
            self.safe = 0

    def talk(self, office: LeaseOffice, wall: float, want: int = 0, least: int = 0) -> LeaseAnswer:
        """Asks, and is heard."""
        ask = self.ask(want, least)
        answer = office.ask(ask, wall)
        self.hear(ask, answer, wall)
        return answer

    def spend(self, amount: int) -> None:
        """Makes a call of this cost."""
        assert self.free >= amount
        self.used += amount
