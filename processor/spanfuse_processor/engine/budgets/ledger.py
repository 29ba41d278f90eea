"""The ledger: every account's count, on the path of decisions.

Rule 1: a call is reserved in all strict accounts at once, or in none; it is charged once, to every account
that covers it, whatever comes twice, late, or not at all. Rule 2: everything is O(1) in calls, and bounded.
Rule 3: money that nobody accounts for is spent: a reservation that is not settled in time is charged as it
was reserved, and put right when the call's usage comes. It has no clock, no lock and no disk, and it knows no
reaction: what is done about a balance is decided elsewhere.

Amounts are whole numbers; `wall` is wall time in seconds since the epoch; a call's `key` is its span's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Self

from spanfuse_processor.engine.budget import Account, Amounts, Budget
from spanfuse_processor.engine.budgets import dumps
from spanfuse_processor.engine.budgets.again import PAID, again
from spanfuse_processor.engine.budgets.book import Balance, Closed
from spanfuse_processor.engine.budgets.journal import Change, Entry, Journal
from spanfuse_processor.engine.budgets.receipts import Receipts
from spanfuse_processor.engine.budgets.reservations import HELD, Held, Reservations
from spanfuse_processor.engine.budgets.shelf import BOOKS, Shelf
from spanfuse_processor.engine.budgets.stats import LedgerStats
from spanfuse_processor.engine.budgets.till import NOTHING, Till
from spanfuse_processor.engine.reach import Payer

TTL: Final = 600.0
"""Seconds after which a reservation is taken for that of a dead call."""
REMEMBERED: Final = 65_536
"""Calls whose charges are remembered at least, so that none is charged twice."""


class Ledger:
    """The count of every account of some budgets.

    `journal` is how many entries are kept for `drain` (0: none, where nobody writes them), `books` how many
    accounts are open at a time, `remember` how many calls are remembered at least.
    """

    __slots__ = ("_closed", "_held", "_journal", "_receipts", "_shelf", "_stats", "_till")

    def __init__(
        self,
        budgets: Sequence[Budget],
        wall: float,
        *,
        journal: int = 0,
        books: int = BOOKS,
        remember: int = REMEMBERED,
    ) -> None:
        self._closed: deque[Closed] = deque(maxlen=books)
        self._shelf = Shelf(budgets, self._closed.append, books)
        self._held = Reservations()
        self._receipts, self._journal = Receipts(remember), Journal(journal)
        self._till = Till(self._shelf, self._receipts, self._journal)
        self._stats = LedgerStats()

    def reserve(
        self, key: bytes, payer: Payer, amounts: Amounts, wall: float, ttl: float = TTL
    ) -> Account | None:
        """Promises `amounts` to a call, in every strict account at once.

        Returns None where it is promised, else the account that has no room for it; then nothing is. One
        refuses only what costs it something, where its budget is enforced. Promised twice is promised once.
        """
        if key in self._held:
            return None
        plan = self._shelf.plan(payer, wall)
        for book in plan.strict:
            if wall >= book.end:
                book.turn(wall)
            need = amounts[book.at]
            if need and book.spent + book.reserved + book.granted + need > book.limit and book.refuses:
                self._stats.refused += 1
                return book.account
        if plan.books and self._receipts.get(key) is None:
            self._held.take(key, Held(payer, plan, amounts, wall + ttl))
            if len(self._held) > HELD:
                self.expire(wall)
        return None

    def settle(self, key: bytes, amounts: Amounts, wall: float) -> tuple[Account, ...]:
        """Charges what a reserved call came to, once, and gives back what was reserved. Returns the accounts
        that were charged; none of a call that nothing was reserved for, or that was settled before."""
        held = self._held.release(key)
        if held is None:
            return self._again(key, amounts, wall)
        return self._till.pay(
            Change.SETTLE, key, held.plan, amounts, wall, wall, held.amounts, held.plan.strict
        )

    def cancel(self, key: bytes, wall: float) -> None:
        """Gives back what was reserved for a call that was never made."""
        held = self._held.release(key)
        for book in held.plan.books if held else ():
            self._journal.note(Change.CANCEL, key, book, 0, wall)

    def rename(self, key: bytes, new: bytes) -> None:
        """What was reserved as `key` goes on as `new`: the call has got its span."""
        held = self._held.release(key)
        for book in held.plan.books if held else ():
            self._journal.note(Change.CANCEL, key, book, 0, 0.0)
        if held is not None and new not in self._held and self._receipts.get(new) is None:
            self._held.take(new, held)

    def expire(self, wall: float) -> tuple[bytes, ...]:
        """Charges the reservations of the dead as they were reserved. Returns their keys."""
        keys = self._held.due(wall)
        for key in keys:
            held = self._held.release(key)
            if held is not None:
                plan = held.plan
                self._till.pay(Change.EXPIRE, key, plan, held.amounts, wall, wall, held.amounts, plan.strict)
        self._stats.expired += len(keys)
        return tuple(keys)

    def charge(
        self,
        key: bytes,
        payer: Payer,
        amounts: Amounts,
        wall: float,
        ended: float,
        leased: Collection[str] = (),
        unpriced: bool = False,
    ) -> tuple[Account, ...]:
        """Charges a call that ended at `ended` (wall time): settles it where it was reserved.

        Accounts named in `leased` (`str(account)`) count the call and are charged by `used`. A call that was
        charged before changes nothing, unless that was a presumption. Returns the accounts that were charged.
        """
        held = self._held.release(key)
        if held is not None:
            plan = self._shelf.plan(payer, wall).joined(held.plan)
            reserved, promised, kind = held.amounts, held.plan.strict, Change.SETTLE
        elif self._receipts.get(key) is None:
            plan, reserved, promised, kind = self._shelf.plan(payer, wall), NOTHING, (), Change.CHARGE
        else:
            return self._again(key, amounts, wall)
        return self._till.pay(kind, key, plan, amounts, wall, ended, reserved, promised, leased, unpriced)

    def correct(self, key: bytes, amounts: Amounts, wall: float, guess: bool = False) -> tuple[Account, ...]:
        """Puts right what a call was charged: its price came late, or its usage. A guess takes nothing back.
        Returns the accounts whose spend changed; none of a call that is not remembered."""
        known = self._receipts.get(key)
        return () if known is None else self._till.revise(key, known, amounts, wall, guess)

    def _again(self, key: bytes, amounts: Amounts, wall: float) -> tuple[Account, ...]:
        """A call that was charged before, or never."""
        known = self._receipts.get(key)
        if known is not None and known.presumed:
            return self._till.revise(key, known, amounts, wall)
        self._stats.duplicates += known is not None
        return ()

    def grant(self, account: Account, amount: int, wall: float, lease: bytes = b"") -> int:
        """Promises up to `amount` to a lease, known by its name, as in the next three. Returns how much: what
        is left, where the account refuses. Raises KeyError: the account is of no budget."""
        self._shelf.accounts.budget(account)
        book = self._shelf.open(account, wall)
        book.turn(wall)
        if book.refuses:
            amount = min(amount, max(0, book.limit - book.spent - book.reserved - book.granted))
        book.granted += amount
        self._journal.note(Change.GRANT, lease, book, amount, wall)
        return amount

    def give_back(self, account: Account, amount: int, wall: float, lease: bytes = b"") -> None:
        """Takes back what a lease does not need. Of an account that is no more: nothing."""
        if self._shelf.keeps(account):
            book = self._shelf.open(account, wall)
            book.granted = max(0, book.granted - amount)
            self._journal.note(Change.RETURN, lease, book, amount, wall)

    def used(
        self, account: Account, amount: int, wall: float, held: int | None = None, lease: bytes = b""
    ) -> None:
        """Charges what a lease used, `held` of it granted before (None: as much as all leases hold). Of an
        account that is no more: nothing."""
        if self._shelf.keeps(account):
            book = self._shelf.open(account, wall)
            held = min(amount, book.granted) if held is None else held
            book.use(amount, wall, held)
            self._journal.note(Change.USE, lease, book, amount, wall, 0, 0, amount - held)

    def refund(self, account: Account, amount: int, wall: float, at: float, lease: bytes = b"") -> None:
        """Takes back what a lease was taken to have used at `at`; nothing, when that period is over."""
        if self._shelf.keeps(account):
            book = self._shelf.open(account, wall)
            if less := book.add(-amount, wall, at):
                self._journal.note(Change.REFUND, lease, book, -less, at, at=wall)

    def balance(self, account: Account, wall: float) -> Balance:
        """How an account stands, also one that nothing was charged to.

        Raises:
            KeyError: it is of no budget.
        """
        return self._shelf.look(account, wall).balance(wall)

    def balances(self, wall: float) -> dict[Account, Balance]:
        """How every account stands that something was charged to, or promised of."""
        known = self._shelf.accounts
        return {book.account: book.balance(wall) for book in self._shelf if book.account in known}

    def accounts(self, payer: Payer) -> tuple[Account, ...]:
        """Where calls of `payer` are charged."""
        return self._shelf.accounts.of(payer)

    def budget(self, account: Account) -> Budget:
        """The budget of an account. Raises KeyError: of none."""
        return self._shelf.accounts.budget(account)

    def close(self, wall: float) -> tuple[Closed, ...]:
        """Ends every period that is over. Returns those that ended since the last time, oldest first."""
        if wall >= self._shelf.turns:
            self._shelf.turn(wall)
            self._shelf.tidy(self._held.promised())
        closed = tuple(self._closed)
        self._closed.clear()
        return closed

    def next_deadline(self) -> float:
        """When (wall time) `expire` or `close` has something to do; `inf`: never."""
        return min(self._held.soonest, self._shelf.turns)

    @property
    def stats(self) -> LedgerStats:
        """What happened that no balance says."""
        return replace(self._stats, evicted=self._shelf.evicted, lost=self._journal.lost)

    def drain(self) -> list[Entry]:
        """Every change since the last time, where a journal is kept; see `Entry`."""
        return self._journal.drain()

    def follow(self, entries: Sequence[Entry]) -> tuple[Account, ...]:
        """Counts what another ledger of the same accounts noted, in its order; none of it is noted here.

        A call that both were told of counts once, and what the other's leases hold is promised here, too.
        Returns the accounts whose spend changed.
        """
        if entries:
            self._shelf.make_room(entries[-1].wall)
        for entry in entries if len(self._held) else ():
            if entry.kind in PAID or entry.kind is Change.CANCEL:
                self._held.release(entry.key)
        return again(self._till, entries)

    def adopt(self, other: Ledger, wall: float) -> None:
        """Goes on with what another has promised to calls that are being made."""
        for key, held in other._held:
            if key not in self._held and self._receipts.get(key) is None:
                self._held.take(key, held.among(self._shelf, wall))

    def renew(self, budgets: Sequence[Budget], wall: float) -> None:
        """Goes on with other budgets. What was spent goes over to the account of the same name where it
        still measures the same by the same period and counts apart by the same; what is promised, always. Of
        a budget that is no more it is kept while its period lasts, for when it is there again."""
        books = [dumps.of_book(each) for each in self._shelf]
        self._shelf = self._till.shelf = self._shelf.anew(budgets)
        dumps.fill(self._shelf, books, wall)
        self._held.move(self._shelf, wall)

    def dump(self, since: float = 0.0) -> dict[str, Any]:
        """Everything, as plain data that JSON can hold: with the charges remembered since `since`."""
        return {
            "version": dumps.VERSION,
            "number": self._journal.number,
            "budgets": dumps.of_budgets(self._shelf),
            "books": [dumps.of_book(each) for each in self._shelf],
            "held": [dumps.of_held(*each) for each in self._held],
            "receipts": dumps.of_receipts(self._receipts.since(since)),
        }

    @classmethod
    def load(
        cls,
        budgets: Sequence[Budget],
        dump: Mapping[str, Any],
        wall: float,
        *,
        entries: Iterable[Entry] = (),
        **bounds: int,
    ) -> Self:
        """The ledger that was dumped, and what its journal had after that. `bounds` as for a new one. What
        does not fit the budgets any more is left out, as by `renew`.

        Raises:
            ValueError, KeyError, TypeError: the dump is none.
        """
        ledger = cls(budgets, wall, **bounds)
        dumps.restore(ledger._till, ledger._held, dump, wall, entries)
        return ledger
