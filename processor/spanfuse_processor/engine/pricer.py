"""Charges calls by the book, and remembers those whose price is still being looked up.

Rule 1: the model that answered is priced, else the one that was asked; what a call was charged on presumption
is its cost. Rule 2: what no book knows is
charged what its emitter says, if it says so, else at the policy's fallback, and is counted as unpriced, never
as zero. Rule 3: calls
that wait for a price are bounded; one too many is unpriced. It knows no run and no tree: it hands back
what it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind, MicroUsd, Usage
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.pricing import NS_PER_DAY, PENDING, Pending, PriceBook, Rates
from spanfuse_processor.engine.stats import EngineStats

MAX_WAITING: Final = 10_000
MODEL, EMBEDDINGS, TOOL = Kind.MODEL, Kind.EMBEDDINGS, Kind.TOOL  # looked up in the enum they take longer
NO_RULES: Final[Mapping[str, ToolRule]] = MappingProxyType({})
_CACHE_SIZE: Final = 4096

_Key = tuple[str, str, str, int]  # provider, model that answered, model asked for, day


class Waiting(NamedTuple):
    """A call whose price is awaited. `stopped` says whether its run had been stopped when it came, `guessed`
    that nobody has said what it used."""

    run: str
    trace_id: bytes
    span_id: bytes
    usage: Usage
    model: str
    hint: MicroUsd | None
    stopped: bool
    service: str = ""
    guessed: bool = False


class Pricer:
    """One engine's till; `tools` are a policy's words on their fees. Not thread-safe, like its engine."""

    __slots__ = ("_book", "_fees", "_latest", "_rates", "_stats", "_waiting", "waiting")

    def __init__(self, book: PriceBook, stats: EngineStats, tools: Mapping[str, ToolRule] = NO_RULES) -> None:
        self.waiting = 0
        self._stats = stats
        self._waiting: dict[_Key, list[Waiting]] = {}
        self.renew(book, tools)

    def renew(self, book: PriceBook, tools: Mapping[str, ToolRule]) -> None:
        """Charges by another book and other fees from now on; calls that wait, too."""
        self._fees = {name: round(rule.fee * 1_000_000) for name, rule in tools.items() if rule.fee}
        self._book = book
        self._rates: dict[_Key, Rates | None] = {}
        self._latest: tuple[CallEnded | None, Rates | None] = (None, None)  # that was priced, and by what

    def cost(self, event: CallEnded) -> MicroUsd | Pending | None:
        """What a call costs: a model's by its tokens, a tool's its fee or what it says; others nothing."""
        kind = event.kind
        if kind is MODEL or kind is EMBEDDINGS:
            if event.presumed is not None:
                return event.presumed
            return None if event.usage is None else self.price(event, event.usage)
        return self._fees.get(event.name, event.cost) if kind is TOOL else None

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
        self._latest = (event, rates)
        return self._charge(rates, usage, event.cost, event.service)

    def price_now(self, event: CallEnded, usage: Usage) -> MicroUsd | None:
        """The same where nobody can wait: a price that is being looked up is not known."""
        cost = self.price(event, usage)
        return None if cost is PENDING else cost

    def account(self, call: Call, event: CallEnded, cost: MicroUsd | Pending | None, stopped: bool) -> None:
        """Counts what a model's call is charged by, or why it is not charged, or not yet; and tells the call.

        `stopped`: its run had been stopped when it came, and its price is awaited.
        """
        stats, rates = self._stats, None
        stats.resends += event.resends
        if event.presumed is not None:
            call.estimated = True
            stats.estimated += 1
            return
        if event.usage is None:
            stats.usage_missing += not event.error
            return
        if cost is PENDING:
            self.wait(call.run, event, event.usage, stopped)
        else:
            rates = self.known(event)
            if cost is None or is_guess(rates, event.cost):
                call.unpriced = True
                stats.count_unpriced(event.model or event.name)
                if cost is not None:
                    stats.guessed += 1
                    call.estimated = True
        if event.estimated:
            stats.estimated += 1
            call.estimated = True
        if rates is not None and event.kind is MODEL:
            call.window = rates.window

    def known(self, event: CallEnded) -> Rates | None:
        """The rates of a call that was priced; None when nobody knows them, or not yet."""
        latest, rates = self._latest
        if event is latest:
            return rates
        return self._rates.get((event.provider, event.model, event.name, event.ended_ns // NS_PER_DAY))

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
            run,
            event.trace_id,
            event.span_id,
            usage,
            event.model or event.name,
            event.cost,
            stopped,
            event.service,
            event.estimated,
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
            cost = self._charge(rates, call.usage, call.hint, call.service)
            if cost is None or is_guess(rates, call.hint):
                self._stats.count_unpriced(call.model)
            if cost is not None:
                pay(call, cost)

    def _ask(self, key: _Key) -> Rates | Pending | None:
        provider, answered, asked, day = key
        rates = self._book.rates(provider, answered or asked, day)
        if _is_unknown(rates) and answered and asked and asked != answered:
            rates = self._book.rates(provider, asked, day)
        if rates is PENDING:
            return PENDING
        if len(self._rates) >= _CACHE_SIZE:
            self._rates.clear()
        self._rates[key] = rates
        return rates

    def _charge(
        self, rates: Rates | None, usage: Usage, hint: MicroUsd | None, service: str
    ) -> MicroUsd | None:
        if rates is not None and (hint is None or not rates.fallback):
            return rates.cost(usage, service)
        if hint is not None:
            self._stats.hinted += 1
        return hint


def is_guess(rates: Rates | None, hint: MicroUsd | None) -> bool:
    """Whether a call is charged at a price that is not its model's: nobody knows that one."""
    return rates is not None and rates.fallback and hint is None


def _is_unknown(rates: Rates | Pending | None) -> bool:
    return rates is None or (isinstance(rates, Rates) and rates.fallback)
