"""What is said about a lease: an ask, its answer, and what the office knows of the holder.

Rule 1: amounts are in the measure of the account. Rule 2: what is told from outside is bounded when it is
read, not here. It does not know what an account has left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from spanfuse_processor.engine.budget import Account
from spanfuse_processor.engine.budgets.journal import Change, Entry
from spanfuse_processor.engine.verdicts import OnExpiry

MEASURED: Final = 1.0
"""Seconds over which use is measured, at least."""
OF_LEASES: Final = frozenset({Change.GRANT, Change.RETURN, Change.USE, Change.REFUND})
"""What the ledger's journal tells of leases."""
SMOOTHING: Final = 0.5
"""How much the newest measurement counts."""


class Result(StrEnum):
    """What came of what was wanted."""

    GRANTED = "granted"  # all of it, or nothing was wanted
    PARTIAL = "partial"
    DENIED = "denied"  # less than is of use; ask again after `refresh_after`


@dataclass(frozen=True, slots=True)
class LeaseAsk:
    """What a holder tells and wants.

    `lease` is its own name for the lease, new for each life of the holder. `request` grows, as text, with
    each ask of the lease; the same again is the same ask. `want` is how much more it needs now, and `least`
    how much of that is of use at all (0: all of it). `used` is what the lease has spent since it began, and
    `held` what the holder may still spend, promised to calls or not. `release`: it holds nothing from now on.
    """

    account: Account
    lease: str
    request: str = ""
    want: int = 0
    least: int = 0
    used: int = 0
    held: int = 0
    release: bool = False


@dataclass(frozen=True, slots=True)
class LeaseAnswer:
    """What the holder holds from now on.

    `granted` is what it may spend beyond the `used` that it told: less than it holds means that it should
    give up what it can spare. `remaining` is what the account has not spent, whoever holds it. After `ttl`
    seconds without an answer the lease is over, but for `safe` of it; `refresh_after` says when to ask again.
    `limit` is that of the account's period (0: not said), which is over in `renews_in` seconds (None: not
    said, or it has no end). In `lends_in` seconds something new is granted at the earliest, whatever is left.
    """

    result: Result
    lease: str
    granted: int = 0
    remaining: int = 0
    ttl: float = 0.0
    refresh_after: float = 0.0
    safe: int = 0
    on_expiry: OnExpiry = OnExpiry.DENY
    limit: int = 0
    renews_in: float | None = None
    lends_in: float = 0.0


class Lease:
    """What the office knows of one holder.

    Attributes:
        held: what it may still spend. used: what it said that it spent, in all.
        assumed: what it was charged when it fell silent, at `lapsed`; 0 and 0.0 while it speaks.
        rate: what it uses a second, of late.
        expires: when it has been silent for too long. Times are wall time.
        request, answer, asked: the newest ask, what was said, and when.
        noted: when the journal was told last that its holder speaks.
    """

    __slots__ = (
        "_since", "_used_since", "answer", "asked", "assumed", "expires", "held", "lapsed", "noted", "rate",
        "request", "used",
    )  # fmt: skip

    def __init__(self, wall: float) -> None:
        self.held = self.used = self.assumed = 0
        self.lapsed = self.rate = self.noted = 0.0
        self.expires = self.asked = wall
        self.request = ""
        self.answer: LeaseAnswer | None = None
        self._since, self._used_since = wall, 0

    def note(self, used: int, wall: float) -> None:
        """So much more was used."""
        self.used += used
        self._used_since += used
        passed = wall - self._since
        if passed >= MEASURED:
            self.rate += SMOOTHING * (self._used_since / passed - self.rate)
            self._since, self._used_since = wall, 0

    def replay(self, entry: Entry) -> None:
        """Does again what the journal says was done."""
        amount = entry.amount
        if entry.kind is Change.GRANT:
            self.held += amount
        elif entry.kind is Change.RETURN:
            self.held -= amount
        else:
            self.used += amount if entry.kind is Change.USE else -amount
            self.held -= amount - entry.overrun if entry.kind is Change.USE else 0
        self.held = max(0, self.held)
        self.assumed, self.lapsed = 0, 0.0

    def row(self) -> list[Any]:
        """As plain data. The answer is not kept: who asks the same again is answered anew."""
        return [self.held, self.used, self.assumed, self.lapsed, self.expires, self.request]

    @classmethod
    def of(cls, row: Sequence[Any]) -> Lease:
        """What `row` said."""
        made = cls(float(row[4]))
        made.held, made.used, made.assumed = int(row[0]), int(row[1]), int(row[2])
        made.lapsed, made.request = float(row[3]), str(row[5])
        return made
