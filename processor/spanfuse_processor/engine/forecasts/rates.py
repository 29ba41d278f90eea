"""How fast money is spent: exponentially weighted regression of increments on time, through the origin.

The slope of weighted least squares of dC on dt, with weights lambda^age / dt, is sum(lambda^age dC) over
sum(lambda^age dt): two numbers, and calls may come as irregularly as they like. Rule 1: the regression is on
increments; one on the running total follows the past, and its textbook interval is far too narrow. Rule 2:
time in which nothing is spent counts. Rule 3: what comes late counts now, a correction downward as nothing.
"""

from __future__ import annotations

from math import exp, log
from typing import Final

HOUR: Final = 3_600.0
DAY: Final = 24 * HOUR
_LN2: Final = log(2.0)

# Seconds of a period, and of its short and its long half-life. Measured for hours, days and weeks; those of a
# month go on as these do.
_HALF_LIVES: Final = (
    (HOUR, HOUR / 12, HOUR / 4),
    (DAY, HOUR, 6 * HOUR),
    (7 * DAY, 6 * HOUR, DAY),
    (30 * DAY, DAY, 4 * DAY),
)


def half_lives(period: float) -> tuple[float, float]:
    """The short and the long half-life of a period, in seconds; between the known ones in proportion of logs.

    >>> half_lives(3600.0), half_lives(86400.0), half_lives(600.0)
    ((300.0, 900.0), (3600.0, 21600.0), (50.0, 150.0))
    """
    for (low, *shorter), (high, *longer) in zip(_HALF_LIVES, _HALF_LIVES[1:], strict=False):
        if low < period < high:
            part = log(period / low) / log(high / low)
            short, long = (a * (b / a) ** part for a, b in zip(shorter, longer, strict=True))
            return short, long
    known, short, long = min(_HALF_LIVES, key=lambda row: abs(log(row[0] / period)))
    return period * (short / known), period * (long / known)


class Rates:
    """Spend a second, by a short and by a long memory.

    >>> rates = Rates(3600.0)
    >>> for second in range(0, 700, 10):
    ...     rates.observe(float(second), 5.0)
    >>> [round(rate, 6) for rate in rates.at(690.0)]
    [0.5, 0.5]

    Attributes:
        first, last: when the first and the last spend was seen; None: none was.
    """

    __slots__ = ("_long", "_long_cost", "_long_time", "_short", "_short_cost", "_short_time", "first", "last")

    def __init__(self, period: float) -> None:
        short, long = half_lives(period)
        self._short, self._long = _LN2 / short, _LN2 / long
        self._short_cost = self._short_time = self._long_cost = self._long_time = 0.0
        self.first: float | None = None
        self.last: float = 0.0

    def observe(self, wall: float, amount: float) -> None:
        """Spend became known. The first has nothing before it to be measured from: it starts the clock."""
        if self.first is None:
            self.first = self.last = wall
            return
        passed = wall - self.last
        amount = amount if amount > 0.0 else 0.0
        if passed <= 0.0:
            self._short_cost += amount
            self._long_cost += amount
            return
        short, long = exp(-self._short * passed), exp(-self._long * passed)
        self._short_cost = self._short_cost * short + amount
        self._short_time = self._short_time * short + passed
        self._long_cost = self._long_cost * long + amount
        self._long_time = self._long_time * long + passed
        self.last = wall

    def at(self, wall: float) -> tuple[float, float]:
        """The short and the long rate; 0 before there is time to divide by."""
        passed = wall - self.last
        if passed <= 0.0:
            if self._short_time <= 0.0:
                return 0.0, 0.0
            return self._short_cost / self._short_time, self._long_cost / self._long_time
        if self.first is None:
            return 0.0, 0.0
        short, long = exp(-self._short * passed), exp(-self._long * passed)
        return (
            self._short_cost * short / (self._short_time * short + passed),
            self._long_cost * long / (self._long_time * long + passed),
        )

    def dump(self) -> list[float]:
        """All that it knows; empty when it knows nothing."""
        if self.first is None:
            return []
        sums = [self._short_cost, self._short_time, self._long_cost, self._long_time]
        return [self.first, self.last, *sums]

    def load(self, dump: list[float]) -> None:
        """Takes up what another knew. Raises ValueError when it is not six numbers, or none."""
        if not dump:
            return
        first, self.last, *sums = map(float, dump)
        self._short_cost, self._short_time, self._long_cost, self._long_time = sums
        self.first = first
