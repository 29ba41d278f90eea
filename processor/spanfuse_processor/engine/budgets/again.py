"""Doing again what a journal says was done: one's own, after a restart, or another's, while both go on.

Rule 1: a call is charged to an account once, whoever says so first. Rule 2: where two say different things of
a call, what was put right more often holds, of two alike the greater: all who read the same entries, in
whatever order of writers, come to the same. Rule 3: what belongs to a period that is over counts in none that
is now; what leases hold always does. Rule 4: nothing is noted, and nothing refused.

How much of a call was late or an overrun is what one of those said who charged it: of a call that two put
right, or that one took for dead, which one is not promised.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from spanfuse_processor.engine.budget import Account, Amounts
from spanfuse_processor.engine.budgets.book import Book
from spanfuse_processor.engine.budgets.journal import Change, Entry
from spanfuse_processor.engine.budgets.receipts import TOLD, Receipt
from spanfuse_processor.engine.budgets.till import NOTHING, Till

PAID: Final = frozenset({Change.CHARGE, Change.SETTLE, Change.EXPIRE, Change.CORRECT})
"""What is charged to a call."""

Awaited = dict[tuple[bytes, Account], int]
"""What calls came to before they were put right, where their charge is read after that."""


def again(till: Till, entries: Iterable[Entry]) -> tuple[Account, ...]:
    """Does what entries say was done. Returns the accounts whose spend changed."""
    awaited: Awaited = {}
    return tuple(dict.fromkeys(each.account for each in entries if _do(till, each, awaited)))


def _do(till: Till, entry: Entry, awaited: Awaited) -> bool:
    """Whether what is spent changed."""
    if entry.kind is Change.CANCEL or not till.shelf.keeps(entry.account):
        return False
    book = till.shelf.open(entry.account, entry.wall)
    if entry.measure is not book.budget.measure:
        return False
    book.turn(entry.wall)
    if entry.kind in PAID:
        return _pay(till, book, entry, awaited)
    if entry.kind is Change.LEASED:
        return _count(till, book, entry)
    return _lend(book, entry)


def _lend(book: Book, entry: Entry) -> bool:
    """What a lease was granted, gave back, used or was refunded."""
    amount, kind = entry.amount, entry.kind
    if kind is Change.REFUND:
        return _add(book, entry._replace(amount=-amount), 0)
    held = amount if kind is Change.GRANT else entry.overrun - amount
    book.granted = max(0, book.granted + held)
    return kind is Change.USE and _add(book, entry if book.strict else entry._replace(overrun=0), 0)


def _count(till: Till, book: Book, entry: Entry) -> bool:
    """A call that its lease pays for."""
    known = till.receipts.get(entry.key) or Receipt(NOTHING, (), entry.wall)
    if entry.account in known.leased:
        return False
    till.receipts.put(entry.key, known._replace(leased=(*known.leased, entry.account)))
    return _add(book, entry, 1)


def _pay(till: Till, book: Book, entry: Entry, awaited: Awaited) -> bool:
    """What a call was charged, or was put right by."""
    known = till.receipts.get(entry.key) or Receipt(NOTHING, (), entry.wall, entry.unpriced > 0)
    call = entry.key, entry.account
    corrects = entry.kind is Change.CORRECT
    if entry.account not in known.accounts:
        if corrects:
            awaited[call] = entry.before
        till.receipts.put(entry.key, _noted(till, known, book, entry))
        return _add(book, entry, int(not corrects))
    if not corrects and call in awaited:
        return _add(book, entry._replace(amount=awaited.pop(call), unpriced=0), 1)
    rank, total = mine = known.of(known.accounts.index(entry.account), book.at)
    if (entry.rank, entry.total) <= mine:
        return False
    till.receipts.put(entry.key, _noted(till, known, book, entry))
    if mine != (entry.rank - 1, entry.before):
        entry = _other(entry, known, entry.total - total, known.unpriced and rank == TOLD < entry.rank, book)
    return _add(book, entry, 0)


def _other(entry: Entry, known: Receipt, more: int, priced: bool, book: Book) -> Entry:
    """What an entry comes to where something else was charged than its writer knew."""
    overrun = max(0, more) if book.strict else 0
    return entry._replace(amount=more, wall=known.wall, late=0, overrun=overrun, unpriced=-int(priced))


def _add(book: Book, entry: Entry, calls: int) -> bool:
    if _over(book, entry.wall):
        return False
    book.spent += entry.amount
    book.calls += calls
    book.late += entry.late
    book.overrun += entry.overrun
    book.unpriced = max(0, book.unpriced + entry.unpriced)
    book.touched = max(book.touched, entry.wall)
    if book.slots is not None:
        book.insert(entry.amount, calls, entry.wall)
    return entry.amount != 0


def _over(book: Book, wall: float) -> bool:
    """Whether it was in a period that is over. A rolling account forgets by itself."""
    return book.slots is None and wall < book.start


def _noted(till: Till, known: Receipt, book: Book, entry: Entry) -> Receipt:
    """The receipt, with what one account was charged."""
    amounts = known.amounts._replace(**{entry.measure.value: entry.total})
    if not known.accounts:
        return known._replace(amounts=amounts, accounts=(book.account,), rank=entry.rank)
    measures = [_measure(till, account) for account in known.accounts]
    told = {each: known.of(*at) for each, at in zip(known.accounts, enumerate(measures), strict=True)}
    told[book.account] = entry.rank, entry.total
    if book.account not in known.accounts:
        measures.append(book.at)
    alike = all(each == (entry.rank, amounts[at]) for each, at in zip(told.values(), measures, strict=True))
    return known._replace(
        amounts=amounts,
        accounts=tuple(told),
        rank=min(rank for rank, _ in told.values()),
        told=() if alike else tuple(told.values()),
    )


def _measure(till: Till, account: Account) -> int:
    """Where the measure of an account stands in `Amounts`; of a budget that is no more: anywhere."""
    known = till.shelf
    return Amounts._fields.index(known.budget(account).measure.value) if known.keeps(account) else 0
