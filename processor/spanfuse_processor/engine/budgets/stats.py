"""What happened in a ledger that no balance says.

Rule 1: plain counts, since the ledger was made. It does not know who publishes them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class LedgerStats:
    """Counts.

    Attributes:
        refused: reservations that a strict account had no room for.
        expired: reservations that nobody settled in time.
        duplicates: charges that had been charged before.
        evicted: accounts put away before their period was over, as there were too many.
        lost: journal entries that nobody asked for in time.
    """

    refused: int = 0
    expired: int = 0
    duplicates: int = 0
    evicted: int = 0
    lost: int = 0
