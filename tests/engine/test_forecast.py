"""What a forecast is alarming for."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine.budget import Forecasting
from spanfuse_processor.engine.forecast import Alarm, Forecast, alarm

CALM = Forecast(0.0, 3_600.0, 3_600.0, 50.0, 100.0, 1.0, 1.0, 2_500.0, 2_500.0, 2_500.0)
SOON, LATER = 500.0, 700.0


@pytest.mark.parametrize(
    ("short", "long", "rates", "expected"),
    [
        (SOON, SOON, (1.0, 1.0), Alarm.IMMINENT),
        (0.0, 0.0, (1.0, 1.0), Alarm.IMMINENT),
        (SOON, LATER, (3.0, 1.0), Alarm.RUNAWAY),
        (SOON, None, (3.0, 0.0), Alarm.RUNAWAY),
        (SOON, LATER, (2.9, 1.0), None),
        (LATER, SOON, (1.0, 1.0), None),
        (LATER, LATER, (9.0, 1.0), None),
        (None, None, (0.0, 0.0), None),
    ],
)
def test_little_time_by_both_rates_is_imminent_and_by_a_short_one_far_above_a_runaway(
    short: float | None, long: float | None, rates: tuple[float, float], expected: Alarm | None
) -> None:
    forecast = CALM._replace(tte_short=short, tte_long=long, rate_short=rates[0], rate_long=rates[1])

    assert alarm(forecast, Forecasting()) is expected


def test_a_budget_that_lasts_until_its_period_ends_is_not_imminent() -> None:
    late = CALM._replace(at=3_300.0, tte_short=400.0, tte_long=400.0)

    assert alarm(late, Forecasting()) is None
    assert alarm(late._replace(end=None), Forecasting()) is Alarm.IMMINENT


def test_policy_says_how_little_time_is_little() -> None:
    forecast = CALM._replace(tte_short=SOON, tte_long=SOON)

    assert alarm(forecast, Forecasting(within=0.10)) is None


@pytest.mark.parametrize(
    ("spent", "probability", "likely"),
    [(50.0, 0.75, True), (49.0, 0.9, False), (50.0, 0.7, False), (50.0, None, False)],
)
def test_a_ticket_needs_a_probability_and_half_of_the_limit(
    spent: float, probability: float | None, likely: bool
) -> None:
    found = alarm(CALM._replace(spent=spent, exceed_probability=probability), Forecasting())

    assert found is (Alarm.LIKELY if likely else None)


def test_nothing_spent_is_nothing_to_page_for() -> None:
    assert alarm(CALM._replace(spent=0.0, tte_short=SOON, tte_long=SOON), Forecasting()) is None
