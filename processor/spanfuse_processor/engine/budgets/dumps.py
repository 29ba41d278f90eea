"""A ledger as plain data, and back.

Rule 1: only what JSON can hold. Rule 2: what is promised is not in the books but follows from reservations;
what leases hold is. Rule 3: a book is filled only where its budget still counts the same: in the same
measure, by the same period, apart by the same; a period that was moved keeps what was spent in it while it
would not be over. Rule 4: entries that the dump has already change nothing. Rule 5: what budgets count by is
in it, for the books of those that are no more when it is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure, Period
from spanfuse_processor.engine.budgets.accounts import counted_by
from spanfuse_processor.engine.budgets.again import again
from spanfuse_processor.engine.budgets.book import Book
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.budgets.periods import window_of
from spanfuse_processor.engine.budgets.receipts import Receipt
from spanfuse_processor.engine.budgets.reservations import Held, Reservations
from spanfuse_processor.engine.budgets.shelf import Shelf
from spanfuse_processor.engine.budgets.till import Till
from spanfuse_processor.engine.reach import Payer

VERSION: Final = 1
COUNTS: Final = ("spent", "calls", "late", "unpriced", "overrun")
_CALENDAR: Final = ("zone", "reset", "weekday", "day", "window", "strict")
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


def of_budgets(shelf: Shelf) -> list[Plain]:
    """What the budgets of a shelf count by, the former ones' too."""
    return [_of_budget(each) for each in (*shelf.former.values(), *shelf.accounts.budgets)]


def _of_budget(budget: Budget) -> Plain:
    plain = {"name": budget.name, "limit": budget.limit, "per": list(budget.per)}
    counts = {"measure": budget.measure.value, "period": budget.period.value}
    return plain | counts | {name: getattr(budget, name) for name in _CALENDAR}


def _budget(plain: Mapping[str, Any]) -> Budget:
    return Budget(
        plain["name"],
        plain["limit"],
        Measure(plain["measure"]),
        Period(plain["period"]),
        per=tuple(plain["per"]),
        **{name: plain[name] for name in _CALENDAR},
    )


def of_held(key: bytes, held: Held) -> Plain:
    """One reservation."""
    return {
        "key": key.hex(),
        "payer": list(held.payer),
        "amounts": list(held.amounts),
        "deadline": held.deadline,
        "strict": [_of_account(each) for each in held.strict],
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
        "leased": [where.setdefault(id(row.leased), len(where)) for row in rows],
        "walls": [row.wall for row in rows],
        "unpriced": [int(row.unpriced) for row in rows],
        "ranks": [row.rank for row in rows],
        "told": {number: row.told for number, row in enumerate(rows) if row.told},
    }
    shared = {id(each): each for row in rows for each in (row.accounts, row.leased)}
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
        if not shelf.keeps(account):
            continue
        budget = shelf.budget(account)
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
    till.shelf.remember(map(_budget, dump.get("budgets", ())))
    fill(till.shelf, dump["books"], wall)
    for key, receipt in _receipts(dump["receipts"]):
        till.receipts.put(key, receipt)
    standing = {bytes.fromhex(each["key"]): each for each in dump["held"]}
    fresh = [each for each in entries if each.number > till.journal.number]
    again(till, fresh)
    for entry in fresh:
        till.journal.number = entry.number
        standing.pop(entry.key, None)
    for key, each in standing.items():
        payer = Payer(*each["payer"])
        plan = till.shelf.standing(payer, [*map(_account, each.get("strict", ()))], wall)
        held.take(key, Held(payer, plan, Amounts(*each["amounts"]), each["deadline"]))


def _receipts(plain: Mapping[str, Any]) -> Iterator[tuple[bytes, Receipt]]:
    accounts = [tuple(_account(each) for each in known) for known in plain["accounts"]]
    amounts = iter(plain["amounts"])
    told = {int(number): tuple(map(tuple, each)) for number, each in plain["told"].items()}
    columns = [plain[name] for name in ("keys", "where", "leased", "walls", "unpriced", "ranks")]
    for number, (key, where, leased, wall, unpriced, rank) in enumerate(zip(*columns, strict=True)):
        each = Amounts(next(amounts), next(amounts), next(amounts))
        yield (
            bytes.fromhex(key),
            Receipt(
                each, accounts[where], wall, bool(unpriced), rank, told.get(number, ()), accounts[leased]
            ),
        )
