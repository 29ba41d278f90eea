"""Wall time of monotonic instants, for the times of spans.

Rule 1: one offset for all: what begins where something ended does so at the same nanosecond. Rule 2: a wall
clock that drifts is not followed, one that is set anew is. It does not know what happens at an instant.
"""

from __future__ import annotations

from time import time_ns
from typing import Final

_JUMP: Final = 100_000_000
"""Nanoseconds that the wall clock may drift from the monotonic one before it counts as set anew."""


class Wall:
    """Tells wall time."""

    def __init__(self) -> None:
        self._offset = 0

    def at(self, instant: float, now: float) -> int:
        """The wall time of an instant, when `now` is now; nanoseconds."""
        offset = time_ns() - int(now * 1e9)
        if abs(offset - self._offset) > _JUMP:
            self._offset = offset
        return self._offset + int(instant * 1e9)


WALL: Final = Wall()
"""The clock of this process."""
