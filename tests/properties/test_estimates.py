"""Estimates stay above what calls use, whatever the calls come to, and do not stay far above."""

from __future__ import annotations

import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from spanfuse_processor.engine.estimates import AT_WORST, Estimator, Track, worst_cost
from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates

RATES = Rates(3 * YOCTO_PER_MICRO, 15 * YOCTO_PER_MICRO, cached=YOCTO_PER_MICRO)
seeds = st.integers(0, 2**32)


def calls(seed: int, start: float, end: float, noise: float, count: int = 400) -> list[tuple[int, Usage]]:
    """Calls whose tokens a character go from `start` to `end`; answers get longer in the same measure."""
    dice, told = random.Random(seed), []
    for number in range(count):
        drift = start * (end / start) ** (number / count)
        characters = dice.randint(200, 60_000)
        asked = max(1, round(characters * drift * math.exp(dice.gauss(0, noise))))
        said = max(1, round(1_000 * drift * math.exp(dice.gauss(0, 3 * noise))))
        told.append((characters, Usage(asked, said)))
    return told


def covered(told: list[tuple[int, Usage]]) -> tuple[float, float]:
    """The share of calls from the 51st on whose tokens were under the estimate: asked and said."""
    estimator, asked, said = Estimator(), 0, 0
    for number, (characters, usage) in enumerate(told):
        if number >= 50:
            expected = estimator.expect("m", characters)
            asked += usage.input_tokens <= expected.input_tokens
            said += usage.output_tokens <= expected.output_tokens
        estimator.learn("m", characters, usage)
    return asked / (len(told) - 50), said / (len(told) - 50)


@settings(max_examples=60, deadline=None)
@given(seeds, st.floats(0.1, 0.6), st.floats(0.1, 0.6), st.floats(0.0, 0.3))
def test_nine_in_ten_and_more_use_less_than_was_estimated_while_everything_drifts(
    seed: int, start: float, end: float, noise: float
) -> None:
    asked, said = covered(calls(seed, start, end, noise))

    assert min(asked, said) >= 0.9


@settings(max_examples=60, deadline=None)
@given(seeds, st.floats(0.1, 0.6), st.floats(0.0, 0.15))
def test_estimates_come_close_to_what_is_used_where_nothing_drifts(
    seed: int, rate: float, noise: float
) -> None:
    estimator = Estimator()
    for characters, usage in calls(seed, rate, rate, noise):
        estimator.learn("m", characters, usage)
    characters = 30_000
    expected = estimator.expect("m", characters).input_tokens

    assert 0.95 <= expected / (rate * characters) <= 1.4 * math.exp(3 * noise)
    assert abs(estimator.count("m", characters) / (rate * characters) - 1) <= 0.02 + noise


@given(st.integers(0, 10**7), st.integers(1, 10**5), st.lists(st.tuples(seeds, seeds), max_size=30))
def test_a_longer_request_never_costs_less_and_a_limit_always_holds(
    characters: int, most: int, told: list[tuple[int, int]]
) -> None:
    estimator = Estimator()
    for asked, said in told:
        estimator.learn("m", asked % 10_000, Usage(asked % 5_000, said % 5_000))
    short, long = (estimator.expect("m", each, most) for each in (characters, characters + 500))

    assert short.output_tokens == long.output_tokens == most
    assert worst_cost(RATES, short) <= worst_cost(RATES, long)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_worst_cost_is_over_the_cost_of_whatever_stays_within_the_estimate(
    characters: int, asked: int, said: int
) -> None:
    expected = Estimator().expect("m", characters)
    usage = Usage(min(asked, expected.input_tokens), min(said, expected.output_tokens))
    usage.cached_tokens = usage.input_tokens // 3

    assert RATES.cost(usage) <= worst_cost(RATES, expected)


def test_a_text_of_nothing_but_tokens_is_not_underestimated_by_more_than_half_at_first() -> None:
    assert Estimator().expect("m", 10_000).input_tokens >= AT_WORST * 10_000


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=200))
def test_a_track_is_never_below_its_middle(numbers: list[float]) -> None:
    track = Track()
    for number in numbers:
        track.add(number)

    assert min(numbers[-64:]) <= track.middle <= track.upper
