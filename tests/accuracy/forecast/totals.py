"""The experiment on totals: what a period comes to, said when parts of it are over, with a band or without.

Rule 1: each series has one forecaster, which calibrates on the periods that it has seen and no others.
Rule 2: the others are asked at the same moments. It does not know limits: one is named, and plays no part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tests.accuracy.forecast.budgets import PEERS, Moment, moments
from tests.accuracy.forecast.series import Series, Stretch, periods

from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.forecasts.budgets import BudgetForecaster

US: Final = "spanfuse"
PARTS: Final = (0.25, 0.5, 0.75)
_WORST: Final = 1.0


@dataclass
class Said:
    """What was said when a part of one period was over.

    Attributes:
        part: of the period, a tenth or one of PARTS.
        errors: how far off each total was, as a share of what it came to.
        held: whether the period ended inside the band; None: there was none.
        width: of the band, as a share of what it came to.
    """

    part: float
    errors: dict[str, float] = field(default_factory=dict)
    held: bool | None = None
    width: float = 0.0


def totals(series: Series, length: float) -> Iterator[Said]:
    """All that is said of all periods of a series."""
    forecaster = BudgetForecaster(length)
    for period in periods(series, length):
        yield from _period(period, forecaster)
        forecaster.close(period.start, period.end, period.total)


def _period(period: Stretch, forecaster: BudgetForecaster) -> Iterator[Said]:
    asked = list(PARTS)
    for moment in moments(period, forecaster):
        forecast = forecaster.forecast(
            moment.wall, moment.spent, period.total, period.start, period.end, moment.calls
        )
        if asked and moment.part >= asked[0]:
            part = asked.pop(0)
            if forecast is not None and moment.part < part + 0.1:
                yield _said(part, forecast, moment, period)


def _said(part: float, forecast: Forecast, moment: Moment, period: Stretch) -> Said:
    left, total = period.end - moment.wall, period.total
    guesses = {
        name: (line.level + line.rate * left if line else moment.spent)
        for name, line in moment.lines.items()
        if name in PEERS
    }
    guesses[US] = forecast.total_mid or 0.0
    said = Said(part, {name: min(_WORST, abs(each - total) / total) for name, each in guesses.items()})
    if forecast.total_low is not None and forecast.total_high is not None:
        said.held = forecast.total_low <= total <= forecast.total_high
        said.width = (forecast.total_high - forecast.total_low) / total
    return said
