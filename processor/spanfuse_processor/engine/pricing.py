"""What a call costs: integer arithmetic on rates that a book knows.

Rule 1: rates are whole yocto-dollars (1e-24 USD) a token, so that every published price is exact; a cost
is whole micro-dollars, rounded half up, once. Rule 2: an unknown price is None and is counted, never
zero. Rule 3: a book that must look elsewhere says PENDING and is asked again; nobody waits here. It does
not know where prices come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol, runtime_checkable

from spanfuse_processor.engine.nouns import MicroUsd, Usage

YOCTO_PER_MICRO: Final = 10**18
_HALF: Final = YOCTO_PER_MICRO // 2
NS_PER_DAY: Final = 86_400_000_000_000


class Pending(Enum):
    """The type of PENDING, as PEP 484 has it for sentinels."""

    PENDING = "pending"


PENDING: Final = Pending.PENDING
"""A book's answer that means: being looked up, ask again."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of one model on one day, in yocto-dollars a token; `call` is a price for each call.

    None means: not priced apart, charged as what it is a part of (cached and cache-written tokens as
    input, reasoning as output). `tiers` are (start, rates): over `start` input tokens, all tokens cost
    those rates. `window` is how many tokens the model takes in at once, 0 where the book does not say.

    >>> dollar_a_million = YOCTO_PER_MICRO  # the same price, in our unit
    >>> rates = Rates(3 * dollar_a_million, 15 * dollar_a_million, cached=dollar_a_million * 3 // 10)
    >>> rates.cost(Usage(input_tokens=1000, output_tokens=100, cached_tokens=800))  # 600 + 240 + 1500
    2340
    """

    input: int
    output: int
    cached: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    call: int = 0
    tiers: tuple[tuple[int, Rates], ...] = ()
    window: int = 0

    def cost(self, usage: Usage) -> MicroUsd:
        """What `usage` costs. More parts than total: the emitter left the parts out of the total."""
        cached, written = usage.cached_tokens, usage.cache_write_tokens
        plain = usage.input_tokens - cached - written
        if plain < 0:
            plain = usage.input_tokens
        rates = self
        if self.tiers:
            rates = self._tier(plain + cached + written)
        total = plain * rates.input + usage.output_tokens * rates.output + rates.call
        if cached:
            total += cached * (rates.input if rates.cached is None else rates.cached)
        if written:
            total += written * (rates.input if rates.cache_write is None else rates.cache_write)
        if rates.reasoning is not None:
            thought = min(usage.reasoning_tokens, usage.output_tokens)
            total += thought * (rates.reasoning - rates.output)
        return (total + _HALF) // YOCTO_PER_MICRO

    def _tier(self, tokens: int) -> Rates:
        for start, rates in reversed(self.tiers):
            if tokens > start:
                return rates
        return self


@runtime_checkable
class PriceBook(Protocol):
    """Knows rates. `day` counts days since the epoch (event time)."""

    def rates(self, provider: str, model: str, day: int) -> Rates | Pending | None:
        """The rates, None when no such model is known, or PENDING: ask again."""


class NoPrices:
    """A book without a page: every call is unpriced."""

    def rates(self, provider: str, model: str, day: int) -> None:
        """Nothing is known."""
        return None
