"""The clock of the season runs with spend, and once round in a day."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.forecasts.rates import DAY, HOUR
from spanfuse_processor.engine.forecasts.season import Season

AMOUNTS = st.lists(st.floats(0.0, 1e6), min_size=24, max_size=24)


def after(days: list[float], times: int = 3) -> Season:
    season = Season()
    for hour in range(24 * times + 1):
        season.observe(hour * HOUR, days[hour % 24])
    return season


def test_before_two_days_every_hour_weighs_the_same() -> None:
    season = after([100.0] + [0.0] * 23, times=1)

    assert season.clock(12_345.0) == 12_345.0


def test_an_hour_that_spends_more_passes_faster() -> None:
    season = after([9.0] * 12 + [1.0] * 12)

    assert season.clock(HOUR) - season.clock(0.0) == pytest.approx(1.4 * HOUR)
    assert season.clock(DAY) - season.clock(DAY - HOUR) == pytest.approx(0.6 * HOUR)


@given(AMOUNTS, st.floats(0.0, 5e5))
def test_a_day_is_a_day_and_the_clock_can_be_read_back(amounts: list[float], wall: float) -> None:
    season = after(amounts)

    assert season.clock(wall + DAY) == pytest.approx(season.clock(wall) + DAY)
    assert season.when(season.clock(wall)) == pytest.approx(wall, abs=1e-3)


@given(AMOUNTS, st.floats(0.0, 5e5), st.floats(0.0, 5e5))
def test_the_clock_never_stands_still(amounts: list[float], one: float, other: float) -> None:
    season = after(amounts)
    sooner, later = sorted((one, other))

    assert season.clock(later) - season.clock(sooner) >= 0.5 * (later - sooner) - 1e-3


def test_a_shape_that_changes_is_learnt_anew() -> None:
    season = after([9.0] * 12 + [1.0] * 12)
    for hour in range(24 * 3 + 1, 24 * 10):
        season.observe(hour * HOUR, 1.0 if hour % 24 < 12 else 9.0)

    assert season.clock(HOUR) < HOUR


def test_a_year_of_silence_is_over_in_a_moment_and_leaves_the_shape() -> None:
    season = after([9.0] * 12 + [1.0] * 12)
    season.observe(365 * DAY, 1.0)

    assert season.when(season.clock(366 * DAY)) == pytest.approx(366 * DAY)


def test_spend_of_an_hour_that_is_over_counts_to_this_one() -> None:
    season = after([1.0] * 24)
    season.observe(10 * HOUR, 5.0)

    assert season.dump()["now"] == 6.0


def test_what_was_dumped_goes_on_alike() -> None:
    season = after([9.0] * 12 + [1.0] * 12)
    other = Season()
    other.load(season.dump())

    assert other.clock(12_345.0) == season.clock(12_345.0)
    with pytest.raises(ValueError):
        other.load(season.dump() | {"weights": [0.0] * 24})
