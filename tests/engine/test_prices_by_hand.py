"""Prices by hand: what a call costs, worked out with fractions straight from what the book publishes.

Every token is put into one box here, and each box has one price; the engine goes another way: it charges
totals, and then what their parts cost more or less.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from genai_prices.data import providers

from spanfuse_processor.engine.genai_book import GenaiPrices
from spanfuse_processor.engine.nouns import Details, Usage

TODAY = date(2026, 11, 23)
EPOCH = date(1970, 1, 1)
BOOK = {provider.id: {model.id: model for model in provider.models} for provider in providers}

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
SERVICES = {
    "": {},
    "default": {},
    "batch": {"processing": "batch"},
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
    "fast": {"service_tier": "fast", "speed": "fast"},
}


class Box(NamedTuple):
    """Tokens that cost the same: the first of these prices that a model has."""

    tokens: int
    prices: tuple[str, ...]


def boxes(usage: Usage) -> Iterator[Box]:
    """Where every token goes, once."""
    more = usage.details or Details()
    heard, seen = more.audio_input - more.audio_cached, more.image_input - more.image_cached
    read = usage.cached_tokens - more.audio_cached - more.image_cached
    written = usage.cache_write_tokens
    yield Box(usage.input_tokens - usage.cached_tokens - written - heard - seen, ("input",))
    yield Box(read, ("cache_read", "input"))
    yield Box(written - more.kept, ("cache_write", "input"))
    yield Box(more.kept, ("cache_write_1h", "cache_write", "input"))
    yield Box(heard, ("input_audio", "input"))
    yield Box(more.audio_cached, ("cache_audio_read", "cache_read", "input_audio", "input"))
    yield Box(seen, ("input_image", "input"))
    yield Box(more.image_cached, ("cache_image_read", "cache_read", "input_image", "input"))
    spoken = usage.output_tokens - usage.reasoning_tokens - more.audio_output - more.image_output
    yield Box(spoken, ("output",))
    yield Box(usage.reasoning_tokens, ("output_reasoning", "output"))
    yield Box(more.audio_output, ("output_audio", "output"))
    yield Box(more.image_output, ("output_image", "output"))


def published(model: Any, day: date, service: str) -> dict[str, Any]:
    """The price of that day as it was published, with what this way of being served changes."""

    def holds(priced: Any) -> bool:
        since = getattr(priced.constraint, "start_date", None)
        return priced.constraint is None or (since is not None and since <= day)

    prices = model.prices
    if isinstance(prices, list):
        prices = [each.prices for each in prices if holds(each)][-1]
    known = dict(vars(prices))
    changed: dict[str, Any] = {}
    for variant in model.price_variants or ():
        if SERVICES[service] and holds(variant) and variant.when.items() <= SERVICES[service].items():
            changed = vars(variant.prices) | changed  # of several the first holds
    return known | changed


def by_hand(model: Any, usage: Usage, day: date, service: str) -> int:
    """Micro-dollars, rounded half up."""
    prices = published(model, day, service)

    def dollars(name: str) -> Fraction:
        price = prices[name]
        tiers = [(tier.start, tier.price) for tier in getattr(price, "tiers", ())]
        base = getattr(price, "base", price)
        return Fraction([base, *(cost for start, cost in tiers if usage.input_tokens > start)][-1])

    total = Fraction(0)
    for box in boxes(usage):
        named = [f"{name}_mtok" for name in box.prices if prices.get(f"{name}_mtok") is not None]
        total += box.tokens * dollars(named[0]) if named else 0
    if prices.get("requests_kcount") is not None:
        total += dollars("requests_kcount") * 1_000
    if prices.get("web_searches_kcount") is not None and usage.details:
        total += usage.details.searches * dollars("web_searches_kcount") * 1_000
    return int(total + Fraction(1, 2))


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
