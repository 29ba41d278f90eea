"""Amounts as people read them: what differs looks different, and nothing small is rounded to nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.wording import duration, part_of, percent, sum_of, usd

AMOUNTS = st.integers(0, 10**13)


@given(AMOUNTS, AMOUNTS)
def test_two_amounts_look_alike_only_when_they_are(one: int, other: int) -> None:
    assert (usd(one, other) == usd(other, one)) == (one == other)


@given(AMOUNTS)
def test_what_is_read_is_near_enough_and_never_nothing(amount: int) -> None:
    said = float(usd(amount).replace(",", "")) * 1_000_000

    assert abs(said - amount) <= max(0.05 * amount, 0.5)
    assert (said == 0) == (amount == 0)


@given(AMOUNTS, AMOUNTS)
def test_amounts_that_are_read_together_have_the_same_decimals(one: int, other: int) -> None:
    places = {len(usd(*pair).partition(".")[2]) for pair in ((one, other), (other, one))}

    assert len(places) == 1
    assert places <= {2, 3, 4, 5, 6}


@pytest.mark.parametrize(
    ("part", "whole", "measure", "said"),
    [
        (10_000, 20_000, "usd", "0.01 of 0.02 USD"),
        (10_100, 20_000, "usd", "0.010 of 0.020 USD"),
        (20_660, 20_000, "usd", "0.021 of 0.020 USD"),
        (100, 20_000, "usd", "0.0001 of 0.0200 USD"),
        (8_100_000, 10_000_000, "usd", "8.10 of 10.00 USD"),
        (1, 1, "calls", "1 of 1 call"),
        (0, 200, "calls", "0 of 200 calls"),
        (12_345, 400_000, "tokens", "12,345 of 400,000 tokens"),
    ],
)
def test_how_much_of_how_much(part: int, whole: int, measure: str, said: str) -> None:
    assert part_of(part, whole, measure) == said


def test_one_is_not_many() -> None:
    assert [sum_of(each, "calls") for each in (0, 1, 2)] == ["0 calls", "1 call", "2 calls"]
    assert sum_of(1, "tokens") == "1 token"
    assert sum_of(1_000_000, "usd") == "1.00 USD"


@pytest.mark.parametrize(
    ("share", "said"),
    [(1.0, "100 %"), (0.005, "0.5 %"), (0.995, "99.5 %"), (0.0001, "0.01 %"), (1.2, "120 %")],
)
def test_a_share_is_not_rounded_to_nothing(share: float, said: str) -> None:
    assert percent(share) == said


@pytest.mark.parametrize("seconds", [0.0, 0.4, 0.99])
def test_what_is_nearly_over_is_not_said_to_be_in_no_seconds(seconds: float) -> None:
    assert duration(seconds) == "less than a second"
