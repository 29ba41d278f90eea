"""A price book from the package `genai-prices`: its bundled data, nothing from the network.

Rule 1: the package is imported when the first price is asked (it takes a sixth of a second, as a price
takes a tenth of a millisecond): each (provider, model, day) is resolved once. Rule 2: an answer is exact
or None. Rule 3: a day has one price: where prices change within a day, those of noon UTC hold for all of
it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from spanfuse_processor.engine.pricing import NS_PER_DAY, Rates

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelPrice

_YOCTO_PER_USD_OF_MTOK: Final = Decimal(10**18)  # 1 USD a million tokens, in yocto-dollars a token
_YOCTO_PER_USD_OF_KCOUNT: Final = Decimal(10**21)  # 1 USD a thousand calls, in yocto-dollars a call
_CACHE_SIZE: Final = 4096

# The standard's provider names that the package does not know under that name; several: tried in turn.
PROVIDERS: Final = {
    "aws.bedrock": ("aws",),
    "azure.ai.inference": ("azure", "openai"),
    "azure.ai.openai": ("azure", "openai"),
    "gcp.gemini": ("google",),
    "gcp.gen_ai": ("google",),
    "gcp.vertex_ai": ("google",),
    "gcp.vertex.agent": ("google",),
    "fireworks_ai": ("fireworks",),
    "meta_llama": ("meta",),
    "mistral_ai": ("mistral",),
    "moonshot_ai": ("moonshotai",),
    "x_ai": ("x-ai",),
}
_PARTS: Final = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "output_reasoning_mtok")


class GenaiPrices:
    """Resolves on the calling thread: 170 ms for the first price, 0.1 ms for each new model, then a
    dictionary."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], Rates | None] = {}
        self._snapshot: DataSnapshot | None = None

    def rates(self, provider: str, model: str, day: int) -> Rates | None:
        """The rates of that day, or None for a model that the data does not have."""
        key = (provider, model, day)
        try:
            return self._known[key]
        except KeyError:
            pass
        if len(self._known) >= _CACHE_SIZE:
            self._known.clear()
        rates = self._known[key] = self._resolve(provider, model, day) if model else None
        return rates

    def _resolve(self, provider: str, model: str, day: int) -> Rates | None:
        noon = datetime.fromtimestamp(day * NS_PER_DAY // 10**9 + 43_200, UTC)
        snapshot = self._data()
        for provider_id in self._providers(provider):
            for name in dict.fromkeys((model, model.rpartition("/")[2])):
                try:
                    _, found = snapshot.find_provider_model(name, None, provider_id, None)
                except LookupError:
                    continue
                return _rates(found.get_prices(noon), found.context_window or 0) if found.prices else None
        return None

    def _providers(self, provider: str) -> tuple[str | None, ...]:
        """The ids to look under. A name that is no provider (a framework's) leaves the model to speak for
        itself."""
        known = PROVIDERS.get(provider.lower())
        if known is not None:
            return known
        try:
            return (self._data().find_provider(None, provider, None).id,)
        except LookupError:
            return (None,)

    def _data(self) -> DataSnapshot:
        if self._snapshot is None:
            from genai_prices.data import providers
            from genai_prices.data_snapshot import DataSnapshot

            self._snapshot = DataSnapshot(providers=providers, from_auto_update=False)
        return self._snapshot


def _rates(price: ModelPrice, window: int) -> Rates | None:
    """The part of a price that concerns text tokens; None when it has none (audio by the hour, for
    example)."""
    parts: list[Any] = [getattr(price, part) for part in _PARTS]
    call: Any = price.requests_kcount
    if parts[0] is None and parts[1] is None and call is None:
        return None
    per_call = 0 if call is None else int(call * _YOCTO_PER_USD_OF_KCOUNT)
    starts = sorted({tier.start for part in parts for tier in getattr(part, "tiers", ())})
    tiers = tuple((start, _at(parts, per_call, start)) for start in starts)
    return replace(_at(parts, per_call, -1, tiers), window=window)


def _at(parts: list[Any], call: int, start: int, tiers: tuple[tuple[int, Rates], ...] = ()) -> Rates:
    """The rates that hold over `start` input tokens."""
    tokens = [_yocto(part, start) for part in parts]
    return Rates(tokens[0] or 0, tokens[1] or 0, tokens[2], tokens[3], tokens[4], call, tiers)


def _yocto(part: Any, start: int) -> int | None:
    if part is None:
        return None
    price = getattr(part, "base", part)
    for tier in getattr(part, "tiers", ()):
        if tier.start <= start:
            price = tier.price
    return int(price * _YOCTO_PER_USD_OF_MTOK)
