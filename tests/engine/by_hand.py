"""What a call costs, worked out by hand: with fractions, straight from what the book publishes.

Every token is put into one box here, and each box has one price; the engine goes another way: it charges
totals, and then what their parts cost more or less.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple

from genai_prices.data import providers

from spanfuse_processor.engine.nouns import Details, Usage

EPOCH = date(1970, 1, 1)
BOOK = {provider.id: {model.id: model for model in provider.models} for provider in providers}
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
