"""The purse over the ledger of this process's own judge.

Rule 1: what is taken is reserved in the ledger, under the judge's lock. Rule 2: a reservation goes by the key
of the call's span as soon as there is one, so that the two are one charge, whichever comes first. Rule 3: a
finaliser may end a call while this very thread is inside the judge: then another thread settles. It does not
know what calls cost.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from math import inf
from typing import Final

from spanfuse import reaper
from spanfuse.judge import Judge
from spanfuse.purse import NOTHING, Once, Short, Taken
from spanfuse.room import Room
from spanfuse_processor.engine.alerts import Notice
from spanfuse_processor.engine.budget import Amounts, Budget, Measure
from spanfuse_processor.engine.budgets.accounts import Accounts
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.treasury import Treasury
from spanfuse_processor.engine.verdicts import Mode

Act = Callable[[Treasury, float], tuple[Notice, ...] | None]

_LIFE: Final = os.urandom(8)
_numbers: Final = itertools.count(1)


class OwnPurse:
    """Pays from the ledger of `judge`, for the strict ones of `budgets`."""

    def __init__(self, judge: Judge, budgets: Sequence[Budget]) -> None:
        self.room = Room()
        self.told = True
        self.judge = judge
        self.renew(budgets)

    def renew(self, budgets: Sequence[Budget]) -> None:
        """The budgets are others now; the judge knows already."""
        strict = [each for each in budgets if each.strict and each.mode is Mode.ENFORCE]
        self._accounts = Accounts(strict)
        self.idle = not strict
        if strict:
            reaper.ready()
        self.room.made()

    def wanted(self, payer: Payer) -> frozenset[Measure]:
        """As the contract says."""
        accounts = self._accounts
        covering = accounts.of(payer)
        return frozenset(accounts.budget(each).measure for each in covering) if covering else NOTHING

    def take(self, payer: Payer, amounts: Amounts, waiter: object) -> Taken | Short:
        """As the contract says."""
        key = _LIFE + next(_numbers).to_bytes(8, "big")

        def reserve(treasury: Treasury, wall: float) -> Short | None:
            ledger = treasury.ledger
            account = ledger.reserve(key, payer, amounts, wall)
            if account is None:
                return None
            budget, balance = ledger.budget(account), ledger.balance(account, wall)
            need, left = amounts.of(budget.measure), max(0, balance.limit - balance.spent)
            renews_in = balance.end - wall if wall < balance.end < inf else None
            return Short(
                account, budget.measure, need, left, left >= need, budget.patience,
                limit=balance.limit, renews_in=renews_in,
            )  # fmt: skip

        return self.judge.money(reserve) or _Reserved(self, key, amounts)

    def leave(self, waiter: object) -> None:
        """Nobody needs to know who waits."""


class _Reserved:
    """What one call has reserved."""

    __slots__ = ("_amounts", "_key", "_once", "_purse")

    accounts = ()  # its span is charged as any other

    def __init__(self, purse: OwnPurse, key: bytes, amounts: Amounts) -> None:
        self._purse = purse
        self._key = key
        self._amounts = amounts
        self._once = Once()

    def named(self, key: bytes) -> None:
        """The call has got its span."""
        before, self._key = self._key, key
        self._purse.judge.money(lambda treasury, wall: treasury.ledger.rename(before, key))

    def settle(self, amounts: Amounts) -> None:
        """This is what it came to: at the prices that are known here, for the judge's may be on their way.

        Where no money was taken, the span that ends now settles it.
        """
        if self._once and (self._amounts.usd or amounts.usd):
            self._do(lambda treasury, wall: treasury.settle(self._key, amounts, wall))

    def forfeit(self) -> None:
        """Nobody knows what it came to; its span will find it charged."""
        if self._once:
            self._do(lambda treasury, wall: treasury.settle(self._key, self._amounts, wall))

    def cancel(self) -> None:
        """The call was not made."""
        if self._once:
            self._do(lambda treasury, wall: treasury.ledger.cancel(self._key, wall))

    def _do(self, act: Act) -> None:
        judge, room = self._purse.judge, self._purse.room
        if judge.inside:
            reaper.later(lambda: self._do(act))
            return
        notes = judge.money(act)
        judge.tell(notes or ())
        room.made()
