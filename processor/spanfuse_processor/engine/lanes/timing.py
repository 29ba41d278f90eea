"""What the times of steps tell: pauses, idleness, patience.

Rule 1: medians, so that a single odd step says nothing. Rule 2: seconds out, event time in. It does not know
what the steps were.
"""

from __future__ import annotations

from statistics import median
from typing import Final

from spanfuse_processor.engine.lanes.past import Step

NS: Final = 1_000_000_000

GROWTH: Final = 1.5
"""A gap this many times the one before is part of a back-off."""


class Timed:
    """Anything that has steps, oldest first."""

    __slots__ = ()

    @property
    def steps(self) -> list[Step]:
        """The latest steps, oldest first."""
        raise NotImplementedError

    def pause(self, count: int) -> float:
        """Seconds from one start to the next among the last `count` steps, the median."""
        return _middle(self._gaps(count))

    def idle(self, count: int) -> float:
        """Seconds without any open call from one to the next among the last `count` steps, the median."""
        return _middle(_differences([step.idle_ns for step in self.steps[-count:]]))

    def took(self, count: int) -> float:
        """Seconds that each of the last `count` steps took, the median."""
        return _middle([step.ended_ns - step.started_ns for step in self.steps[-count:]])

    def backs_off(self, count: int) -> bool:
        """Whether the last `count` steps left more time each than the one before, as a patient retry does."""
        return grow(self._gaps(count))

    def _gaps(self, count: int) -> list[int]:
        return _differences([step.started_ns for step in self.steps[-count:]])


def grow(gaps: list[int]) -> bool:
    """Whether each gap is plainly longer than the one before.

    >>> grow([1, 2, 4]), grow([1, 2, 2]), grow([5])
    (True, False, False)
    """
    pairs = zip(gaps, gaps[1:], strict=False)
    return len(gaps) > 1 and all(later >= GROWTH * earlier > 0 for earlier, later in pairs)


def _differences(times: list[int]) -> list[int]:
    return [later - earlier for earlier, later in zip(times, times[1:], strict=False)]


def _middle(gaps: list[int]) -> float:
    return median(gaps) / NS if gaps else 0.0
