"""A purse of leases, its clock, and a processor that answers when the test says so."""

from __future__ import annotations

from tests.engine.budgets.leasing import OneNumber
from tests.library.making import Clock

from spanfuse.board import Board
from spanfuse.purse import Short, Taken
from spanfuse.purses.leased import LeasedPurse
from spanfuse_processor.engine.budget import Account, Amounts, Budget
from spanfuse_processor.engine.budgets.leases import LeaseAsk
from spanfuse_processor.engine.budgets.leasing import LeaseOffice
from spanfuse_processor.engine.budgets.requirements import requirement
from spanfuse_processor.engine.reach import Payer

DAILY = Account("daily")
BUDGET = Budget("daily", 1_000, strict=True)
ANN = Payer(user="ann", model="gpt-4o")


class Lent:
    """A purse, its clock, and a processor that answers when the test says so."""

    def __init__(self, *budgets: Budget, limit: int = 1_000, safe: int = 0, clean: bool = True) -> None:
        self.clock = Clock()
        self.board = Board(self.clock)
        self.rings = 0
        self.till = OneNumber(limit, safe=safe)
        self.office = LeaseOffice(self.till, self.clock(), clean=clean)
        for number, budget in enumerate(budgets or (BUDGET,)):
            self.board.post(requirement(budget, number + 1))
        self.purse = LeasedPurse(self.board, self._ring)

    def _ring(self) -> None:
        self.rings += 1

    def talk(self) -> list[LeaseAsk]:
        """What is due is asked, and answered."""
        due = self.purse.due()
        for pool, ask in due:
            self.purse.heard(pool, ask, self.office.ask(ask, self.clock()), self.clock())
        return [ask for _, ask in due]

    def take(self, amount: int, waiter: object | None = None) -> Taken | Short:
        return self.purse.take(ANN, Amounts(usd=amount), waiter or object())

    def taken(self, amount: int) -> Taken:
        """Takes, after having asked where it must."""
        waiter = object()
        first = self.take(amount, waiter)
        if isinstance(first, Short):
            self.talk()
            first = self.take(amount, waiter)
        assert not isinstance(first, Short), first
        return first
