"""The book from genai-prices: the package's own costs, to the micro-dollar, and never the network."""

from __future__ import annotations

import socket
import sys
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal

import pytest
from genai_prices import Usage as TheirUsage
from genai_prices import calc_price
from genai_prices.data import providers
from genai_prices.types import Provider

from spanfuse_processor.engine.genai_book import PROVIDERS, GenaiPrices
from spanfuse_processor.engine.nouns import Usage

DAY = 20_600
NOON = datetime.fromtimestamp(DAY * 86_400 + 43_200, UTC)
USAGES = [
    Usage(1_234, 567),
    Usage(1_000_000, 9_001, cached_tokens=300_001),
    Usage(250_001, 10, cached_tokens=1_000),
    Usage(300, 7, cached_tokens=10, cache_write_tokens=20, reasoning_tokens=3),
]
LARGE = ("anthropic", "openai", "google", "aws", "azure", "mistral", "perplexity", "x-ai", "groq")


def some_of(provider: Provider) -> list[tuple[str, str]]:
    """The first five models, and the first three whose price has tiers."""
    named = [model for model in provider.models if provider.find_model(model.id) is model]
    tiered = [model for model in named if "TieredPrices" in repr(model.prices)]
    return [
        (provider.id, model.id) for model in {model.id: model for model in named[:5] + tiered[:3]}.values()
    ]


MODELS = [pair for provider in providers if provider.id in LARGE for pair in some_of(provider)]


@pytest.fixture(scope="module")
def book() -> GenaiPrices:
    return GenaiPrices()


def theirs(provider: str, model: str, usage: Usage) -> int:
    """What the package itself says, in micro-dollars."""
    counts = TheirUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_reasoning_tokens=usage.reasoning_tokens,
    )
    price = calc_price(counts, model, provider_id=provider, genai_request_timestamp=NOON)
    return int((price.total_price * 1_000_000).quantize(Decimal(1), ROUND_HALF_UP))


@pytest.mark.parametrize("usage", USAGES)
@pytest.mark.parametrize(("provider", "model"), MODELS)
def test_a_call_costs_what_the_package_says(
    book: GenaiPrices, provider: str, model: str, usage: Usage
) -> None:
    rates = book.rates(provider, model, DAY)

    assert (0 if rates is None else rates.cost(usage)) == theirs(provider, model, usage)


def test_the_models_above_are_many_and_some_are_tiered(book: GenaiPrices) -> None:
    known = [book.rates(provider, model, DAY) for provider, model in MODELS]

    assert len(MODELS) > 40
    assert any(rates is not None and rates.tiers for rates in known)
    assert any(rates is not None and rates.cached is not None for rates in known)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4o"),
        ("azure.ai.openai", "gpt-4o-2024-08-06"),
        ("anthropic", "claude-3-5-sonnet-20241022"),
        ("aws.bedrock", "anthropic.claude-3-5-sonnet-20240620-v1:0"),
        ("gcp.gemini", "gemini-2.0-flash"),
        ("gcp.vertex_ai", "gemini-2.0-flash"),
        ("mistral_ai", "mistral-large-latest"),
        ("x_ai", "grok-3"),
    ],
)
def test_the_standards_provider_names_are_understood(book: GenaiPrices, provider: str, model: str) -> None:
    assert book.rates(provider, model, DAY) is not None


@pytest.mark.parametrize("provider", ["langgraph", "strands-agents", "microsoft.agent_framework", ""])
def test_a_framework_in_the_providers_place_leaves_the_model_to_speak_for_itself(
    book: GenaiPrices, provider: str
) -> None:
    assert book.rates(provider, "gpt-4o", DAY) == book.rates("openai", "gpt-4o", DAY)


@pytest.mark.parametrize(
    ("provider", "model", "window"),
    [
        ("openai", "gpt-4o", 128_000),
        ("anthropic", "claude-3-5-sonnet-20241022", 200_000),
        ("openai", "o1", 200_000),
    ],
)
def test_what_a_model_takes_in_at_once_comes_with_its_rates(
    book: GenaiPrices, provider: str, model: str, window: int
) -> None:
    rates = book.rates(provider, model, DAY)

    assert rates is not None
    assert rates.window == window


def test_a_window_that_the_data_does_not_have_is_zero(book: GenaiPrices) -> None:
    rates = book.rates("openai", "davinci", DAY)

    assert rates is not None
    assert rates.window == 0


def test_a_model_under_its_providers_prefix_is_found(book: GenaiPrices) -> None:
    assert book.rates("openai", "openai/gpt-4o", DAY) == book.rates("openai", "gpt-4o", DAY)


@pytest.mark.parametrize("model", ["no-such-model", "", "whisper-large-v3"])
def test_what_has_no_price_by_the_token_is_none_and_not_zero(book: GenaiPrices, model: str) -> None:
    assert book.rates("groq", model, DAY) is None


def test_every_mapped_provider_exists_in_the_data() -> None:
    known = {provider.id for provider in providers}

    assert {name for names in PROVIDERS.values() for name in names} <= known


def test_each_price_is_resolved_once(book: GenaiPrices) -> None:
    assert book.rates("openai", "gpt-4o", DAY) is book.rates("openai", "gpt-4o", DAY)


def test_nothing_goes_over_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refuse)

    assert GenaiPrices().rates("openai", "gpt-4o", DAY) is not None


def test_the_book_is_light_until_it_is_asked() -> None:
    source = sys.modules[GenaiPrices.__module__]

    assert not any(name.startswith("genai_prices") for name in vars(source))
    assert GenaiPrices()._snapshot is None
