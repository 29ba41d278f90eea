"""What a policy says of prices: a model's own before the book's, and some for models that nobody knows.

Rule 1: a price that is written down holds whole: a part that it does not name costs what it is a part of,
whatever the book says. Rule 2: zero is a price, for a model that runs on one's own machine. Rule 3: the
fallback is marked as such, so that what it charged is still counted as unpriced. It does not know where the
book has its prices from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Final

from spanfuse_processor.engine.policy import Price
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, DetailRates, Pending, PriceBook, Rates

_YOCTO_PER_USD: Final = 10**24
_CACHE_SIZE: Final = 4_096


def rates_of(price: Price) -> Rates:
    """A policy's price as the engine counts it, exactly as written.

    >>> rates_of(Price(input=0.1, output=0.4)).input
    100000000000000000
    """
    heard, spoken = _a_million(price.audio_input), _a_million(price.audio_output)
    return Rates(
        _a_million(price.input) or 0,
        _a_million(price.output) or 0,
        _a_million(price.cached),
        _a_million(price.cache_write),
        _a_million(price.reasoning),
        int(Decimal(str(price.call)) * _YOCTO_PER_USD),
        details=DetailRates(audio_input=heard, audio_output=spoken),
    )


class Tariff:
    """A price book with a policy's prices before and behind another book.

    `prices` are by shell-style patterns of models, or of provider and model with a slash between; of
    those that match the last holds, as with rules. `fallback` is for what neither they nor `book` know.
    """

    def __init__(self, prices: Mapping[str, Price], fallback: Price | None, book: PriceBook) -> None:
        self._own = tuple(
            (pattern.lower(), rates_of(price)) for pattern, price in reversed(tuple(prices.items()))
        )
        self._fallback = None if fallback is None else replace(rates_of(fallback), fallback=True)
        self._book = book
        self._known: dict[tuple[str, str], Rates | None] = {}

    def rates(self, provider: str, model: str, day: int) -> Rates | Pending | None:
        """The policy's rates, else the book's, else the fallback's; PENDING as the book says it."""
        own = self._written(provider, model) if self._own else None
        if own is not None:
            return own
        known = self._book.rates(provider, model, day)
        return self._fallback if known is None else known

    def _written(self, provider: str, model: str) -> Rates | None:
        key = (provider, model)
        try:
            return self._known[key]
        except KeyError:
            pass
        if len(self._known) >= _CACHE_SIZE:
            self._known.clear()
        names = (model.lower(), f"{provider}/{model}".lower())
        found = (rates for pattern, rates in self._own if any(fnmatchcase(each, pattern) for each in names))
        rates = self._known[key] = next(found, None)
        return rates


def _a_million(dollars: float | None) -> int | None:
    return None if dollars is None else int(Decimal(str(dollars)) * YOCTO_PER_MICRO)
