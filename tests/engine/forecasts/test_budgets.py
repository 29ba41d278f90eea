"""The forecaster of a budget: silent when it knows too little, monotone, and never infinite."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanfuse_processor.engine.budget import Forecasting
from spanfuse_processor.engine.forecast import Alarm, Forecast, alarm
from spanfuse_processor.engine.forecasts.budgets import BudgetForecaster
from spanfuse_processor.engine.forecasts.rates import DAY, HOUR

START = 1_700_006_400.0  # a whole hour


def spending(seconds: int, amount: float = 1.0, every: int = 10, period: float = HOUR) -> BudgetForecaster:
    """A forecaster that saw so many seconds of even spend."""
    forecaster = BudgetForecaster(period)
    for second in range(0, seconds + 1, every):
        forecaster.observe(START + second, amount)
    return forecaster


def ask(
    forecaster: BudgetForecaster,
    at: float,
    spent: float,
    limit: float,
    calls: int = 100,
    period: float = HOUR,
) -> Forecast | None:
    return forecaster.forecast(START + at, spent, limit, START, START + period, calls)


def test_it_says_when_an_even_spend_ends() -> None:
    said = ask(spending(1_800), 1_800.0, 180.0, 300.0)

    assert said is not None
    assert said.rate_short == pytest.approx(0.1)
    assert (said.tte_short, said.tte_long) == (pytest.approx(1_200.0), pytest.approx(1_200.0))
    assert said.exhausted_at == pytest.approx(START + 3_000.0)
    assert said.total_mid == pytest.approx(360.0)


@pytest.mark.parametrize(
    ("at", "calls", "limit"),
    [(359.0, 100, 300.0), (1_800.0, 19, 300.0), (1_800.0, 100, 0.0), (3_600.0, 100, 300.0)],
    ids=["early in the period", "few calls", "no limit", "the period is over"],
)
def test_it_is_silent_when_there_is_nothing_to_say(at: float, calls: int, limit: float) -> None:
    assert ask(spending(int(at)), at, at / 10, limit, calls) is None


def test_it_is_silent_when_it_has_only_just_begun_to_look() -> None:
    forecaster = BudgetForecaster(HOUR)
    assert ask(forecaster, 1_800.0, 50.0, 300.0) is None
    for second in range(1_800, 2_100, 10):
        forecaster.observe(START + second, 1.0)

    assert ask(forecaster, 2_090.0, 50.0, 300.0) is None
    assert ask(forecaster, 2_100.0, 50.0, 300.0) is not None


def test_no_moment_is_too_early_when_half_of_the_limit_is_gone() -> None:
    forecaster = spending(120, amount=20.0)

    assert ask(forecaster, 120.0, 149.0, 300.0) is None
    said = ask(forecaster, 120.0, 240.0, 300.0)
    assert said is not None and alarm(said, Forecasting()) is Alarm.IMMINENT


def test_policy_says_what_is_early() -> None:
    forecaster = BudgetForecaster(HOUR, Forecasting(after=0.5, calls=5))
    for second in range(0, 1_801, 10):
        forecaster.observe(START + second, 1.0)

    assert ask(forecaster, 1_790.0, 100.0, 300.0, calls=5) is None
    assert ask(forecaster, 1_800.0, 100.0, 300.0, calls=5) is not None


@given(st.lists(st.floats(0.0, 299.0), min_size=2, max_size=2))
def test_the_more_is_spent_the_less_time_is_left(spent: list[float]) -> None:
    forecaster = spending(1_800)
    less, more = (ask(forecaster, 1_800.0, each, 300.0) for each in sorted(spent))

    assert less is not None and more is not None
    assert less.tte_short is not None and more.tte_short is not None
    assert more.tte_short <= less.tte_short


@pytest.mark.parametrize("spent", [300.0, 400.0])
def test_a_limit_that_is_reached_leaves_no_time(spent: float) -> None:
    said = ask(spending(1_800), 1_800.0, spent, 300.0)

    assert said is not None
    assert (said.tte_short, said.tte_long, said.exhausted_at) == (0.0, 0.0, START + 1_800.0)


def test_what_is_never_spent_has_no_end() -> None:
    said = ask(spending(1_800, amount=0.0), 1_800.0, 50.0, 300.0)

    assert said is not None
    assert (said.tte_short, said.tte_long, said.exhausted_at) == (None, None, None)


def test_what_lies_beyond_the_period_is_no_exhaustion() -> None:
    said = ask(spending(1_800), 1_800.0, 180.0, 370.0)

    assert said is not None and said.tte_short == pytest.approx(1_900.0)
    assert said.exhausted_at is None


STEPS = st.tuples(st.floats(-100.0, 20_000.0), st.floats(-1e6, 1e12), st.floats(0.0, 1e13), st.booleans())


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, max_size=60), st.sampled_from([60.0, HOUR, DAY, 7 * DAY]), st.booleans())
def test_whatever_comes_nothing_is_infinite_or_out_of_order(
    steps: list[tuple[float, float, float, bool]], period: float, rolling: bool
) -> None:
    forecaster = BudgetForecaster(period, rolling=rolling)
    wall, start = START, START
    for gap, amount, spent, closes in steps:
        wall += gap
        forecaster.observe(wall, amount)
        if closes:
            forecaster.close(start, start + period, spent)
            start = wall
        said = forecaster.forecast(wall + abs(gap) / 2, spent, 5e12, start, start + period, 100)
        if said is not None:
            _sound(said)


def _sound(said: Forecast) -> None:
    numbers = [each for each in said if isinstance(each, float | int)]
    assert all(math.isfinite(each) and each >= 0.0 for each in numbers)
    if said.total_low is not None and said.total_mid is not None and said.total_high is not None:
        assert said.spent <= said.total_low <= said.total_mid <= said.total_high
    if said.exceed_probability is not None:
        assert said.exceed_probability <= 1.0


def days(forecaster: BudgetForecaster, first: int, last: int, amounts: dict[int, float]) -> None:
    """Whole days, with their own amounts an hour (ten calls of it)."""
    for day in range(first, last):
        start = START + day * DAY
        spent = 0.0
        for hour in range(24):
            for call in range(10):
                amount = amounts.get(hour, 1.0) * (1.0 + day % 3 / 10)
                spent += amount
                wall = start + hour * HOUR + call * 360.0
                forecaster.observe(wall, amount)
                forecaster.forecast(wall, spent, 1e6, start, start + DAY, 100)
        forecaster.close(start, start + DAY, spent)


def test_after_two_days_it_knows_that_the_night_is_quiet() -> None:
    busy = {hour: 20.0 for hour in range(8, 18)}
    forecaster = BudgetForecaster(DAY)
    days(forecaster, 0, 3, busy)
    start = START + 3 * DAY
    spent = 0.0
    for hour in range(16):
        for call in range(10):
            spent += busy.get(hour, 1.0)
            forecaster.observe(start + hour * HOUR + call * 360.0, busy.get(hour, 1.0))
    said = forecaster.forecast(start + 16 * HOUR, spent, 1e6, start, start + DAY, 160)

    # 460 are to come: 2 hours of the day, 6 of the night; the rate alone would say about 1,500.
    assert said is not None and said.total_mid is not None
    assert said.total_mid - spent < 1_200.0


def test_a_day_of_summer_time_has_a_season_too_and_half_a_day_has_none() -> None:
    assert BudgetForecaster(DAY - HOUR).dump()["season"] is not None
    assert BudgetForecaster(DAY / 2).dump()["season"] is None


def test_bands_come_after_nine_periods_and_coverage_with_the_next() -> None:
    forecaster = BudgetForecaster(DAY)
    days(forecaster, 0, 8, {})
    start = START + 8 * DAY
    before = forecaster.forecast(start + DAY / 2, 120.0, 250.0, start, start + DAY, 100)
    days(forecaster, 8, 10, {})
    start = START + 10 * DAY
    after = forecaster.forecast(start + DAY / 2, 120.0, 250.0, start, start + DAY, 100)

    assert before is not None and before.total_mid is not None
    assert (before.total_low, before.exceed_probability, before.observations) == (None, None, 0)
    assert after is not None and after.total_low is not None and after.exceed_probability is not None
    assert after.observations == 10 and after.coverage is not None


def test_a_period_that_was_curbed_teaches_nothing() -> None:
    taught, curbed = BudgetForecaster(HOUR), BudgetForecaster(HOUR)
    for forecaster in (taught, curbed):
        for period in range(9):
            start = START + period * HOUR
            for second in range(0, 3_600, 60):
                forecaster.observe(start + second, 1.0)
                forecaster.forecast(start + second, second / 60, 100.0, start, start + HOUR, 100)
            forecaster.close(start, start + HOUR, 60.0, curbed=forecaster is curbed)

    start = START + 9 * HOUR
    assert (
        said := taught.forecast(start + 1_800.0, 30.0, 100.0, start, start + HOUR, 100)
    ) and said.total_low
    assert (said := curbed.forecast(start + 1_800.0, 30.0, 100.0, start, start + HOUR, 100))
    assert said.total_low is None


def test_a_rolling_budget_gets_back_what_grows_old() -> None:
    forecaster = BudgetForecaster(HOUR, rolling=True)
    for second in range(0, 7_200, 10):
        forecaster.observe(START + second, 1.0)
    wall = START + 7_190.0
    even = forecaster.forecast(wall, 360.0, 400.0, wall - HOUR, wall, 360)
    rising = forecaster.forecast(wall, 180.0, 400.0, wall - HOUR, wall, 360)

    # As much comes back as is spent: it lasts.
    assert even is not None and (even.tte_short, even.end, even.total_mid) == (None, None, None)
    assert rising is not None and rising.tte_short == pytest.approx(220.0 / 0.05)
    assert rising.exhausted_at is None  # it is further than the window


@pytest.mark.parametrize("period", [HOUR, DAY])
def test_what_was_dumped_goes_on_alike(period: float) -> None:
    forecaster = BudgetForecaster(period)
    days(forecaster, 0, 11, {12: 9.0})
    other = BudgetForecaster(period)
    other.load(forecaster.dump())
    start = START + 11 * DAY
    said = []
    for each in (forecaster, other):
        for second in range(0, 40_000, 600):
            each.observe(start + second, 3.0)
        said.append(each.forecast(start + 40_000.0, 200.0, 300.0, start, start + DAY, 100))

    assert said[0] == said[1] and said[0] is not None
    assert other.dump() == forecaster.dump()


@pytest.mark.parametrize(
    "dump", [{}, {"rates": [1.0], "bands": {}, "season": None}, {"rates": None, "bands": 1}]
)
def test_what_is_no_dump_is_refused(dump: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        BudgetForecaster(HOUR).load(dump)
