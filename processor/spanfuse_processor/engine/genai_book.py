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

from spanfuse_processor.engine.pricing import NS_PER_DAY, DetailRates, Rates

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, ModelPrice

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
_DETAILS: Final = (  # in the order of `DetailRates`
    "cache_write_1h_mtok",
    "input_audio_mtok",
    "cache_audio_read_mtok",
    "output_audio_mtok",
    "input_image_mtok",
    "cache_image_read_mtok",
    "output_image_mtok",
)
_NO_DETAILS: Final = DetailRates()
_SERVICES: Final = ("batch", "flex", "priority", "fast")
_SERVED_BY: Final = ("service_tier", "processing", "speed")
"""What providers call the choice among them; the package keeps their words apart."""


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
                    owner, found = snapshot.find_provider_model(name, None, provider_id, None)
                except LookupError:
                    continue
                borrowed = not any(found is each for each in owner.models)
                return _rates(found, noon, borrowed) if found.prices else None
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


def _rates(model: ModelInfo, noon: datetime, borrowed: bool) -> Rates | None:
    """What a model costs that day, however it is served: of a borrowed one, only in the standard way."""
    standard = _served(model.get_prices(noon))
    if standard is None:
        return None
    services = []
    for name in _SERVICES if model.price_variants and not borrowed else ():
        served = _served(model.get_prices(noon, dict.fromkeys(_SERVED_BY, name)))
        if served is not None and served != standard:
            services.append((name, served))
    return replace(standard, window=model.context_window or 0, services=tuple(services))


def _served(price: ModelPrice) -> Rates | None:
    """The part of a price that concerns tokens and calls; None when it has none (audio by the hour, for
    example)."""
    parts: list[Any] = [getattr(price, part) for part in (*_PARTS, *_DETAILS)]
    counts = [price.requests_kcount, price.web_searches_kcount]
    if parts[0] is None and parts[1] is None and counts[0] is None:
        return None
    call, search = (0 if count is None else _each(count) for count in counts)
    starts = sorted({tier.start for part in parts for tier in getattr(part, "tiers", ())})
    return replace(
        _at(parts, call, search, -1),
        tiers=tuple((start, _at(parts, call, search, start)) for start in starts),
    )


def _at(parts: list[Any], call: int, search: int, start: int) -> Rates:
    """The rates that hold over `start` input tokens."""
    tokens = [_yocto(part, start) for part in parts]
    asked, answered, cached, written, thought, kept, *media = tokens
    heard, heard_cached, spoken, seen, seen_cached, drawn = media
    details = DetailRates(kept, heard, heard_cached, spoken, seen, seen_cached, drawn, search)
    known = None if details == _NO_DETAILS else details
    return Rates(asked or 0, answered or 0, cached, written, thought, call, details=known)


def _each(a_thousand: Any) -> int:
    return int(getattr(a_thousand, "base", a_thousand) * _YOCTO_PER_USD_OF_KCOUNT)


def _yocto(part: Any, start: int) -> int | None:
    if part is None:
        return None
    price = getattr(part, "base", part)
    for tier in getattr(part, "tiers", ()):
        if tier.start <= start:
            price = tier.price
    return int(price * _YOCTO_PER_USD_OF_MTOK)
