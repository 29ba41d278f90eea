"""How fast money is spent: exponentially weighted regression of increments on time, through the origin.

The slope of weighted least squares of dC on dt, with weights w / dt^2, is sum(w dC / dt) over sum(w); w is
lambda^age over the time since the spend before: two numbers, and calls may come as irregularly as they like.
Rule 1: the regression is on increments; one on the running total follows the past, and its textbook interval
is far too narrow. Rule 2: time in which nothing is spent counts, and fades like any other; the first call
after a long silence is an increment over all of it. Rule 3: what comes late counts now, a correction downward
as nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Final, NamedTuple

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


class Slopes(NamedTuple):
    """Spend a second of time, and a weighed second (see `season`), by the short and by the long memory."""

    short: float
    long: float
    level_short: float
    level_long: float


NOTHING: Final = Slopes(0.0, 0.0, 0.0, 0.0)


class Rates:
    """Spend a second, by a short and by a long memory.

    >>> rates = Rates(3600.0)
    >>> for second in range(0, 700, 10):
    ...     rates.observe(float(second), 5.0, 10.0)
    >>> round(rates.at(690.0, 0.0).short, 6), round(rates.at(690.0, 0.0).long, 6)
    (0.5, 0.5)

    Attributes:
        first, last: when the first and the last spend was seen; `first` is None before.
    """

    __slots__ = (
        "_long",
        "_long_cost",
        "_long_moved",
        "_long_time",
        "_short",
        "_short_cost",
        "_short_moved",
        "_short_time",
        "first",
        "last",
    )

    def __init__(self, period: float) -> None:
        short, long = half_lives(period)
        self._short, self._long = -_LN2 / short, -_LN2 / long
        self._short_cost = self._short_time = self._short_moved = 0.0
        self._long_cost = self._long_time = self._long_moved = 0.0
        self.first: float | None = None
        self.last = 0.0

    def observe(self, wall: float, amount: float, moved: float) -> None:
        """Spend became known; since the last, the day's shape `moved` by so much (seconds, on the average).

        The first spend has nothing before it to be measured from: it starts the clock.
        """
        if self.first is None:
            self.first = self.last = wall
            return
        amount = amount if amount > 0.0 else 0.0
        passed = wall - self.last
        if passed <= 0.0:
            if self._short_time > 0.0:
                self._short_cost += amount
                self._long_cost += amount
            return
        short, long = exp(self._short * passed), exp(self._long * passed)
        part, share = (short - 1.0) / (self._short * passed), (long - 1.0) / (self._long * passed)
        self._short_cost = self._short_cost * short + amount * part
        self._short_time = self._short_time * short + passed * part
        self._short_moved = self._short_moved * short + moved * part
        self._long_cost = self._long_cost * long + amount * share
        self._long_time = self._long_time * long + passed * share
        self._long_moved = self._long_moved * long + moved * share
        self.last = wall

    def at(self, wall: float, moved: float) -> Slopes:
        """The rates at a moment, since the last spend of which the day's shape `moved` by so much."""
        passed = wall - self.last
        if self.first is None or (passed <= 0.0 and self._short_time <= 0.0):
            return NOTHING
        if passed <= 0.0:
            return Slopes(
                self._short_cost / self._short_time,
                self._long_cost / self._long_time,
                self._short_cost / self._short_moved,
                self._long_cost / self._long_moved,
            )
        short, long = exp(self._short * passed), exp(self._long * passed)
        part, share = (short - 1.0) / (self._short * passed), (long - 1.0) / (self._long * passed)
        short_cost, long_cost = self._short_cost * short, self._long_cost * long
        return Slopes(
            short_cost / (self._short_time * short + passed * part),
            long_cost / (self._long_time * long + passed * share),
            short_cost / (self._short_moved * short + moved * part),
            long_cost / (self._long_moved * long + moved * share),
        )

    def dump(self) -> list[float]:
        """All that it knows; empty when it knows nothing."""
        if self.first is None:
            return []
        short = [self._short_cost, self._short_time, self._short_moved]
        return [self.first, self.last, *short, self._long_cost, self._long_time, self._long_moved]

    def load(self, dump: Sequence[float]) -> None:
        """Takes up what another knew. Raises ValueError when it is not eight numbers, or none."""
        if not dump:
            return
        first, self.last, *sums = map(float, dump)
        self._short_cost, self._short_time, self._short_moved, *sums = sums
        self._long_cost, self._long_time, self._long_moved = sums
        self.first = first
