"""What waits for one destination: a line, bounded in bytes, that several threads take from.

Rule 1: what was taken out counts until it is done with: the bound is of everything that is held. Rule 2: a
single letter is always taken, however large. Rule 3: time is an argument. It does not know who sends.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import NamedTuple

from spanfuse_processor.parcel import Parcel


class Letter(NamedTuple):
    """A parcel, since when it waits, in monotonic seconds, and how often it was sent."""

    parcel: Parcel
    since: float
    tries: int = 0

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.parcel.body)


class Letters:
    """The line. `waiting` are bytes that are not done with, at most `capacity` of them.

    `lock` guards it, `bell` rings when a letter comes.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.waiting = 0
        self.lock = threading.RLock()
        self.bell = threading.Condition(self.lock)
        self._line: deque[Letter] = deque()

    def __len__(self) -> int:
        return len(self._line)

    def has_room(self, size: int) -> bool:
        """Whether so many bytes more may wait. Room only grows, as long as nobody puts."""
        return not self.waiting or self.waiting + size <= self.capacity

    def put(self, letter: Letter) -> None:
        """At the end of the line."""
        with self.lock:
            self._line.append(letter)
            self.waiting += letter.size
            self.bell.notify()

    def take(self) -> Letter | None:
        """The next one, to be sent; None: there is none now."""
        with self.lock:
            return self._line.popleft() if self._line else None

    def put_back(self, letter: Letter, *, last: bool) -> None:
        """One that was taken waits again, behind all others or before them."""
        with self.lock:
            if last:
                self._line.append(letter)
            else:
                self._line.appendleft(letter)
            self.bell.notify()

    def done(self, letter: Letter) -> None:
        """A letter that was taken is sent, or given up."""
        with self.lock:
            self.waiting -= letter.size

    def give_up(self) -> list[Letter]:
        """Lets go of all that are in line."""
        with self.lock:
            gone = list(self._line)
            self._line.clear()
            self.waiting -= sum(letter.size for letter in gone)
        return gone
