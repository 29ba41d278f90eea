"""The pace of one throttle: which call passes when.

Rule 1: one number says when the next call may pass (the generic cell rate algorithm), however many wait.
Rule 2: calls pass in the order in which they came; a place that is given up goes to those behind. Rule 3: a
pause leaves at most `burst` places, a long one no more. It has no clock and waits for nothing.
"""

from __future__ import annotations

import math
from typing import Final

from spanfuse_processor.engine.nouns import Instant

SLOWEST: Final = 1e-6
"""Calls a second; what is slower counts as this, so that the times stay numbers."""


class Place:
    """One call's place in the row: it may pass at `due`."""

    __slots__ = ("due",)

    def __init__(self, due: Instant) -> None:
        self.due = due


class Pace:
    """Gives out places. Not thread-safe: its owner holds a lock.

    >>> pace = Pace(calls_per_second=0.5, burst=2)
    >>> [pace.place(100.0).due for _ in range(4)]
    [100.0, 100.0, 102.0, 104.0]
    """

    def __init__(self, calls_per_second: float, burst: int = 1) -> None:
        self._gap = 1 / max(calls_per_second, SLOWEST)
        self._slack = (burst - 1) * self._gap
        self._ahead: Instant = -math.inf  # when the next would be due, were there no burst
        self._row: dict[Place, None] = {}  # who has not passed yet, in order

    def place(self, now: Instant) -> Place:
        """The next place; it is for one who will pass or give it up."""
        due = max(now, self._ahead - self._slack)
        self._ahead = max(now, self._ahead) + self._gap
        place = Place(due)
        self._row[place] = None
        return place

    def passed(self, place: Place) -> None:
        """Whoever had this place has passed."""
        self._row.pop(place, None)

    def give_up(self, place: Place) -> None:
        """Whoever had this place does not come: those behind move up."""
        if place not in self._row:
            return
        behind = list(self._row)
        for later in behind[behind.index(place) + 1 :]:
            later.due -= self._gap
        del self._row[place]
        self._ahead -= self._gap
