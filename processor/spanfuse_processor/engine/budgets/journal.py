"""What changed in the ledger since somebody last asked, to be written behind it.

Rule 1: entries are numbered without a gap, so that a dump and the entries after it are the whole. Rule 2: of
more than `limit` that nobody asked for the oldest are lost and counted; a dump heals that. It does not know
who writes.
"""

from __future__ import annotations

from collections import deque
from enum import StrEnum
from typing import Final, NamedTuple

from spanfuse_processor.engine.budget import Account, Measure
from spanfuse_processor.engine.budgets.book import Book


class Change(StrEnum):
    """Why an amount changed."""

    CHARGE = "charge"  # a call that nothing was reserved for
    SETTLE = "settle"  # a call, instead of what was reserved for it
    EXPIRE = "expire"  # a call that nobody settled, at what was reserved for it
    CORRECT = "correct"  # of a call that was charged before
    LEASED = "leased"  # a call that its lease pays for: it counts, and nothing is charged
    CANCEL = "cancel"  # a reservation that was given back
    GRANT = "grant"  # to a lease
    RETURN = "return"  # from a lease, unused
    USE = "use"  # of a lease
    REFUND = "refund"  # of what a lease was taken to have used


class Entry(NamedTuple):
    """One change of one account.

    Attributes:
        number: counts up by one.
        key: the call's, or the lease's name.
        amount: by how much: what was spent more, granted, given back, used or refunded. In `measure`.
        total: what the call comes to in this measure after it; 0 for leases.
        wall: from when on it counts.
        late, overrun, unpriced: by how much these counts of `Balance` changed.
        rank: of `total`, as in `Receipt`; 0 for leases.
        before: what the call came to in this measure before it was put right.
        at: when it was noted, where that may be later than `wall`.
    """

    number: int
    key: bytes
    account: Account
    amount: int
    measure: Measure
    wall: float
    kind: Change
    total: int = 0
    late: int = 0
    overrun: int = 0
    unpriced: int = 0
    rank: int = 0
    before: int = 0
    at: float = 0.0


_entry: Final = tuple.__new__
"""An entry, a third faster than by its class: this is done for each account of each call."""


class Journal:
    """The latest `limit` entries; none with a limit of 0.

    Attributes:
        number: of the last entry.
        lost: entries that nobody asked for in time.
    """

    __slots__ = ("_entries", "limit", "lost", "number")

    def __init__(self, limit: int) -> None:
        self._entries: deque[Entry] = deque(maxlen=limit)
        self.limit = limit
        self.number = self.lost = 0

    def note(
        self,
        kind: Change,
        key: bytes,
        book: Book,
        amount: int,
        wall: float,
        total: int = 0,
        late: int = 0,
        overrun: int = 0,
        unpriced: int = 0,
        rank: int = 0,
        before: int = 0,
        at: float = 0.0,
    ) -> None:
        """Writes down one change; see `Entry`."""
        if not self.limit:
            return
        self.number += 1
        entries = self._entries
        if len(entries) == self.limit:
            self.lost += 1
        who = self.number, key, book.account, amount, book.budget.measure, wall, kind
        entries.append(_entry(Entry, (*who, total, late, overrun, unpriced, rank, before, at)))

    def drain(self) -> list[Entry]:
        """Hands out every entry since the last time."""
        entries = list(self._entries)
        self._entries.clear()
        return entries
