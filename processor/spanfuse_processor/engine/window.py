"""A sliding window: how many calls, tokens and dollars, and how much time, in the last seconds (row W3).

Rule 1: event time, in buckets of one second; the newest call's second ends the window. Rule 2: a sum is
kept, and what leaves the window is subtracted from it. Rule 3: a late call goes to the second that it
belongs to; one that is older than the window is counted as late and no more. It does not know limits.
"""

from __future__ import annotations

from array import array
from typing import Final

from spanfuse_processor.engine.nouns import MicroUsd

NS: Final = 1_000_000_000


class Window:
    """Sums over the last `seconds`.

    >>> window = Window(60)
    >>> for second in (0, 10, 65):
    ...     _ = window.add(second * NS, tokens=100, cost=5, duration_ns=2 * NS)
    >>> window.calls, window.tokens, window.cost, window.mean_seconds
    (2, 200, 10, 2.0)

    Attributes:
        calls, tokens, cost: sums over the window; cost in micro-dollars.
        late: calls that came too late to count.
    """

    __slots__ = ("_buckets", "_duration_ns", "_newest", "_seconds", "calls", "cost", "late", "tokens")

    def __init__(self, seconds: int) -> None:
        self._seconds = max(1, seconds)
        self._newest = -1
        self._buckets: dict[int, array[int]] = {}  # second -> calls, tokens, cost, duration; busy ones only
        self._duration_ns = 0
        self.calls = self.tokens = self.late = 0
        self.cost: MicroUsd = 0

    def add(self, at_ns: int, tokens: int = 0, cost: MicroUsd = 0, duration_ns: int = 0) -> bool:
        """Counts a call that took place at `at_ns`; False when that is before the window."""
        second = at_ns // NS
        if second > self._newest:
            self._turn_to(second)
        elif second <= self._newest - self._seconds:
            self.late += 1
            return False
        bucket = self._buckets.get(second)
        if bucket is None:
            bucket = self._buckets[second] = array("q", (0, 0, 0, 0))
        bucket[0] += 1
        bucket[1] += tokens
        bucket[2] += cost
        bucket[3] += duration_ns
        self.calls += 1
        self.tokens += tokens
        self.cost += cost
        self._duration_ns += duration_ns
        return True

    def slowest(self, seconds: int) -> int:
        """The fewest calls in any of the last `seconds` whole seconds; the newest is not over."""
        buckets = self._buckets
        wanted = range(self._newest - seconds, self._newest)
        return min((buckets[second][0] if second in buckets else 0 for second in wanted), default=0)

    @property
    def mean_seconds(self) -> float:
        """Mean duration of the calls in the window, 0 without any."""
        return self._duration_ns / self.calls / NS if self.calls else 0.0

    def _turn_to(self, second: int) -> None:
        """Moves the window's end, and lets go of what is before its beginning."""
        first = self._newest - self._seconds + 1
        for old in range(first, min(second - self._seconds + 1, self._newest + 1)) if self._buckets else ():
            bucket = self._buckets.pop(old, None)
            if bucket is not None:
                self.calls -= bucket[0]
                self.tokens -= bucket[1]
                self.cost -= bucket[2]
                self._duration_ns -= bucket[3]
        self._newest = second
