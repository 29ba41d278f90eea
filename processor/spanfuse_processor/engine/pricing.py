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

from spanfuse_processor.engine.nouns import Details, MicroUsd, Usage

YOCTO_PER_MICRO: Final = 10**18
_HALF: Final = YOCTO_PER_MICRO // 2
NS_PER_DAY: Final = 86_400_000_000_000


class Pending(Enum):
    """The type of PENDING, as PEP 484 has it for sentinels."""

    PENDING = "pending"


PENDING: Final = Pending.PENDING
"""A book's answer that means: being looked up, ask again."""


@dataclass(frozen=True, slots=True)
class DetailRates:
    """Prices of what few models price apart, in yocto-dollars a token; of a search, for each one.

    None means: charged as what it is a part of. Cached audio (images) without a price of its own costs what
    cached text does, where that is known, and else what audio does.
    """

    kept: int | None = None
    audio_input: int | None = None
    audio_cached: int | None = None
    audio_output: int | None = None
    image_input: int | None = None
    image_cached: int | None = None
    image_output: int | None = None
    search: int = 0


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of one model on one day, in yocto-dollars a token; `call` is a price for each call.

    None means: not priced apart, charged as what it is a part of (cached and cache-written tokens as
    input, reasoning as output). `tiers` are (start, rates): over `start` input tokens, all tokens cost
    those rates. `services` are (name, rates) of the other ways to be served: batch, flex, priority, fast.
    `window` is how many tokens the model takes in at once, 0 where the book does not say. `fallback`: these
    are not this model's own prices, but those a policy has for models that nobody knows.

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
    details: DetailRates | None = None
    services: tuple[tuple[str, Rates], ...] = ()
    fallback: bool = False

    def cost(self, usage: Usage, service: str = "") -> MicroUsd:
        """What `usage` costs. More parts than total: the emitter left the parts out of the total.

        `service` is how the call was served; the standard one, and one without prices, are charged alike.
        """
        cached, written = usage.cached_tokens, usage.cache_write_tokens
        plain = usage.input_tokens - cached - written
        if plain < 0:
            plain = usage.input_tokens
        rates = self.served(service) if service and self.services else self
        if rates.tiers:
            rates = rates.tier(plain + cached + written)
        total = plain * rates.input + usage.output_tokens * rates.output + rates.call
        if cached:
            total += cached * (rates.input if rates.cached is None else rates.cached)
        if written:
            total += written * (rates.input if rates.cache_write is None else rates.cache_write)
        if rates.reasoning is not None:
            thought = min(usage.reasoning_tokens, usage.output_tokens)
            total += thought * (rates.reasoning - rates.output)
        if usage.details is not None and rates.details is not None:
            total += rates._more(rates.details, usage, usage.details, plain)
        return (total + _HALF) // YOCTO_PER_MICRO

    def served(self, service: str) -> Rates:
        """The rates of a call that was served so."""
        for name, rates in self.services:
            if name == service:
                return rates
        return self

    def tier(self, tokens: int) -> Rates:
        """The rates of a call with so many input tokens."""
        for start, rates in reversed(self.tiers):
            if tokens > start:
                return rates
        return self

    def _more(self, prices: DetailRates, usage: Usage, parts: Details, plain: int) -> int:
        """What the details cost beyond what they are charged as parts of the totals."""
        thought = 0 if self.reasoning is None else min(usage.reasoning_tokens, usage.output_tokens)
        room = [plain, usage.cached_tokens, usage.output_tokens - thought]
        heard = parts.audio_input - parts.audio_cached, parts.audio_cached, parts.audio_output
        seen = parts.image_input - parts.image_cached, parts.image_cached, parts.image_output
        more = parts.searches * prices.search
        more += self._apart(heard, (prices.audio_input, prices.audio_cached, prices.audio_output), room)
        more += self._apart(seen, (prices.image_input, prices.image_cached, prices.image_output), room)
        if prices.kept is not None:
            written = self.input if self.cache_write is None else self.cache_write
            more += min(parts.kept, usage.cache_write_tokens) * (prices.kept - written)
        return more

    def _apart(
        self, tokens: tuple[int, int, int], prices: tuple[int | None, int | None, int | None], room: list[int]
    ) -> int:
        """The same of one kind: fresh input, cached input, output. There is no more of each than `room`."""
        fresh, read, made = prices
        if read is None and self.cached is None:
            read = fresh
        cached = self.input if self.cached is None else self.cached
        usual = self.input, cached, self.output
        more = 0
        for at, price in enumerate((fresh, read, made)):
            count = min(max(tokens[at], 0), room[at])
            room[at] -= count
            if price is not None:
                more += count * (price - usual[at])
        return more


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
