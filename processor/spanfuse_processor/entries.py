"""Ledger entries as lines of text, for stores that keep them so.

Rule: a line is a JSON array in the order of the fields, ASCII only, so that no database refuses it; fields
that a later version appends are not read, those that an earlier one did not have are as by default.
"""

from __future__ import annotations

import json
from typing import Final

from spanfuse_processor.engine.budget import Account, Measure
from spanfuse_processor.engine.budgets.journal import Change, Entry

_MORE: Final = len(Entry._fields) - 7
"""Fields after those that every line has."""


def line_of(entry: Entry) -> str:
    """The line of an entry."""
    number, key, account, *rest = entry
    return json.dumps([number, key.hex(), [account.budget, *account.values], *rest], separators=(",", ":"))


def entry_of(line: str) -> Entry:
    """The entry of a line.

    >>> made = Entry(7, b"span", Account("daily", ("ann",)), 5, Measure.USD, 1.5, Change.CHARGE, total=5)
    >>> entry_of(line_of(made)) == made
    True
    """
    number, key, (budget, *values), amount, measure, wall, kind, *more = json.loads(line)
    account = Account(budget, tuple(values))
    told = (number, bytes.fromhex(key), account, amount, Measure(measure), wall, Change(kind))
    return Entry(*told, *more[:_MORE])
