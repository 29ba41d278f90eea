"""The others are what they say they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.accuracy.forecast.peers import Average, Line, PredictLinear

LENGTH, WINDOW = 2_400.0, 600.0  # a sample each ten seconds


def least_squares(samples: list[tuple[float, float]], wall: float) -> Line:
    """The dumb twin: Prometheus' own way, times measured from the moment of asking."""
    count = len(samples)
    x, y = sum(at - wall for at, _ in samples), sum(value for _, value in samples)
    xy, xx = sum((at - wall) * value for at, value in samples), sum((at - wall) ** 2 for at, _ in samples)
    slope = (xy - x * y / count) / (xx - x * x / count)
    return Line(y / count - slope * x / count, slope)


@given(st.lists(st.floats(0.0, 1e4), min_size=3, max_size=200))
def test_predict_linear_is_least_squares_over_the_samples_of_its_window(amounts: list[float]) -> None:
    line, spent, samples = PredictLinear(0.0, LENGTH, WINDOW), 0.0, []
    for second, amount in enumerate(amounts):
        wall = second * 10.0
        samples.append((wall, spent))
        spent += amount
        line.observe(wall, spent)
    expected = least_squares([each for each in samples if each[0] >= wall - WINDOW], wall)

    found = line.at(wall)
    assert found is not None
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-3)


def test_one_sample_says_nothing() -> None:
    line = PredictLinear(0.0, LENGTH, WINDOW)
    line.observe(5.0, 10.0)

    assert line.at(5.0) is None


def test_the_average_is_what_was_spent_since_the_start() -> None:
    average = Average(100.0)
    average.observe(300.0, 50.0)

    assert average.at(300.0) == Line(50.0, 0.25)
    assert average.at(100.0) is None


@pytest.mark.parametrize(
    ("rate", "limit", "seconds"), [(2.0, 110.0, 5.0), (0.0, 110.0, None), (2.0, 90.0, 0.0)]
)
def test_a_line_says_when_it_reaches_a_limit(rate: float, limit: float, seconds: float | None) -> None:
    assert Line(100.0, rate).until(limit) == seconds
