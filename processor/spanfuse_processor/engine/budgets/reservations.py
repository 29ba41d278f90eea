"""What is promised to calls that are being made.

Rule 1: a reservation is believed until its deadline; whoever keeps count decides what becomes of it then.
Rule 2: of more than `HELD` the oldest are over at once. It does not know what is charged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from spanfuse_processor.engine.budget import Account, Amounts
from spanfuse_processor.engine.budgets.shelf import Plan, Shelf
from spanfuse_processor.engine.reach import Payer

HELD: Final = 65_536
"""Reservations at a time."""


class Held(NamedTuple):
    """One reservation: for whom, in which books, how much, and until when (wall time) it is believed."""

    payer: Payer
    plan: Plan
    amounts: Amounts
    deadline: float

    @property
    def strict(self) -> tuple[Account, ...]:
        """The accounts that it is promised of."""
        return tuple(each.account for each in self.plan.strict)

    def among(self, shelf: Shelf, wall: float) -> Held:
        """The same promise in the books of another shelf."""
        return self._replace(plan=shelf.standing(self.payer, self.strict, wall))


class Reservations:
    """The reservations that stand, by the key of their call.

    Attributes:
        soonest: no deadline is before it.
    """

    __slots__ = ("_held", "soonest")

    def __init__(self) -> None:
        self._held: dict[bytes, Held] = {}
        self.soonest = math.inf

    def take(self, key: bytes, held: Held) -> None:
        """Promises the amounts, in every strict book."""
        at = held.amounts
        for book in held.plan.strict:
            book.reserved += at[book.at]
        self._held[key] = held
        if held.deadline < self.soonest:
            self.soonest = held.deadline

    def release(self, key: bytes) -> Held | None:
        """Takes the promise back, and hands it out; None: there is none."""
        held = self._held.pop(key, None)
        if held is not None:
            at = held.amounts
            for book in held.plan.strict:
                book.reserved -= at[book.at]
        return held

    def move(self, shelf: Shelf, wall: float) -> None:
        """Promises everything anew in other books, whose counts of promises are empty."""
        standing, self._held = self._held, {}
        for key, held in standing.items():
            self.take(key, held.among(shelf, wall))

    def promised(self) -> set[Account]:
        """The accounts that anything is promised of."""
        return {account for held in self._held.values() for account in held.strict}

    def due(self, wall: float) -> list[bytes]:
        """The keys whose deadline has come, and the oldest where there are too many."""
        held, keys = self._held, []
        if wall >= self.soonest:
            keys = [key for key, each in held.items() if each.deadline <= wall]
            self.soonest = min((e.deadline for e in held.values() if e.deadline > wall), default=math.inf)
        if len(held) - len(keys) > HELD:
            keys = sorted(held, key=lambda key: held[key].deadline)[: max(len(keys), HELD // 8)]
        return keys

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def __iter__(self) -> Iterator[tuple[bytes, Held]]:
        return iter(self._held.items())

    def __len__(self) -> int:
        return len(self._held)
