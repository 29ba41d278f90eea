"""A ledger as plain data, and back.

Rule 1: only what JSON can hold. Rule 2: what is promised is not in the books but follows from reservations;
what leases hold is. Rule 3: a book is filled only where its budget still counts the same: in the same
measure, by the same period, apart by the same; a period that was moved keeps what was spent in it while it
would not be over. Rule 4: entries that the dump has already change nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from spanfuse_processor.engine.budget import Account, Amounts
from spanfuse_processor.engine.budgets.accounts import counted_by
from spanfuse_processor.engine.budgets.book import Book
from spanfuse_processor.engine.budgets.journal import Change, Entry
from spanfuse_processor.engine.budgets.periods import window_of
from spanfuse_processor.engine.budgets.receipts import Receipt, Receipts
from spanfuse_processor.engine.budgets.reservations import Held, Reservations
from spanfuse_processor.engine.budgets.shelf import Shelf
from spanfuse_processor.engine.budgets.till import Till
from spanfuse_processor.engine.reach import Payer

VERSION: Final = 1
COUNTS: Final = ("spent", "calls", "late", "unpriced", "overrun")
Plain = dict[str, Any]


def of_book(book: Book) -> Plain:
    """One book."""
    counts = {name: getattr(book, name) for name in COUNTS}
    window = () if book.slots is not None else (book.start, None if math.isinf(book.end) else book.end)
    return counts | {
        "account": _of_account(book.account),
        "counted": [book.budget.measure.value, book.budget.period.value, *counted_by(book.budget)],
        "granted": book.granted,
        "window": list(window),
        "slots": [[number * book.width, amount, calls] for number, amount, calls in book.slots or ()],
        "touched": book.touched,
    }


def of_held(key: bytes, held: Held) -> Plain:
    """One reservation."""
    return {
        "key": key.hex(),
        "payer": list(held.payer),
        "amounts": list(held.amounts),
        "deadline": held.deadline,
    }


def of_receipts(receipts: Iterable[tuple[bytes, Receipt]]) -> Plain:
    """All receipts, column by column: they are many, and the ledger stands still meanwhile."""
    pairs = list(receipts)
    rows = [receipt for _, receipt in pairs]
    where: dict[int, int] = {}  # those of one payer share their accounts: one tuple, one number
    columns = {
        "keys": [key.hex() for key, _ in pairs],
        "amounts": [amount for row in rows for amount in row.amounts],
        "where": [where.setdefault(id(row.accounts), len(where)) for row in rows],
        "walls": [row.wall for row in rows],
        "flags": [row.unpriced + 2 * row.presumed for row in rows],
    }
    shared = {id(row.accounts): row.accounts for row in rows}
    return columns | {"accounts": [[_of_account(each) for each in shared[known]] for known in where]}


def _of_account(account: Account) -> list[Any]:
    return [account.budget, list(account.values)]


def _account(plain: Any) -> Account:
    budget, values = plain
    return Account(budget, tuple(values))


def fill(shelf: Shelf, books: Iterable[Mapping[str, Any]], wall: float) -> None:
    """Opens the books that fit the budgets of `shelf`, as they were."""
    for plain in books:
        account = _account(plain["account"])
        if account not in shelf.accounts:
            continue
        budget = shelf.accounts.budget(account)
        measure, period, *apart = plain["counted"]
        if measure == budget.measure.value and apart == list(counted_by(budget)):
            book = shelf.open(account, wall)
            book.granted = plain["granted"]
            if period == budget.period.value:
                _fill(book, plain, wall)
                shelf.turns = min(shelf.turns, book.end)


def _fill(book: Book, plain: Mapping[str, Any], wall: float) -> None:
    if book.slots is None:
        start, end = plain["window"][0], plain["window"][1] or math.inf
        if window_of(book.budget, start) == (start, end):
            book.start, book.end = start, end
        elif end <= wall:
            return
    for name in COUNTS:
        setattr(book, name, plain[name])
    book.touched = plain["touched"]
    for at, amount, calls in plain["slots"]:
        book.put(amount, calls, at)


def restore(
    till: Till, held: Reservations, dump: Mapping[str, Any], wall: float, entries: Iterable[Entry]
) -> None:
    """Fills an empty ledger's parts with what was dumped, and with the entries after it.

    Raises:
        ValueError: the dump is of another version.
    """
    if dump["version"] != VERSION:
        raise ValueError(f"a ledger of version {dump['version']!r}, not {VERSION}")
    till.journal.number = dump["number"]
    fill(till.shelf, dump["books"], wall)
    for key, receipt in _receipts(dump["receipts"]):
        till.receipts.put(key, receipt)
    standing = {bytes.fromhex(each["key"]): each for each in dump["held"]}
    for entry in entries:
        if entry.number > till.journal.number:
            till.journal.number = entry.number
            _again(till, entry)
            standing.pop(entry.key, None)
    for key, each in standing.items():
        payer = Payer(*each["payer"])
        plan = till.shelf.plan(payer, wall)
        held.take(key, Held(payer, plan, Amounts(*each["amounts"]), each["deadline"]))


def _receipts(plain: Mapping[str, Any]) -> Iterator[tuple[bytes, Receipt]]:
    accounts = [tuple(_account(each) for each in known) for known in plain["accounts"]]
    amounts = iter(plain["amounts"])
    rows = zip(plain["keys"], plain["where"], plain["walls"], plain["flags"], strict=True)
    for key, where, wall, flags in rows:
        each = Amounts(next(amounts), next(amounts), next(amounts))
        yield bytes.fromhex(key), Receipt(each, accounts[where], wall, bool(flags & 1), bool(flags & 2))


def _again(till: Till, entry: Entry) -> None:
    """Does what an entry says was done."""
    if entry.kind is Change.CANCEL or entry.account not in till.shelf.accounts:
        return
    book = till.shelf.open(entry.account, entry.wall)
    if entry.measure is not book.budget.measure:
        return
    book.turn(entry.wall)
    if entry.kind in (Change.GRANT, Change.RETURN):
        sign = 1 if entry.kind is Change.GRANT else -1
        book.granted = max(0, book.granted + sign * entry.amount)
    elif entry.kind is Change.USE:
        book.use(entry.amount, entry.wall, entry.amount - entry.overrun)
    elif entry.kind is Change.REFUND:
        book.add(-entry.amount, entry.wall, entry.wall)
    elif entry.kind is Change.LEASED:
        book.count(entry.wall)
    else:
        _pay_again(book, entry)
        _note_again(till.receipts, entry)


def _pay_again(book: Book, entry: Entry) -> None:
    calls = int(entry.kind is not Change.CORRECT)
    book.spent += entry.amount
    book.calls += calls
    book.late += entry.late
    book.overrun += entry.overrun
    book.unpriced += entry.unpriced
    book.touched = entry.wall
    if book.slots is not None:
        book.put(entry.amount, calls, entry.wall)


def _note_again(receipts: Receipts, entry: Entry) -> None:
    """Adds what one account was charged to the receipt of its call."""
    known = receipts.get(entry.key)
    at = {entry.measure.value: entry.total}
    if known is None:
        presumed = entry.kind is Change.EXPIRE
        receipt = Receipt(
            Amounts(0, 0, 0)._replace(**at), (entry.account,), entry.wall, entry.unpriced > 0, presumed
        )
    else:
        accounts = known.accounts if entry.account in known.accounts else (*known.accounts, entry.account)
        receipt = known._replace(amounts=known.amounts._replace(**at), accounts=accounts)
        if entry.kind is Change.CORRECT:
            receipt = receipt._replace(presumed=False, unpriced=False)
    receipts.put(entry.key, receipt)
