"""Rates are the slope of a weighted regression, whatever the order and the gaps."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.forecasts.rates import DAY, HOUR, Rates, half_lives

GAPS = st.floats(0.0, 7_200.0).map(lambda gap: 0.0 if gap < 0.001 else gap)
SPENDS = st.lists(st.tuples(GAPS, st.floats(0.0, 1e9)), min_size=1, max_size=40)


def told(spends: list[tuple[float, float]], period: float = HOUR, start: float = 1e9) -> tuple[Rates, float]:
    rates, wall = Rates(period), start
    for gap, amount in spends:
        wall += gap
        rates.observe(wall, amount, gap)
    return rates, wall


def regression(spends: list[tuple[float, float]], half_life: float) -> float:
    """The dumb twin: weighted least squares through the origin, over all increments at once.

    The weight of an increment is that of its interval, over the square of its length.
    """
    fade = math.log(2.0) / half_life
    increments: list[list[float]] = []  # age at its end, its length, its amount
    for gap, amount in spends[1:]:
        if gap > 0.0:
            for each in increments:
                each[0] += gap
            increments.append([0.0, gap, amount])
        elif increments:
            # At the moment of the one before: it is all of now.
            increments.append([0.0, 0.0, amount])
    moments = sum(
        amount * math.exp(-fade * age) * (-math.expm1(-fade * gap) / (fade * gap) if gap else 1.0)
        for age, gap, amount in increments
    )
    squares = sum(math.exp(-fade * age) * -math.expm1(-fade * gap) / fade for age, gap, _ in increments)
    return moments / squares if squares else 0.0


@given(SPENDS)
def test_rates_equal_a_regression_over_all_increments(spends: list[tuple[float, float]]) -> None:
    rates, wall = told(spends)
    short, long = half_lives(HOUR)

    assert rates.at(wall, 0.0).short == pytest.approx(regression(spends, short), rel=1e-4, abs=1e-6)
    assert rates.at(wall, 0.0).long == pytest.approx(regression(spends, long), rel=1e-4, abs=1e-6)


@given(SPENDS, st.floats(0.0, 1e7))
def test_rates_are_finite_and_not_negative(spends: list[tuple[float, float]], later: float) -> None:
    rates, wall = told(spends)

    assert all(math.isfinite(each) and each >= 0.0 for each in rates.at(wall + later, later))


def test_spend_that_goes_on_evenly_has_one_rate_however_it_is_cut() -> None:
    coarse, _ = told([(600.0, 600.0)] * 30)
    fine, wall = told([(7.0, 7.0)] * 2_000)

    assert coarse.at(1e9 + 18_000.0, 0.0).long == pytest.approx(1.0)
    assert fine.at(wall, 0.0).short == pytest.approx(1.0)


def test_silence_lowers_the_rate_and_the_short_one_faster() -> None:
    rates, wall = told([(10.0, 10.0)] * 500)
    later = rates.at(wall + 300.0, 300.0)

    assert later.short == pytest.approx(0.5, rel=0.02)
    assert later.short < later.long < 1.0


def test_a_burst_after_a_night_is_seen_at_once() -> None:
    rates, wall = told([(10.0, 1.0)] * 100 + [(40_000.0, 1.0)] + [(10.0, 100.0)] * 30)

    assert rates.at(wall, 0.0).short > 4.0


def test_a_correction_downward_counts_as_nothing() -> None:
    rates, wall = told([(10.0, 10.0)] * 50)
    corrected, _ = told([(10.0, 10.0)] * 50)
    corrected.observe(wall, -500.0, 0.0)

    assert corrected.at(wall, 0.0) == rates.at(wall, 0.0)


def test_what_comes_late_counts_now() -> None:
    rates, wall = told([(10.0, 10.0)] * 50)
    before = rates.at(wall, 0.0).short
    rates.observe(wall - 200.0, 50.0, -200.0)

    assert rates.last == wall
    assert rates.at(wall, 0.0).short > before


def test_what_was_dumped_goes_on_alike() -> None:
    rates, wall = told([(10.0, 10.0)] * 50)
    other = Rates(HOUR)
    other.load(rates.dump())

    assert other.at(wall + 5.0, 5.0) == rates.at(wall + 5.0, 5.0)
    assert Rates(HOUR).dump() == []
    with pytest.raises(ValueError):
        other.load([1.0, 2.0])


@pytest.mark.parametrize(
    ("period", "lives"),
    [
        (HOUR, (300.0, 900.0)),
        (DAY, (HOUR, 6 * HOUR)),
        (7 * DAY, (6 * HOUR, DAY)),
        (30 * DAY, (DAY, 4 * DAY)),
        (60 * DAY, (2 * DAY, 8 * DAY)),
        (60.0, (5.0, 15.0)),
    ],
)
def test_half_lives_of_known_periods(period: float, lives: tuple[float, float]) -> None:
    assert half_lives(period) == pytest.approx(lives)


@given(st.floats(1.0, 100 * DAY), st.floats(1.0, 100 * DAY))
def test_longer_periods_remember_longer(one: float, other: float) -> None:
    shorter, longer = sorted((one, other))

    assert half_lives(shorter)[0] <= half_lives(longer)[0] * (1 + 1e-9)
    assert half_lives(shorter)[0] < half_lives(shorter)[1] < shorter
