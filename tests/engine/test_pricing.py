"""Pricing: whole numbers all the way, rounded half up once."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine.nouns import Details, Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, DetailRates, NoPrices, PriceBook, Rates

DOLLAR = YOCTO_PER_MICRO  # one US dollar a million tokens
FLAT = Rates(input=2 * DOLLAR, output=10 * DOLLAR)
CACHING = Rates(input=10 * DOLLAR, output=50 * DOLLAR, cached=DOLLAR, cache_write=12 * DOLLAR)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(), 0),
        (Usage(1000, 100), 2000 + 1000),
        (Usage(1000, 0, cached_tokens=400), 2000),
        (Usage(1000, 0, cache_write_tokens=400), 2000),
    ],
)
def test_parts_without_a_price_of_their_own_cost_what_the_whole_costs(usage: Usage, cost: int) -> None:
    assert FLAT.cost(usage) == cost


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(100, cached_tokens=60), 40 * 10 + 60),
        (Usage(100, cache_write_tokens=60), 40 * 10 + 60 * 12),
        (Usage(100, cached_tokens=60, cache_write_tokens=40), 60 + 40 * 12),
    ],
)
def test_parts_with_a_price_are_taken_out_of_the_whole(usage: Usage, cost: int) -> None:
    assert CACHING.cost(usage) == cost


def test_parts_over_the_whole_were_left_out_of_it() -> None:
    """Some emitters report 5 fresh tokens beside 100 cached ones."""
    assert CACHING.cost(Usage(5, cached_tokens=100)) == 5 * 10 + 100


def test_reasoning_is_a_part_of_the_output() -> None:
    rates = Rates(DOLLAR, 2 * DOLLAR, reasoning=5 * DOLLAR)

    assert rates.cost(Usage(0, 100, reasoning_tokens=30)) == 70 * 2 + 30 * 5
    assert FLAT.cost(Usage(0, 100, reasoning_tokens=30)) == 1000


def test_over_the_start_of_a_tier_all_tokens_cost_its_rates() -> None:
    rates = Rates(DOLLAR, DOLLAR, tiers=((200, Rates(2 * DOLLAR, 3 * DOLLAR)), (400, Rates(4 * DOLLAR, 0))))

    assert [rates.cost(Usage(tokens, 10)) for tokens in (200, 201, 401)] == [210, 402 + 30, 1604]


def test_a_tier_is_chosen_by_all_tokens_that_went_in() -> None:
    rates = Rates(DOLLAR, 0, tiers=((200, Rates(2 * DOLLAR, 0)),))

    assert rates.cost(Usage(150, cached_tokens=150, cache_write_tokens=100)) == 2 * 400


def test_a_price_for_each_call_is_added() -> None:
    assert Rates(DOLLAR, 0, call=5000 * YOCTO_PER_MICRO).cost(Usage(1)) == 5001


@pytest.mark.parametrize(("tokens", "cost"), [(4, 0), (5, 1), (14, 1), (15, 2)])
def test_a_cost_is_rounded_half_up(tokens: int, cost: int) -> None:
    assert Rates(DOLLAR // 10, 0).cost(Usage(tokens)) == cost


def test_what_is_priced_apart_twice_is_taken_out_once() -> None:
    """An emitter may say that all of an answer was thought, and spoken as well."""
    rates = Rates(0, DOLLAR, reasoning=0, details=DetailRates(audio_output=0))

    assert rates.cost(Usage(0, 100, reasoning_tokens=100, details=Details(audio_output=100))) == 0


def test_more_heard_and_seen_than_there_was_is_not_taken_out_twice() -> None:
    rates = Rates(
        DOLLAR, DOLLAR, details=DetailRates(audio_input=0, image_input=0, audio_output=0, image_output=0)
    )
    odd = Details(audio_input=100, image_input=100, audio_output=50, image_output=50)

    assert rates.cost(Usage(100, 50, details=odd)) == 0


def test_details_without_a_price_of_their_own_cost_what_they_are_a_part_of() -> None:
    usage = Usage(1000, 100, 200, 0, 0, Details(audio_input=400, audio_cached=100, searches=3))

    assert CACHING.cost(usage) == CACHING.cost(Usage(1000, 100, 200))


def test_searches_are_charged_one_by_one() -> None:
    rates = Rates(DOLLAR, 0, details=DetailRates(search=10_000 * YOCTO_PER_MICRO))

    assert rates.cost(Usage(5, details=Details(searches=3))) == 30_005


def test_a_book_without_a_page_knows_nothing() -> None:
    book: PriceBook = NoPrices()

    assert book.rates("openai", "gpt-4o", 20_000) is None
