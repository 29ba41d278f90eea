"""Charges calls by the book, and remembers those whose price is still being looked up.

Rule 1: the model that answered is priced, else the one that was asked. Rule 2: what no book knows is
charged what its emitter says, if it says so, and else counted as unpriced, never as zero. Rule 3: calls
that wait for a price are bounded; one too many is unpriced. It knows no run and no tree: it hands back
what it was given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import MicroUsd, Usage
from spanfuse_processor.engine.pricing import NS_PER_DAY, PENDING, Pending, PriceBook, Rates
from spanfuse_processor.engine.stats import EngineStats

MAX_WAITING: Final = 10_000
_CACHE_SIZE: Final = 4096

_Key = tuple[str, str, str, int]  # provider, model that answered, model asked for, day


class Waiting(NamedTuple):
    """A call whose price is awaited. `stopped` says whether its run had been stopped when it came."""

    run: str
    trace_id: bytes
    span_id: bytes
    usage: Usage
    model: str
    hint: MicroUsd | None
    stopped: bool


class Pricer:
    """One engine's till. Not thread-safe, like its engine."""

    __slots__ = ("_book", "_rates", "_stats", "_waiting", "waiting")

    def __init__(self, book: PriceBook, stats: EngineStats) -> None:
        self.waiting = 0
        self._book = book
        self._stats = stats
        self._rates: dict[_Key, Rates | None] = {}
        self._waiting: dict[_Key, list[Waiting]] = {}

    def price(self, event: CallEnded, usage: Usage) -> MicroUsd | Pending | None:
        """The cost of `usage` at the prices of this call; None: unknown (see `unpriced`)."""
        key = (event.provider, event.model, event.name, event.ended_ns // NS_PER_DAY)
        rates: Rates | Pending | None
        try:
            rates = self._rates[key]
        except KeyError:
            rates = self._ask(key)
        if rates is PENDING:
            return PENDING
        return self._charge(rates, usage, event.cost)

    def window(self, event: CallEnded) -> int:
        """How many tokens the model of a priced call takes in at once; 0 when unknown, or not known yet."""
        rates = self._rates.get((event.provider, event.model, event.name, event.ended_ns // NS_PER_DAY))
        return rates.window if rates is not None else 0

    def unpriced(self, event: CallEnded) -> None:
        """Counts a call that has no price."""
        self._stats.count_unpriced(event.model or event.name)

    def wait(self, run: str, event: CallEnded, usage: Usage, stopped: bool) -> None:
        """Keeps a call until the book answers; with too many waiting, it is unpriced."""
        if self.waiting >= MAX_WAITING:
            self.unpriced(event)
            return
        self.waiting += 1
        key = (event.provider, event.model, event.name, event.ended_ns // NS_PER_DAY)
        call = Waiting(
            run, event.trace_id, event.span_id, usage, event.model or event.name, event.cost, stopped
        )
        self._waiting.setdefault(key, []).append(call)

    def settle(self, pay: Callable[[Waiting, MicroUsd], None]) -> None:
        """Asks again about the model that waits longest, and pays its calls if the book answers now."""
        if not self._waiting:
            return
        key = next(iter(self._waiting))
        calls = self._waiting.pop(key)
        rates = self._ask(key)
        if rates is PENDING:
            self._waiting[key] = calls  # to the end: the others get their turn
            return
        self.waiting -= len(calls)
        for call in calls:
            cost = self._charge(rates, call.usage, call.hint)
            if cost is None:
                self._stats.count_unpriced(call.model)
            else:
                pay(call, cost)

    def _ask(self, key: _Key) -> Rates | Pending | None:
        provider, answered, asked, day = key
        rates = self._book.rates(provider, answered, day) if answered else None
        if rates is None and asked and asked != answered:
            rates = self._book.rates(provider, asked, day)
        if rates is PENDING:
            return PENDING
        if len(self._rates) >= _CACHE_SIZE:
            self._rates.clear()
        self._rates[key] = rates
        return rates

    def _charge(self, rates: Rates | None, usage: Usage, hint: MicroUsd | None) -> MicroUsd | None:
        if rates is not None:
            return rates.cost(usage)
        if hint is not None:
            self._stats.hinted += 1
        return hint
