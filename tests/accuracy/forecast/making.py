"""Small series and figures, for the tests of the measuring itself."""

from __future__ import annotations

from tests.accuracy.forecast.budgets import PAGE, PAGES, SHARES, STATIC, US_SHORT, Outcome
from tests.accuracy.forecast.measuring import PLACES, Measured
from tests.accuracy.forecast.runaways import Runaway
from tests.accuracy.forecast.runs import PARTS, US, Steps, Total
from tests.accuracy.forecast.series import Series, Spend
from tests.accuracy.forecast.totals import Said

PERIOD = 3_600.0


def even(periods: int, every: float = 10.0) -> Series:
    """A series that spends as much in every second."""
    return [Spend(step * every, 5.0, 1.0) for step in range(1, int(periods * PERIOD / every) + 1)]


def perfect() -> Measured:
    """Figures with which every promise is kept."""
    measured = Measured()
    for place in PLACES:
        measured.outcomes[place.name] = [outcome(share) for share in SHARES]
        measured.runaways[place.name] = [Runaway(0.5, 0.6, {PAGE: 0.55, PAGES: 0.55, STATIC: 0.58}, 0.01)]
        measured.totals[place.name] = [
            Said(0.5, {"spanfuse": 0.1}, held=number < 8, width=0.5) for number in range(10)
        ]
    measured.steps["tau_airline_gpt4o"] = [Steps(part, {US: 0.05}, True) for part in PARTS]
    measured.finals["tau_airline_gpt4o"] = [Total(3, 0.3, number < 9, 5.0) for number in range(10)]
    return measured


def outcome(share: float) -> Outcome:
    """A limit that was foreseen to the second, and paged for if it was hit."""
    if share > 1.0:
        return Outcome(share)
    errors = {US_SHORT: 0.0, "average since the start": 0.1}
    return Outcome(share, share, errors, {PAGE: share - 0.1, PAGES: share - 0.1})
