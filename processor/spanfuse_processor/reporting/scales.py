"""From amounts and moments to places in a drawing, with marks where people expect them.

Rule: marks are round: 1, 2 or 5 times a power of ten, or whole steps of a clock. It draws nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil, floor, log10
from typing import Final, NamedTuple

_CLOCK: Final = (
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1_800,
    3_600,
    7_200,
    10_800,
    21_600,
    43_200,
    86_400,
)
_FORMS: Final = ((86_400, "%d %b"), (60, "%H:%M"), (1, "%H:%M:%S"))


class Scale(NamedTuple):
    """Values from `low` to `high` lie between the places `start` and `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value.

        >>> Scale(0.0, 10.0, 100.0, 200.0).at(5.0), Scale(3.0, 3.0, 0.0, 10.0).at(3.0)
        (150.0, 0.0)
        """
        if self.high <= self.low:
            return self.start
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def amounts(high: float, most: int = 5) -> list[float]:
    """Marks from 0 to the first that is not below `high`.

    >>> amounts(0.47), amounts(7.0), amounts(0.0)
    ([0.0, 0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 1.0])
    """
    if high <= 0.0:
        return [0.0, 1.0]
    rough = high / most
    power = 10.0 ** floor(log10(rough))
    step = next((n * power for n in (1.0, 2.0, 5.0, 10.0) if n * power >= rough * 0.999), 10.0 * power)
    return [round(step * count, 12) for count in range(ceil(high / step * 0.9999) + 1)]


def clock(low: float, high: float, most: int = 8) -> list[tuple[float, str]]:
    """Marks of a clock (UTC) in [low, high], and how they are written.

    >>> clock(0.0, 25.0, 3)
    [(0.0, '00:00:00'), (10.0, '00:00:10'), (20.0, '00:00:20')]
    """
    span = max(high - low, 1e-3)
    step = next((each for each in _CLOCK if span / each <= most), ceil(span / most / 86_400) * 86_400)
    form = next(form for least, form in _FORMS if step >= least)
    marks: Sequence[int] = range(ceil(low / step), floor(high / step) + 1)
    return [(float(n * step), datetime.fromtimestamp(n * step, UTC).strftime(form)) for n in marks]
