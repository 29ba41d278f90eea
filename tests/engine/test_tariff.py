"""A policy's prices: before the book's, and behind them."""

from __future__ import annotations

import pytest
from tests.engine.making import Book

from spanfuse_processor.engine.nouns import Details, Usage
from spanfuse_processor.engine.policy import Price
from spanfuse_processor.engine.pricing import PENDING, Rates
from spanfuse_processor.engine.tariff import Tariff, rates_of

DAY = 20_600
DEAR = Price(input=3.0, output=15.0)


def told(tariff: Tariff, provider: str, model: str) -> Rates:
    rates = tariff.rates(provider, model, DAY)
    assert isinstance(rates, Rates)
    return rates


def test_a_model_of_ones_own_costs_what_is_written_whatever_the_book_says() -> None:
    rates = told(Tariff({"good": DEAR}, None, Book()), "openai", "good")

    assert rates.cost(Usage(1_000_000, 100_000)) == 3_000_000 + 1_500_000


def test_a_local_model_costs_nothing_on_purpose() -> None:
    rates = told(Tariff({"ollama/*": Price()}, None, Book()), "ollama", "llama3")

    assert (rates.cost(Usage(10**9, 10**9)), rates.fallback) == (0, False)


@pytest.mark.parametrize("pattern", ["go*", "GOOD", "openai/*", "OpenAI/good", "*"])
def test_patterns_are_of_models_or_of_provider_and_model_in_any_case(pattern: str) -> None:
    rates = told(Tariff({pattern: DEAR}, None, Book()), "openai", "good")

    assert rates.cost(Usage(1_000)) == 3_000


def test_the_last_pattern_that_matches_holds_and_others_leave_the_book_its_word() -> None:
    tariff = Tariff({"d*": DEAR, "dea*": Price(1.0, 1.0)}, None, Book())

    assert [told(tariff, "", model).cost(Usage(1_000)) for model in ("dear", "good")] == [1_000, 1_000]
    assert told(tariff, "", "dull").cost(Usage(1_000)) == 3_000


def test_what_nobody_knows_costs_the_fallback_and_is_marked() -> None:
    rates = told(Tariff({}, DEAR, Book()), "", "odd")

    assert (rates.cost(Usage(1_000)), rates.fallback) == (3_000, True)


def test_without_a_fallback_what_nobody_knows_has_no_price() -> None:
    assert Tariff({"x": DEAR}, None, Book()).rates("", "odd", DAY) is None


def test_a_price_that_is_being_looked_up_is_awaited_and_not_replaced_by_the_fallback() -> None:
    assert Tariff({}, DEAR, Book()).rates("", "slow", DAY) is PENDING


def test_a_written_price_is_exact_to_the_last_digit() -> None:
    rates = rates_of(Price(input=0.1, output=0.3, cached=0.0125, call=0.0001))

    assert rates.input * 10 == 10**18
    assert rates.cost(Usage(3, 0)) == 100  # 0.3 of a micro-dollar, and 100 for the call
    assert rates.cached == 125 * 10**14


def test_each_part_that_is_named_has_its_price() -> None:
    price = Price(
        input=10, output=20, cached=1, cache_write=12, reasoning=30, audio_input=100, audio_output=200, call=1
    )
    usage = Usage(100, 50, 10, 20, 5, Details(audio_input=30, audio_output=15))

    assert rates_of(price).cost(usage) == (
        (100 - 10 - 20 - 30) * 10
        + 10 * 1
        + 20 * 12
        + 30 * 100
        + (50 - 5 - 15) * 20
        + 5 * 30
        + 15 * 200
        + 10**6
    )


def test_a_part_that_is_not_named_costs_what_it_is_a_part_of() -> None:
    usage = Usage(100, 50, 10, 20, 5, Details(audio_input=30, audio_output=15))

    assert rates_of(DEAR).cost(usage) == 300 + 750


def test_the_book_is_not_asked_about_what_is_written() -> None:
    book = Book()
    tariff = Tariff({"good": DEAR}, None, book)
    for _ in range(3):
        told(tariff, "", "good")

    assert book.asked == []
