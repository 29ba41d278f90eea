"""What a ledger has of budgets that no configuration names: how they stand, with no limit known.

Rule 1: what was charged is shown, whoever's configuration is read: a ledger is never taken for an empty one.
Rule 2: counting is the ledger's, by a stand-in for each budget, which says no more than the ledger does.
Rule 3: a period that is over counts no more; where none is known, all that the ledger has counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanfuse_processor.control.accounts import show_account
from spanfuse_processor.engine.budget import Account, Budget, Measure, Period
from spanfuse_processor.engine.budgets.accounts import counted_by
from spanfuse_processor.engine.budgets.journal import Change, Entry
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import PAYER_FIELDS
from spanfuse_processor.engine.treasury import Treasury

ENDLESS: Final = 36_525 * 86_400.0
"""Seconds of a window that nothing falls out of."""


class _Shape(NamedTuple):
    """What accounts of one budget have in common. `per` is a guess where only entries tell of them."""

    budget: str
    measure: str
    per: tuple[str, ...]

    def has(self, account: Account, measure: str) -> bool:
        return (account.budget, len(account.values), measure) == (self.budget, len(self.per), self.measure)


def unconfigured(
    budgets: Sequence[Budget], dump: Mapping[str, Any], entries: Sequence[Entry], wall: float
) -> list[dict[str, Any]]:
    """The accounts that no budget counts, as `show_account` has them: their limit, share and what is left
    are null, as is a period that is not known, and `configured` is False."""
    rows = []
    for shape in _shapes(dump, entries):
        if not any(_counts(budget, shape) for budget in budgets):
            rows += _rows(shape, dump, entries, wall)
    return rows


def _shapes(dump: Mapping[str, Any], entries: Sequence[Entry]) -> list[_Shape]:
    found: dict[tuple[str, str, int], _Shape] = {}
    for book in dump["books"]:
        measure, _, *apart = book["counted"]
        shape = _Shape(book["account"][0], measure, tuple(apart))
        found.setdefault((shape.budget, measure, len(apart)), shape)
    for entry in entries:
        values = len(entry.account.values)
        if entry.kind is not Change.CANCEL:
            key = (entry.account.budget, entry.measure.value, values)
            found.setdefault(key, _Shape(*key[:2], PAYER_FIELDS[:values]))
    return list(found.values())


def _counts(budget: Budget, shape: _Shape) -> bool:
    by = len(counted_by(budget)), budget.measure.value
    return budget.name == shape.budget and by == (len(shape.per), shape.measure)


def _rows(
    shape: _Shape, dump: Mapping[str, Any], entries: Sequence[Entry], wall: float
) -> list[dict[str, Any]]:
    books = {
        Account(book["account"][0], tuple(book["account"][1])): book
        for book in dump["books"]
        if shape.has(Account(book["account"][0], tuple(book["account"][1])), book["counted"][0])
    }
    since = {account: _closed(book, wall) for account, book in books.items()}
    standin = Budget(
        shape.budget, 1, Measure(shape.measure), Period.ROLLING, per=shape.per, window=ENDLESS, marks=()
    )
    ledger = Ledger.load(
        [standin],
        {
            **dump,
            "books": [_rolling(book) for account, book in books.items() if not since[account]],
            "held": [],
        },
        wall,
        entries=[each for each in entries if each.wall >= since.get(each.account, 0.0)],
    )
    views = Treasury([standin], wall, ledger).views(wall)
    return [_row(show_account(view, wall), books.get(view.account), wall) for view in views]


def _closed(book: Mapping[str, Any], wall: float) -> float:
    """When the period of a book was over; 0: it is not, or it is not known to end."""
    _, end = book["window"] or (0.0, None)
    return end if end is not None and end <= wall else 0.0


def _rolling(book: Mapping[str, Any]) -> dict[str, Any]:
    """A book as that of its stand-in."""
    measure, _, *apart = book["counted"]
    slots = book["slots"] or [[book["touched"], book["spent"], book["calls"]]]
    return {**book, "counted": [measure, Period.ROLLING.value, *apart], "window": [], "slots": slots}


def _row(row: dict[str, Any], book: Mapping[str, Any] | None, wall: float) -> dict[str, Any]:
    start, end = (book["window"] if book else None) or (None, None)
    now = end is None or end > wall
    unknown = dict.fromkeys(("limit", "left", "share", "mode", "strict"))
    return {
        **row,
        **unknown,
        "period": book["counted"][1] if book else None,
        "values": row["values"] if book else {},
        "start": start if now else None,
        "end": end if now else None,
        "resets_in_seconds": end - wall if end is not None and math.isfinite(end) and now else None,
        "configured": False,
    }
