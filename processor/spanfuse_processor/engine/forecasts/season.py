"""The shape of the day: which hours spend more than others, so that what is left of a period is weighed.

A second of an hour in which twice the average is spent counts as almost two. Rule 1: an hour's weight is half
what recent days say, half one: days differ. Rule 2: before two whole days all hours weigh the same. Rule 3:
24 sums and no more; days fade. Hours are of wall time as it comes, in no zone: a daylight change shifts the
shape, which is learnt anew within days. It does not know how much is spent, only when.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, Final

_HOUR: Final = 3_600.0
_HOURS: Final = 24
_DAY: Final = _HOURS * _HOUR
_KEPT: Final = 0.6  # of what was known of an hour, when another day's is added
_SHRUNK: Final = 0.5  # towards one
_EVEN: Final = tuple(index * _HOUR for index in range(_HOURS + 1))


class Season:
    """Weighed time: `clock` goes faster in hours that spend more, and once round in a day.

    >>> season = Season()
    >>> for hour in range(72):
    ...     _ = season.observe(hour * 3600.0, 9.0 if hour % 24 < 12 else 1.0)
    >>> (season.clock(3600.0) - season.clock(0.0)) / (season.clock(86400.0) - season.clock(82800.0))
    2.3333333333333335
    >>> round(season.when(season.clock(50000.0)))
    50000
    """

    __slots__ = ("_hour", "_known", "_now", "_sums", "_until", "_weights")

    def __init__(self) -> None:
        self._sums = [0.0] * _HOURS
        self._known = 0  # whole hours
        self._hour: int | None = None  # since the epoch: that which `_now` sums up
        self._now = 0.0
        self._weights = [1.0] * _HOURS
        self._until: tuple[float, ...] = _EVEN

    def observe(self, wall: float, amount: float) -> bool:
        """Spend became known. True: the shape is another from here on, and so is the clock."""
        hour = int(wall // _HOUR)
        if hour == self._hour:
            self._now += amount
            return False
        return self._turn(hour, amount)

    def clock(self, wall: float) -> float:
        """Weighed seconds; differences between two moments tell."""
        days, seconds = divmod(wall, _DAY)
        hour = int(seconds // _HOUR)
        return days * _DAY + self._until[hour] + (seconds - hour * _HOUR) * self._weights[hour]

    def when(self, clock: float) -> float:
        """The wall time at which the clock shows so much."""
        days, seconds = divmod(clock, _DAY)
        hour = bisect_right(self._until, seconds) - 1
        return days * _DAY + hour * _HOUR + (seconds - self._until[hour]) / self._weights[hour]

    def dump(self) -> dict[str, Any]:
        """All that it knows, as plain data."""
        known = {"sums": list(self._sums), "weights": list(self._weights)}
        return {**known, "known": self._known, "hour": self._hour, "now": self._now}

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what another knew. Raises ValueError when it is not of 24 hours."""
        sums, weights = ([float(each) for each in dump[name]] for name in ("sums", "weights"))
        if len(sums) != _HOURS or len(weights) != _HOURS or min(weights) < _SHRUNK:
            raise ValueError(f"a day has {_HOURS} hours, each of a weight of {_SHRUNK} or more")
        self._sums, self._known, self._now = sums, int(dump["known"]), float(dump["now"])
        self._hour = None if dump["hour"] is None else int(dump["hour"])
        self._lay(weights)

    def _turn(self, hour: int, amount: float) -> bool:
        """Another hour has begun: those before it are known, and with a new day the shape is made anew."""
        before, self._hour = self._hour, hour
        if before is None or hour < before:
            self._now = amount if before is None else self._now + amount
            self._hour = hour if before is None else before
            return False
        # After a long silence, each hour of the day is silent as often as it was.
        for each in range(before, min(hour, before + _HOURS * 30)):
            self._learn(each % _HOURS, self._now if each == before else 0.0)
        self._now = amount
        if hour // _HOURS == before // _HOURS:
            return False
        return self._weigh()

    def _learn(self, hour: int, amount: float) -> None:
        kept = _KEPT if self._known >= _HOURS else 0.0
        self._sums[hour] = kept * self._sums[hour] + (1.0 - kept) * amount
        self._known += 1

    def _weigh(self) -> bool:
        mean = sum(self._sums) / _HOURS
        if self._known < 2 * _HOURS or mean <= 0.0:
            return False
        self._lay([_SHRUNK + (1.0 - _SHRUNK) * each / mean for each in self._sums])
        return True

    def _lay(self, weights: list[float]) -> None:
        """Every hour is as long as it weighs, all of them a day."""
        self._weights = weights
        self._until = (0.0, *accumulate(weight * _HOUR for weight in weights[:-1]), _DAY)
