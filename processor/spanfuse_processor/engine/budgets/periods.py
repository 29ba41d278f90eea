"""When a budget's period begins and ends.

Rule 1: wall time, in seconds since the epoch, comes in as an argument. Rule 2: periods follow one another
without a gap, also where clocks are changed: one that begins at a time that is skipped begins when it would
have been, one that begins at a time that comes twice begins at the first; an hour that comes twice is two.
Rule 3: nothing is kept; whoever asks keeps the answer until the period is over. It does not know amounts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from spanfuse_processor.engine.budget import Budget, Period

EVER: Final = (0.0, math.inf)
"""The period of what a run may spend."""

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)


def window_of(budget: Budget, wall: float) -> tuple[float, float]:
    """The start of the period of `budget` that `wall` lies in, and its end, which is no longer of it.

    The window of a rolling budget ends at `wall`; a run's never does.

    >>> from spanfuse_processor.engine.budget import Budget
    >>> window_of(Budget("day", 1, zone="Europe/Berlin"), 1_774_738_800.0)  # 2026-03-29, which has 23 hours
    (1774738800.0, 1774821600.0)
    """
    if budget.period is Period.RUN:
        return EVER
    if budget.period is Period.ROLLING:
        return wall - budget.window, wall
    zone: tzinfo = UTC if budget.zone == "UTC" else ZoneInfo(budget.zone)
    begins = sorted(_begins(budget, datetime.fromtimestamp(wall, zone)))
    start = max(each for each in begins if each <= wall)
    return start, min(each for each in begins if each > wall)


def _begins(budget: Budget, here: datetime) -> Iterator[float]:
    """When periods around a local time begin: at least one before it and one after it."""
    if budget.period is Period.HOURLY:
        yield from _hours(here, timedelta(seconds=budget.reset % 3_600))
        return
    for day in _days(budget, here.date()):
        local = datetime.combine(day, time()) + timedelta(seconds=budget.reset)
        yield local.replace(tzinfo=here.tzinfo).timestamp()


def _days(budget: Budget, today: date) -> Iterator[date]:
    if budget.period is Period.DAILY:
        yield from (today + distance * _DAY for distance in range(-2, 3))
    elif budget.period is Period.WEEKLY:
        latest = today - (today.weekday() - budget.weekday) % 7 * _DAY
        yield from (latest + distance * 7 * _DAY for distance in range(-1, 3))
    else:
        for distance in range(-2, 3):
            months = today.year * 12 + today.month - 1 + distance
            yield date(months // 12, months % 12 + 1, budget.day)


def _hours(here: datetime, after: timedelta) -> Iterator[float]:
    """Every hour on the local clock, twice where the clock shows it twice."""
    full = here.replace(minute=0, second=0, microsecond=0, tzinfo=None, fold=0) + after
    for distance in range(-3, 4):
        local = (full + distance * _HOUR).replace(tzinfo=here.tzinfo)
        first = local.timestamp()
        yield first
        again = local.replace(fold=1).timestamp()
        if again > first:
            yield again
