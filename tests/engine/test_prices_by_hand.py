"""Prices: a call costs what a hand calculation says, for every model of the recorded spans and many more."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from tests.engine.by_hand import BOOK, EPOCH, SERVICES, by_hand, published

from spanfuse_processor.engine.genai_book import GenaiPrices
from spanfuse_processor.engine.nouns import Details, Usage

TODAY = date(2026, 11, 23)

# Every model whose spans are recorded: what the emitters call provider and model, and what the book does.
EMITTED = [
    ("openai", "gpt-4o-mini-2024-07-18", "openai", "gpt-4o-mini"),
    ("openai", "gpt-4o-mini", "openai", "gpt-4o-mini"),
    ("anthropic", "claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5"),
    ("gcp.gemini", "gemini-2.5-flash", "google", "gemini-2.5-flash"),
    ("openai", "text-embedding-3-small", "openai", "text-embedding-3-small"),
]
OTHERS = [
    *("openai gpt-4.1", "openai gpt-4o", "openai gpt-5", "openai gpt-5-nano", "openai gpt-5.3-codex"),
    *("openai gpt-5.4", "openai gpt-5.5-pro", "openai gpt-6-sol", "openai o3", "openai o4-mini"),
    *("openai gpt-audio", "openai gpt-realtime", "openai gpt-realtime-mini", "openai gpt-4o-transcribe"),
    *("openai gpt-image-1", "openai gpt-image-1.5", "openai text-embedding-3-large"),
    *("anthropic claude-haiku-4-5", "anthropic claude-haiku-5-5", "anthropic claude-opus-4-8"),
    *("anthropic claude-sonnet-4-6", "anthropic claude-3-5-haiku-latest"),
    *("google gemini-2.0-flash", "google gemini-2.5-pro", "google gemini-2.5-flash-lite"),
    *("google gemini-3-pro-image-preview", "google gemini-embedding-2", "google gemini-3.8-flash"),
    *("mistral mistral-large-4", "x-ai grok-4.3", "x-ai grok-4.20", "perplexity sonar-pro"),
    *("perplexity sonar-deep-research", "groq llama-3.3-70b-versatile", "aws amazon.nova-sonic-v1:0"),
]
MODELS = [
    *(pytest.param(*each, id=each[1]) for each in EMITTED),
    *(pytest.param(*each.split(" "), *each.split(" "), id=each) for each in OTHERS),
]
USAGES = [
    Usage(1_234, 567),
    Usage(900, 77, cached_tokens=640),
    Usage(4_001, 11, cached_tokens=1_024, cache_write_tokens=2_048, reasoning_tokens=7),
    Usage(300_001, 9_999, cached_tokens=100_000, cache_write_tokens=50_000, reasoning_tokens=9_000),
    Usage(5_000, 400, cache_write_tokens=4_000, details=Details(kept=1_500, searches=3)),
    Usage(3_000, 500, cached_tokens=700, details=Details(0, 1_200, 400, 300, 600, 100, 150)),
    Usage(300_000, 500, 7_000, 60_000, 10, Details(20_000, 1_200, 400, 300, 600, 100, 150, 1)),
]


@pytest.fixture(scope="module")
def book() -> GenaiPrices:
    return GenaiPrices()


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(("provider", "model", "owner", "name"), MODELS)
def test_a_call_costs_what_a_hand_calculation_says(
    book: GenaiPrices, provider: str, model: str, owner: str, name: str, service: str
) -> None:
    rates = book.rates(provider, model, (TODAY - EPOCH).days)

    assert rates is not None
    for usage in USAGES:
        assert rates.cost(usage, service) == by_hand(BOOK[owner][name], usage, TODAY, service), usage


def test_the_models_above_have_every_kind_of_price() -> None:
    told = [
        repr(published(BOOK[owner][name], TODAY, service))
        for _, _, owner, name in (each.values for each in MODELS)
        for service in SERVICES
    ]
    kinds = (
        "tiers=",
        "cache_write_mtok",
        "cache_write_1h",
        "input_audio",
        "cache_audio_read",
        "output_audio",
    )
    more = ("input_image", "cache_image_read", "output_image", "output_reasoning", "requests", "web_searches")

    assert len(OTHERS) >= 30
    assert {kind: any(kind in prices for prices in told) for kind in (*kinds, *more)} == dict.fromkeys(
        (*kinds, *more), True
    )


@pytest.mark.parametrize(
    ("service", "dollars"), [("", 1.25), ("priority", 2.5), ("flex", 0.625), ("batch", 0.625), ("fast", 2.5)]
)
def test_how_a_call_is_served_has_its_price(book: GenaiPrices, service: str, dollars: float) -> None:
    rates = book.rates("openai", "gpt-5", (TODAY - EPOCH).days)

    assert rates is not None
    assert rates.cost(Usage(1_000_000), service) == dollars * 1_000_000


@pytest.mark.parametrize(("day", "cost"), [(date(2025, 6, 9), 10_000_000), (date(2025, 6, 10), 2_000_000)])
def test_a_day_has_the_price_of_that_day(book: GenaiPrices, day: date, cost: int) -> None:
    rates = book.rates("openai", "o3", (day - EPOCH).days)

    assert rates is not None
    assert rates.cost(Usage(1_000_000)) == cost == by_hand(BOOK["openai"]["o3"], Usage(1_000_000), day, "")


def test_an_hour_of_the_day_that_is_cheaper_is_not_taken_for_the_day(book: GenaiPrices) -> None:
    """DeepSeek is cheaper at night; the price at noon holds."""
    noon = datetime(2025, 3, 10, 12, tzinfo=UTC)
    rates = book.rates("deepseek", "deepseek-chat", (noon.date() - EPOCH).days)

    assert rates is not None
    assert rates.input == BOOK["deepseek"]["deepseek-chat"].get_prices(noon).input_mtok * 10**18


def test_a_borrowed_model_has_the_standard_price_alone(book: GenaiPrices) -> None:
    rates = book.rates("azure.ai.openai", "gpt-4.1-nano", (TODAY - EPOCH).days)

    assert rates is not None
    assert rates.cost(Usage(10_000), "priority") == rates.cost(Usage(10_000))
