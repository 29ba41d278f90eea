"""The experiment on runaways: from a moment on, every call of a period costs ten times as much.

Rule 1: the budget is 1.25 times what the period would have come to; four moments are drawn, always the same.
Rule 2: a forecaster that knows the periods before, as they were, is loaded with them and sees the change call
by call. Rule 3: a runaway that does not reach the limit before the period ends is none. Rule 4: where one
recorded sum alone takes half of the limit there is no moment at which anybody could speak; such are counted.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.accuracy.forecast.budgets import moments, note
from tests.accuracy.forecast.series import Series, Stretch, periods

from spanfuse_processor.engine.forecasts.budgets import BudgetForecaster

FACTOR: Final = 10.0
ROOM: Final = 1.25
_FROM, _TO = 0.15, 0.85  # of the period
SEEDS: Final = (1, 2, 3, 4)
_LUMP: Final = 0.5


@dataclass
class Runaway:
    """One of them; times are shares of the period.

    Attributes:
        onset: when it began.
        hit: when the limit was reached.
        fired: when each alarm first came, if before that.
        lump: the recorded sum that reached it, as a share of the limit.
    """

    onset: float
    hit: float
    fired: dict[str, float]
    lump: float

    @property
    def blind(self) -> bool:
        """Whether nobody could speak in time."""
        return self.lump >= _LUMP


def runaways(series: Series, length: float) -> Iterator[Runaway]:
    """Four for each period of a series."""
    draws = [random.Random(seed) for seed in SEEDS]
    normal = BudgetForecaster(length)
    for period in periods(series, length):
        known = normal.dump()
        for draw in draws:
            forecaster = BudgetForecaster(length)
            forecaster.load(known)
            found = _run(period, draw.uniform(_FROM, _TO), forecaster)
            if found is not None:
                yield found
        for each in period.spends:
            normal.observe(each.wall, each.amount)


def _run(period: Stretch, onset: float, forecaster: BudgetForecaster) -> Runaway | None:
    limit = ROOM * period.total
    begins = period.start + onset * period.length
    spends = [
        each._replace(amount=each.amount * FACTOR) if each.wall > begins else each for each in period.spends
    ]
    fired: dict[str, float] = {}
    before = 0.0
    for moment in moments(period._replace(spends=spends), forecaster):
        if moment.spent >= limit:
            return Runaway(onset, moment.part, fired, (moment.spent - before) / limit)
        before = moment.spent
        forecast = forecaster.forecast(
            moment.wall, moment.spent, limit, period.start, period.end, moment.calls
        )
        note(fired, forecast, moment, limit, period)
    return None
