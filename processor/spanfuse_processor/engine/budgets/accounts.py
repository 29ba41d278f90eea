"""Which accounts a payer's call is charged to.

Rule 1: every budget that covers the payer has one account for it, by the values that it is counted apart by.
Rule 2: a budget that counts by what is not known of a call does not cover it. Rule 3: answers are kept,
within bounds, by those fields of a payer that any budget asks for. It does not know amounts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Final

from spanfuse_processor.engine.budget import Account, Budget, Period
from spanfuse_processor.engine.reach import PAYER_FIELDS, Payer

KEPT: Final = 4_096
"""Payers whose accounts are kept; then all are forgotten and found anew."""

Asked = Callable[[Payer], Hashable]


def counted_by(budget: Budget) -> tuple[str, ...]:
    """The fields of a payer by which `budget` is counted apart; what is for runs is counted by run too."""
    by_run = budget.period is Period.RUN and "run" not in budget.per
    return (*budget.per, "run") if by_run else budget.per


def account_of(budget: Budget, payer: Payer) -> Account | None:
    """The account of `budget` that a call of `payer` is charged to; None: it does not cover the call.

    >>> account_of(Budget("each", 1, per=("user",)), Payer(user="ann", model="gpt-4o"))
    Account(budget='each', values=('ann',))
    >>> account_of(Budget("each", 1, per=("user",)), Payer(model="gpt-4o")) is None
    True
    """
    values = tuple(getattr(payer, name) for name in counted_by(budget))
    return Account(budget.name, values) if all(values) and budget.reach.covers(payer) else None


class Accounts:
    """The accounts of some budgets.

    Attributes:
        budgets: what they are of.
        asked: the part of a payer that decides on its accounts, to keep something by.
    """

    __slots__ = ("_budgets", "_known", "asked", "budgets")

    def __init__(self, budgets: Sequence[Budget]) -> None:
        self.budgets = tuple(budgets)
        self._budgets = {each.name: each for each in budgets}
        self._known: dict[Hashable, tuple[Account, ...]] = {}
        self.asked = _asked(budgets)

    def of(self, payer: Payer) -> tuple[Account, ...]:
        """Where a call of `payer` is charged, in the order of the budgets."""
        key = self.asked(payer)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            found = (account_of(each, payer) for each in self._budgets.values())
            known = self._known[key] = tuple(each for each in found if each is not None)
        return known

    def budget(self, account: Account) -> Budget:
        """The budget of an account. Raises KeyError: there is none (any more)."""
        return self._budgets[account.budget]

    def __contains__(self, account: Account) -> bool:
        budget = self._budgets.get(account.budget)
        return budget is not None and len(counted_by(budget)) == len(account.values)


def _asked(budgets: Sequence[Budget]) -> Asked:
    names = {name for each in budgets for name in counted_by(each)}
    names |= {name for each in budgets for name in PAYER_FIELDS if getattr(each.reach, name)}
    at = [PAYER_FIELDS.index(name) for name in PAYER_FIELDS if name in names]
    return itemgetter(*at) if at else lambda payer: ()
