"""How others foresee the end of a budget: `predict_linear` of Prometheus, and the average since the start.

Rule 1: as they say themselves. `predict_linear(spent[w], t)` is the least-squares line through the samples of
the window, seen from the moment of asking: its level there, not the last value, plus its slope; two samples
at least. Gateways and clouds divide what was spent by the time since the reset. Rule 2: nothing is held
against them that one would not do: windows do not reach back over a reset, where the line would be nonsense,
and the samples come every 240th of a period.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

_SCRAPES: Final = 240  # in a period


class Line(NamedTuple):
    """What is said: spend is at `level` now and grows by `rate` a second."""

    level: float
    rate: float

    def until(self, limit: float) -> float | None:
        """Seconds until the limit; None: never."""
        if limit <= self.level:
            return 0.0
        return (limit - self.level) / self.rate if self.rate > 0.0 else None


class PredictLinear:
    """The line through the samples of the last `window` seconds of a period of `length`.

    >>> line = PredictLinear(0.0, 2400.0, 600.0)
    >>> for second in range(0, 1200, 10):
    ...     line.observe(second, second * 2.0)
    >>> line.at(1190.0)
    Line(level=2360.0, rate=2.0)
    """

    def __init__(self, start: float, length: float, window: float) -> None:
        self._start, self._every, self._window = start, length / _SCRAPES, window
        self._next = start
        self._spent = 0.0
        self._samples: deque[tuple[float, float]] = deque()
        self._x = self._y = self._xx = self._xy = 0.0

    def observe(self, wall: float, spent: float) -> None:
        """Spend came to so much; what is scraped before that is what it was."""
        while self._next <= wall:
            self._scrape(self._next - self._start, self._spent)
            self._next += self._every
        self._spent = spent

    def at(self, wall: float) -> Line | None:
        """The line, seen from a moment."""
        samples = self._samples
        while samples and samples[0][0] < wall - self._start - self._window:
            self._sum(*samples.popleft(), -1.0)
        count = len(samples)
        if count < 2:
            return None
        mean_x, mean_y = self._x / count, self._y / count
        slope = (self._xy - count * mean_x * mean_y) / (self._xx - count * mean_x * mean_x)
        return Line(mean_y + slope * (wall - self._start - mean_x), slope)

    def _scrape(self, x: float, y: float) -> None:
        self._samples.append((x, y))
        self._sum(x, y, 1.0)

    def _sum(self, x: float, y: float, sign: float) -> None:
        self._x += sign * x
        self._y += sign * y
        self._xx += sign * x * x
        self._xy += sign * x * y


class Average:
    """What was spent since the start, over the time since then."""

    def __init__(self, start: float) -> None:
        self._start, self._spent = start, 0.0

    def observe(self, wall: float, spent: float) -> None:
        """Spend came to so much."""
        self._spent = spent

    def at(self, wall: float) -> Line | None:
        """The line through the start and now."""
        passed = wall - self._start
        return Line(self._spent, self._spent / passed) if passed > 0.0 else None
