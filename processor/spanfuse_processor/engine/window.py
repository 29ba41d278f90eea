"""A sliding window: how many calls, tokens and dollars, and how much time, in the last seconds (row W3).

Rule 1: event time, in rows of one second; the newest call's second ends the window. Rule 2: a sum is kept,
and what leaves the window is subtracted from it; only seconds that had calls cost anything. Rule 3: a late
call goes to the second that it belongs to; one that is older than the window is counted as late and no more.
It does not know limits.
"""

from __future__ import annotations

from array import array
from typing import Final

from spanfuse_processor.engine.nouns import MicroUsd

NS: Final = 1_000_000_000

# The cells of a row, behind its second.
CELLS: Final = 5
CALLS, TOKENS, COST, DURATION = 1, 2, 3, 4


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

    __slots__ = ("_duration_ns", "_newest", "_rows", "_seconds", "calls", "cost", "late", "tokens")

    def __init__(self, seconds: int) -> None:
        self._seconds = max(1, seconds)
        self._newest = -1
        self._rows = array("q")  # of each second that had calls, oldest first: see the cells below
        self._duration_ns = 0
        self.calls = self.tokens = self.late = 0
        self.cost: MicroUsd = 0

    def add(self, at_ns: int, tokens: int = 0, cost: MicroUsd = 0, duration_ns: int = 0) -> bool:
        """Counts a call that took place at `at_ns`; False when that is before the window."""
        second = at_ns // NS
        rows = self._rows
        if second > self._newest:
            if rows and rows[0] <= second - self._seconds:
                self._let_go(second - self._seconds)
            self._newest = second
            rows.extend((second, 1, tokens, cost, duration_ns))
        elif second <= self._newest - self._seconds:
            self.late += 1
            return False
        else:
            base = self._row(second)
            rows[base + CALLS] += 1
            rows[base + TOKENS] += tokens
            rows[base + COST] += cost
            rows[base + DURATION] += duration_ns
        self.calls += 1
        self.tokens += tokens
        self.cost += cost
        self._duration_ns += duration_ns
        return True

    @property
    def mean_seconds(self) -> float:
        """Mean duration of the calls in the window, 0 without any."""
        return self._duration_ns / self.calls / NS if self.calls else 0.0

    def _row(self, second: int) -> int:
        """Where the row of a second within the window begins; as a rule it is the last, or a new one."""
        rows = self._rows
        base = len(rows) - CELLS
        while base >= 0 and rows[base] > second:
            base -= CELLS
        if base < 0 or rows[base] != second:
            base += CELLS
            rows[base:base] = array("q", (second, 0, 0, 0, 0))
        return base

    def _let_go(self, last: int) -> None:
        """Subtracts every second up to `last`."""
        rows = self._rows
        end = 0
        while end < len(rows) and rows[end] <= last:
            self.calls -= rows[end + CALLS]
            self.tokens -= rows[end + TOKENS]
            self.cost -= rows[end + COST]
            self._duration_ns -= rows[end + DURATION]
            end += CELLS
        del rows[:end]
