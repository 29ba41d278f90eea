"""Bands hold as often as they say, and nothing is said from too few."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.forecasts.conformal import Bands, Ratios, bounds


@pytest.mark.parametrize(("covered", "least"), [(0.8, 9), (0.9, 19)])
def test_no_bounds_of_too_few(covered: float, least: int) -> None:
    assert bounds([1.0] * (least - 1), covered) is None
    assert bounds([1.0] * least, covered) == (1.0, 1.0)


@pytest.mark.parametrize(("covered", "count"), [(0.8, 9), (0.8, 14), (0.8, 60), (0.9, 19), (0.9, 37)])
def test_bounds_hold_as_often_as_they_say(covered: float, count: int) -> None:
    draw = random.Random(count)
    held, rounds = 0, 4_000
    for _ in range(rounds):
        low, high = bounds(sorted(draw.gauss(0, 1) for _ in range(count)), covered) or (0.0, 0.0)
        held += low <= draw.gauss(0, 1) <= high

    assert held / rounds == pytest.approx(covered, abs=0.025)


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=100))
def test_only_the_last_are_kept_in_both_orders(ratios: list[float]) -> None:
    kept = Ratios(0.8, 20)
    for each in ratios:
        kept.add(each)

    assert list(kept.came) == ratios[-20:]
    assert list(kept.ordered) == sorted(ratios[-20:])
    assert Ratios(0.8, 20, kept.came).factors == kept.factors
    assert 0.0 < kept.above(1.0) < 1.0


def closed(totals: list[float], said: float = 100.0) -> Bands:
    bands = Bands()
    for total in totals:
        for tenth in range(10):
            bands.say(tenth / 10 + 0.05, said)
        bands.close(total)
    return bands


def test_each_tenth_has_a_band_of_its_own() -> None:
    bands = Bands()
    for each in range(12):
        bands.say(0.15, 100.0)
        bands.say(0.95, 100.0)
        bands.close(100.0 + each)

    assert bands.band(0.95, 100.0, 90.0) is not None
    assert bands.band(0.55, 100.0, 90.0) is None


def test_the_first_that_is_said_in_a_tenth_stands() -> None:
    bands = Bands()
    for _ in range(9):
        bands.say(0.31, 100.0)
        bands.say(0.39, 1_000.0)
        bands.close(200.0)

    found = bands.band(0.35, 50.0, 99.0)
    assert found is not None and (found.low, found.high, found.observations) == (100.0, 100.0, 9)


def test_it_knows_how_often_it_was_right() -> None:
    alike = closed([100.0 + each % 5 for each in range(40)])
    worse = closed([100.0 + 10.0 * each for each in range(40)])

    assert alike.coverage == 1.0
    assert worse.coverage == 0.0


def test_a_period_that_was_curbed_teaches_nothing() -> None:
    bands = closed([100.0] * 8)
    bands.say(0.55, 100.0)
    bands.close(None)

    assert bands.band(0.55, 100.0, 90.0) is None
    bands.close(100.0)
    assert bands.dump()["ratios"][5] == [5, [1.0] * 8]


def test_what_was_dumped_goes_on_alike() -> None:
    bands = closed([90.0 + each for each in range(20)])
    bands.say(0.55, 100.0)
    other = Bands()
    other.load(bands.dump())
    for each in (bands, other):
        each.close(105.0)

    assert other.dump() == bands.dump()
    assert other.coverage == bands.coverage
    for broken in ({"ratios": [[10, [1.0]]]}, {"said": [[3, 0.0]]}):
        with pytest.raises(ValueError):
            other.load(bands.dump() | broken)
    with pytest.raises(ValueError):
        Ratios(0.8, 20, [float("nan")])
