"""What was charged for which call: none is charged twice, and a price that comes late can be put right.

Rule 1: the latest `limit` calls at least, fewer than twice as many at most: two generations, of which the
older is dropped whole. It does not know what a receipt says.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple

from spanfuse_processor.engine.budget import Account, Amounts

PRESUMED: Final = 0
"""The rank of what was reserved for a call when nobody says what it used."""
TOLD: Final = 1
"""The rank of what a call was said to have used; one more for each time that it was put right."""


class Receipt(NamedTuple):
    """What one call was charged, and when.

    Attributes:
        amounts: how much, in every measure.
        accounts: that were charged.
        wall: when.
        unpriced: its price was not known then.
        rank: how sure the amounts are.
        told: rank and amount of each account, where they are not alike; others charge, too.
        leased: accounts that counted the call and were not charged.
    """

    amounts: Amounts
    accounts: tuple[Account, ...]
    wall: float
    unpriced: bool = False
    rank: int = TOLD
    told: tuple[tuple[int, int], ...] = ()
    leased: tuple[Account, ...] = ()

    @property
    def presumed(self) -> bool:
        """Nobody has said yet what the call used."""
        return self.rank == PRESUMED

    def of(self, index: int, measure: int) -> tuple[int, int]:
        """Rank and amount of one of the accounts, whose measure it is."""
        return self.told[index] if self.told else (self.rank, self.amounts[measure])


class Receipts:
    """The latest receipts, by the key of their call.

    >>> receipts = Receipts(2)
    >>> for key in (b"a", b"b", b"c", b"d"):
    ...     receipts.put(key, Receipt(Amounts(5), (), 0.0))
    >>> receipts.get(b"a") is None, receipts.get(b"c").amounts.usd
    (True, 5)
    """

    __slots__ = ("_limit", "_older", "_young")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._young: dict[bytes, Receipt] = {}
        self._older: dict[bytes, Receipt] = {}

    def put(self, key: bytes, receipt: Receipt) -> None:
        """Keeps a receipt, over the one that there is."""
        young = self._young
        young[key] = receipt
        if len(young) >= self._limit:
            self._older, self._young = young, {}

    def get(self, key: bytes) -> Receipt | None:
        """The receipt of a call."""
        return self._young.get(key) or self._older.get(key)

    def since(self, wall: float) -> Iterator[tuple[bytes, Receipt]]:
        """Those of calls charged at `wall` or later, oldest first; where a call is there twice, the later
        one holds."""
        every = chain(self._older.items(), self._young.items())
        return every if wall <= 0 else (each for each in every if each[1].wall >= wall)

    def __len__(self) -> int:
        return len(self._older.keys() | self._young.keys())
