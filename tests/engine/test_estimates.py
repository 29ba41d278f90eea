"""Estimates: from lengths to tokens to money, on the upper side, learning from where they fell short."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine.estimates import (
    ENOUGH,
    LEAST_SAID,
    MODELS,
    MOST_SAID,
    RECENT,
    Estimator,
    Expected,
    Track,
    worst_cost,
)
from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, DetailRates, Rates

DOLLAR = YOCTO_PER_MICRO


def taught(calls: int, asked: int = 1_000, said: int = 200, characters: int = 3_968) -> Estimator:
    estimator = Estimator()
    for _ in range(calls):
        estimator.learn("m", characters, Usage(asked, said))
    return estimator


class TestWhatIsAsked:
    def test_an_unknown_model_takes_one_token_for_two_characters_at_worst(self) -> None:
        assert Estimator().expect("m", 10_000).input_tokens == 5_016

    def test_a_model_that_is_known_takes_what_it_took(self) -> None:
        assert taught(ENOUGH).expect("m", 7_968).input_tokens == 2_000

    def test_a_model_of_which_little_is_known_is_never_taken_for_thriftier_than_an_unknown_one(self) -> None:
        assert taught(3).expect("m", 3_968).input_tokens == 2_000
        assert taught(3, asked=4_000).expect("m", 3_968).input_tokens == 5_000

    def test_a_guess_afterwards_is_in_the_middle_and_not_above(self) -> None:
        estimator = Estimator()
        for asked in (500, 1_000, 4_000):
            estimator.learn("m", 3_968, Usage(asked, 1))

        assert estimator.count("m", 3_968) == 1_000
        assert Estimator().count("m", 3_968) == 1_120

    def test_models_are_learnt_apart(self) -> None:
        assert taught(ENOUGH).expect("other", 3_968).input_tokens == 2_000

    @pytest.mark.parametrize(("characters", "usage"), [(-1, Usage(10, 1)), (100, Usage(0, 50))])
    def test_what_tells_nothing_of_a_request_teaches_nothing(self, characters: int, usage: Usage) -> None:
        estimator = Estimator()
        estimator.learn("m", characters, usage)

        assert estimator.expect("m", 3_968) == Estimator().expect("m", 3_968)


class TestWhatIsSaid:
    def test_at_most_what_the_request_allows(self) -> None:
        assert taught(50).expect("m", 100, max_tokens=77).output_tokens == 77

    def test_without_a_limit_what_few_answers_of_the_model_went_over(self) -> None:
        estimator = Estimator()
        for said in range(1, 41):
            estimator.learn("m", 100, Usage(10, 10 * said))

        assert 390 <= estimator.expect("m", 100).output_tokens <= 600

    def test_before_that_a_number_that_is_large_enough_for_most(self) -> None:
        said = [taught(calls, said=200).expect("m", 1).output_tokens for calls in (0, 3)]

        assert said == [MOST_SAID, LEAST_SAID]
        assert taught(3, said=900).expect("m", 1).output_tokens == 1_800
        assert taught(3, said=9_000).expect("m", 1).output_tokens == MOST_SAID


def test_of_many_models_the_one_not_heard_of_for_longest_is_forgotten() -> None:
    estimator = Estimator()
    for number in range(MODELS + 1):
        estimator.learn(f"m{number}", 968, Usage(100 * (number % 2 + 1), 5))
        estimator.learn("m0", 968, Usage(100, 5))

    assert len(estimator._models) == MODELS
    assert "m0" in estimator._models
    assert "m1" not in estimator._models


def test_a_track_remembers_so_many_and_no_more() -> None:
    track = Track()
    for number in range(10 * RECENT):
        track.add(float(number))

    assert (track.seen, track.middle) == (RECENT, 9.5 * RECENT)


class TestWorstCost:
    def test_everything_is_charged_as_if_it_were_fresh_and_thought(self) -> None:
        rates = Rates(
            2 * DOLLAR, 3 * DOLLAR, cached=0, cache_write=4 * DOLLAR, reasoning=5 * DOLLAR, call=DOLLAR
        )

        assert worst_cost(rates, Expected(100, 10)) == 400 + 50 + 1

    def test_a_call_that_is_heard_or_seen_costs_what_that_costs(self) -> None:
        details = DetailRates(audio_input=9 * DOLLAR, audio_output=20 * DOLLAR, image_output=30 * DOLLAR)
        rates = Rates(DOLLAR, DOLLAR, details=details)

        assert worst_cost(rates, Expected(100, 10)) == 110
        assert worst_cost(rates, Expected(100, 10, media=True)) == 900 + 300

    def test_a_long_request_has_the_price_of_its_tier_and_a_service_its_own(self) -> None:
        rates = Rates(
            DOLLAR, 0, tiers=((1000, Rates(2 * DOLLAR, 0)),), services=(("batch", Rates(DOLLAR // 2, 0)),)
        )

        assert [worst_cost(rates, Expected(tokens, 0)) for tokens in (1000, 1001)] == [1000, 2002]
        assert worst_cost(rates, Expected(1000, 0), "batch") == 500

    def test_a_part_of_a_micro_dollar_is_one(self) -> None:
        assert worst_cost(Rates(1, 0), Expected(1, 0)) == 1
        assert worst_cost(Rates(0, 0), Expected(10**9, 10**9)) == 0
