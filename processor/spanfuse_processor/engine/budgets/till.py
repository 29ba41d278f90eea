"""Where calls are charged: each once, into the books that cover it, with a receipt.

Rule 1: a receipt says what a call was charged, so that a duplicate changes nothing and a correction changes
the difference. Rule 2: a correction never makes a period's spend negative, and takes nothing from a period
that is over. Rule 3: what changes is noted in the journal, where one is kept. It does not know reservations
but by what was given back of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from spanfuse_processor.engine.budget import Account, Amounts
from spanfuse_processor.engine.budgets.book import Book
from spanfuse_processor.engine.budgets.journal import Change, Journal
from spanfuse_processor.engine.budgets.receipts import PRESUMED, TOLD, Receipt, Receipts
from spanfuse_processor.engine.budgets.shelf import Plan, Shelf

NOTHING: Final = Amounts(0, 0, 0)


class Till:
    """Charges into the books of a shelf.

    Attributes:
        shelf: where the books are; another when budgets change.
        receipts, journal: what is kept of charges.
    """

    __slots__ = ("journal", "receipts", "shelf")

    def __init__(self, shelf: Shelf, receipts: Receipts, journal: Journal) -> None:
        self.shelf, self.receipts, self.journal = shelf, receipts, journal

    def pay(
        self,
        kind: Change,
        key: bytes,
        plan: Plan,
        amounts: Amounts,
        wall: float,
        ended: float,
        reserved: Amounts = NOTHING,
        promised: tuple[Book, ...] = (),
        leased: Collection[str] = (),
        unpriced: bool = False,
    ) -> tuple[Account, ...]:
        """Charges a call that ended at `ended`; of the books in `promised`, `reserved` was given back."""
        books, accounts = plan.books, plan.accounts
        if not books:
            return ()
        if leased:
            books = tuple(each for each in books if not self._leased(each, leased, key, wall))
            accounts = tuple(each.account for each in books)
        noted = self.journal.limit > 0
        rank = PRESUMED if kind is Change.EXPIRE else TOLD
        for book in books:
            at = book.at
            before = reserved[at] if promised and book in promised else 0
            if noted:
                self._spend_noted(kind, key, book, amounts[at], wall, ended, before, int(unpriced), rank)
            else:
                book.spend(amounts[at], wall, ended, before)
                if unpriced:
                    book.unpriced += 1
        counted = tuple(each for each in plan.accounts if each not in accounts) if leased else ()
        self.receipts.put(key, Receipt(amounts, accounts, wall, unpriced, rank, (), counted))
        return accounts

    def _spend_noted(
        self,
        kind: Change,
        key: bytes,
        book: Book,
        amount: int,
        wall: float,
        ended: float,
        before: int,
        unpriced: int,
        rank: int,
    ) -> None:
        book.turn(wall)
        late, overrun = book.late, book.overrun
        book.spend(amount, wall, ended, before)
        book.unpriced += unpriced
        late, overrun = book.late - late, book.overrun - overrun
        self.journal.note(kind, key, book, amount, wall, amount, late, overrun, unpriced, rank)

    def _leased(self, book: Book, leased: Collection[str], key: bytes, wall: float) -> bool:
        """Whether a lease pays: then the call is counted, and the lease charged when its use is told."""
        if book.name not in leased:
            return False
        book.turn(wall)
        book.count(wall)
        self.journal.note(Change.LEASED, key, book, 0, wall)
        return True

    def revise(
        self, key: bytes, known: Receipt, amounts: Amounts, wall: float, guess: bool = False
    ) -> tuple[Account, ...]:
        """Charges the difference to what is known of a call; a guess takes nothing back. Returns the accounts
        whose spend changed."""
        changed = []
        if guess:
            amounts = Amounts(*map(max, amounts, known.amounts))
        rank = 1 + max([known.rank, *(rank for rank, _ in known.told)])
        for index, account in enumerate(known.accounts):
            if not self.shelf.keeps(account):
                continue  # a budget that is long gone
            book = self.shelf.open(account, wall)
            book.turn(wall)
            late, overrun, unpriced = book.late, book.overrun, book.unpriced
            at = book.at
            then, before = known.of(index, at)
            amount = book.add(amounts[at] - before, wall, known.wall)
            if known.unpriced and then == TOLD and known.wall >= book.start:
                book.unpriced = max(0, unpriced - 1)
            counts = (book.late - late, book.overrun - overrun, book.unpriced - unpriced)
            counted = wall if counts[0] else known.wall
            told = (*counts, rank, before, wall)
            self.journal.note(Change.CORRECT, key, book, amount, counted, amounts[at], *told)
            if amount:
                changed.append(account)
        self.receipts.put(key, Receipt(amounts, known.accounts, known.wall, rank=rank, leased=known.leased))
        return tuple(changed)
