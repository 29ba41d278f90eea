"""The books that are open, by account, and which of them a payer's call is written into.

Rule 1: a book is opened by the first call that is charged to it. Rule 2: of more than `limit` books an eighth
is put away at once: those whose period is over, then those that were not charged for longest; never one that
something is promised of. Rule 3: what a payer's calls are written into is found once and kept, until books
are put away. Rule 4: the books of a former budget stay open while their period lasts: nothing new is
charged to them, and should it come back, what was spent is spent still. It does not know calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from spanfuse_processor.engine.budget import Account, Budget
from spanfuse_processor.engine.budgets.accounts import KEPT, Accounts, counted_by
from spanfuse_processor.engine.budgets.book import Book, Closed
from spanfuse_processor.engine.reach import Payer

BOOKS: Final = 100_000
"""Books that are open at a time, unless told otherwise."""
FORMER: Final = 1_000
"""Budgets that are no more and are remembered; of more, those that were given up first are forgotten."""


class Plan(NamedTuple):
    """What the calls of one payer are written into: all books, the strict ones, and what they are of."""

    books: tuple[Book, ...] = ()
    strict: tuple[Book, ...] = ()
    accounts: tuple[Account, ...] = ()

    def joined(self, promised: Plan) -> Plan:
        """What a call is written into: what its span says, and every strict book that admitted it."""
        more = [each for each in promised.strict if each not in self.books]
        if not more:
            return self
        books = (*self.books, *more)
        return Plan(books, (*self.strict, *more), tuple(each.account for each in books))


class Shelf:
    """The open books of some budgets.

    Attributes:
        accounts: who is charged.
        evicted: books put away before their period was over.
        former: budgets that are no more, by name.
        turns: when the next period of any is over.
    """

    __slots__ = ("_books", "_closed", "_limit", "_plans", "accounts", "evicted", "former", "turns")

    def __init__(self, budgets: Sequence[Budget], closed: Callable[[Closed], object], limit: int) -> None:
        self.accounts = Accounts(budgets)
        self.evicted = 0
        self.former: dict[str, Budget] = {}
        self.turns = math.inf
        self._books: dict[Account, Book] = {}
        self._plans: dict[Hashable, Plan] = {}
        self._closed = closed
        self._limit = limit

    def plan(self, payer: Payer, wall: float) -> Plan:
        """What a call of `payer` is written into."""
        key = self.accounts.asked(payer)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= KEPT:
                self._plans.clear()
            plan = self._found(self.accounts.of(payer), wall)
            self._plans[key] = plan
        return plan

    def _found(self, accounts: tuple[Account, ...], wall: float) -> Plan:
        self.make_room(wall, len(accounts))
        books = tuple(self.open(account, wall) for account in accounts)
        return Plan(books, tuple(each for each in books if each.strict), accounts)

    def standing(self, payer: Payer, promised: Sequence[Account], wall: float) -> Plan:
        """What a call is written into that was promised something of `promised` before budgets changed: of
        those that are no more, it is charged to them still."""
        plan = self.plan(payer, wall)
        gone = [each for each in promised if each.budget in self.former and self.keeps(each)]
        return plan.joined(Plan(strict=tuple(self.open(each, wall) for each in gone))) if gone else plan

    def keeps(self, account: Account) -> bool:
        """Whether an account is of a budget, or of a former one."""
        former = self.former.get(account.budget)
        return account in self.accounts or (
            former is not None and len(counted_by(former)) == len(account.values)
        )

    def budget(self, account: Account) -> Budget:
        """The budget of an account, or what it was. Raises KeyError: of none."""
        return self.former.get(account.budget) or self.accounts.budget(account)

    def open(self, account: Account, wall: float) -> Book:
        """The book of an account, also of a former budget. Raises KeyError: of none."""
        book = self._books.get(account)
        if book is None:
            budget = self.budget(account)
            book = self._books[account] = Book(account, budget, wall, self._closed)
            self.turns = min(self.turns, book.end)
        return book

    def look(self, account: Account, wall: float) -> Book:
        """The book of an account, or an empty one that is not kept. Raises KeyError: of no budget."""
        budget, book = self.accounts.budget(account), self._books.get(account)
        return Book(account, budget, wall, self._closed) if book is None else book

    def anew(self, budgets: Sequence[Budget]) -> Shelf:
        """An empty shelf for other budgets, like this one otherwise."""
        shelf = Shelf(budgets, self._closed, self._limit)
        shelf.evicted = self.evicted
        shelf.remember([*self.former.values(), *self.accounts.budgets])
        return shelf

    def remember(self, budgets: Iterable[Budget]) -> None:
        """Of budgets that there were, those that are no more are former ones; a newer one of a name holds."""
        now = {each.name for each in self.accounts.budgets}
        former = {each.name: each for each in budgets if each.name not in now}
        self.former = dict([*former.items()][-FORMER:])

    def make_room(self, wall: float, more: int = 0) -> None:
        """Puts books away, where there are too many with so many more."""
        if len(self._books) + more > self._limit:
            self._put_away(wall)

    def _put_away(self, wall: float) -> None:
        free = [each for each in self._books.values() if not each.reserved and not each.granted]
        free.sort(key=lambda each: (wall < each.end, each.touched))
        for book in free[: max(1, self._limit // 8)]:
            self.evicted += wall < book.end
            book.turn(wall)
            del self._books[book.account]
        self._plans.clear()

    def turn(self, wall: float) -> None:
        """Closes every period that is over."""
        if wall < self.turns:
            return
        for book in self._books.values():
            book.turn(wall)
        calendar = (each.end for each in self._books.values() if each.slots is None)
        self.turns = min(calendar, default=math.inf)

    def tidy(self, promised: Container[Account]) -> None:
        """Forgets the books of former budgets that count nothing any more, but of what is promised."""
        for book in [each for each in self._books.values() if each.account.budget in self.former]:
            idle = book.slots is None and not (book.calls or book.spent or book.reserved or book.granted)
            if idle and book.account not in promised:
                del self._books[book.account]

    def __iter__(self) -> Iterator[Book]:
        return iter(self._books.values())

    def __len__(self) -> int:
        return len(self._books)
