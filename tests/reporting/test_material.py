"""What is derived from rows: sums, and what would have been spent."""

from __future__ import annotations

import pytest
from tests.reporting.rows import START, event, material, steps

from spanfuse_processor.reporting.curve import words
from spanfuse_processor.reporting.material import runs_of


def test_steady_spend_goes_on_at_its_rate_after_the_stop() -> None:
    made = material(steps(100, cost=20_000), [event("trip", START + 60.5, detector="repeat")])

    ahead = made.ahead

    assert ahead is not None
    assert ahead.at == START + 60.5
    assert ahead.spent == 30 * 20_000
    # A call of 0.02 USD every two seconds: 0.01 a second.
    assert ahead.low == pytest.approx(10_000 * (ahead.until - ahead.at), rel=0.25)
    assert ahead.high == pytest.approx(10_000 * (ahead.until - ahead.at), rel=0.25)


def test_spend_that_speeds_up_has_a_band_between_two_rates() -> None:
    rows = [row._replace(cost=row.cost * row.number) for row in steps(100)]

    ahead = material(rows, []).ahead

    assert ahead is not None
    assert 0 < ahead.low < ahead.high


def test_too_little_spend_says_nothing_of_what_comes() -> None:
    made = material(steps(4), [])

    assert made.ahead is None
    assert words(made) == ""


def test_what_does_not_count_costs_nothing() -> None:
    rows = steps(3)

    assert material([rows[0], rows[0]._replace(counts=False)], []).cost == rows[0].cost


def test_words_say_what_the_stop_was_in_the_way_of() -> None:
    stopped = material(steps(100), [event("trip", START + 60.5)])

    assert words(stopped).startswith("Forecast: without the stop another ")
    assert words(material(steps(100), [])).startswith("Forecast: another ")


def test_runs_are_summed_dearest_first() -> None:
    sums = runs_of([*steps(4, "a", cost=1), *steps(6, "b", cost=2)])

    assert [(each.run, each.calls, each.cost) for each in sums] == [("b", 6, 6), ("a", 4, 2)]
    assert sums[0].first == START + 0.2
    assert sums[0].last == START + 6
