"""What the calls of a run used and cost: each once, whoever tells it how often.

Rule 1: of model calls that tell the same, the innermost counts; but a guess gives way to any telling of what
was reported, below it or above. Rule 2: what has been told otherwise before is said anew (`Amended`), so that
others who keep count can follow. It does not know prices, and of the tree no more than its nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import MicroUsd, Usage
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.cells import (
    CELLS,
    CODES,
    COUNTED,
    GUESSED,
    KIND,
    META,
    MODEL,
    MOST,
    NONE,
    USED,
)
from spanfuse_processor.engine.tree.nodes import STEPS, Nodes
from spanfuse_processor.engine.tree.totals import Totals
from spanfuse_processor.engine.tree.usages import fitting, larger_of, same

Price = Callable[[CallEnded, Usage], MicroUsd | None]
NOTHING: Final = Usage()
MAX_GUESSES: Final = 8
"""Guesses of a run that may still give way: the telling of what was reported comes close to them."""


class Amended(NamedTuple):
    """A call that was told before comes to something else: its price came late, its usage was corrected, or
    it is told by another call, too, and counts as nothing. `cost` None: it has no price. `guessed`: nobody
    has said what it used."""

    trace_id: bytes
    span_id: bytes
    usage: Usage
    cost: MicroUsd | None
    guessed: bool = False


Amend = Callable[[Amended], None]


class Books(Nodes):
    """What is kept of a run's money: of each call what it used, and the sums of all."""

    __slots__ = ("totals",)

    def __init__(self, limit: int, stats: EngineStats, totals: Totals) -> None:
        super().__init__(limit, stats)
        self.totals = totals

    def charge(self, node: int, usage: Usage, cost: MicroUsd | None) -> bool:
        """A model call that counts, unless one below tells the same (False)."""
        if cost is not None and cost > MOST:
            cost = MOST
        counts = self.spend(node, usage, cost)
        if counts:
            self.totals.add(usage, cost)
        return counts


class Spending:
    """Keeps the sums of runs: one for all runs of an engine. `amend` is told what is said anew; None: nobody
    follows."""

    __slots__ = ("_amend", "stats")

    def __init__(self, stats: EngineStats, amend: Amend | None = None) -> None:
        self.stats = stats
        self._amend = amend

    def tell(self, books: Books, node: int, event: CallEnded, usage: Usage, cost: MicroUsd | None) -> bool:
        """A model call has ended. False: another call tells the same, and this one does not count."""
        if event.estimated:
            books.guess(node)
            if _is_told_above(books, node):
                books.spend(node, fitting(usage), cost)
                books.uncount(node)
                return False
            books.guesses = [*(books.guesses or ())[1 - MAX_GUESSES :], node]
        counts = books.charge(node, fitting(usage), cost)
        if books.guesses:
            self._give_way(books)
        return counts

    def reconcile(self, books: Books, node: int, event: CallEnded, price: Price) -> None:
        """A second telling of an ended call: a guess is corrected, of other counts the larger are charged."""
        stats, meta = self.stats, books.cells[node * CELLS + META]
        usage, kept = event.usage, books.usage(node)
        corrects = bool(meta & GUESSED and usage is not None and not event.estimated)
        if meta & KIND == CODES[event.kind] and (usage is None or (same(usage, kept) and not corrects)):
            return
        if event.estimated and meta & (GUESSED | COUNTED) != GUESSED | COUNTED:
            return
        stats.conflicts += not corrects
        if usage is None or meta & KIND < MODEL:
            return
        known = fitting(usage)
        if corrects:
            stats.corrected += 1
            books.guess(node, False)
            _forget(books, node)
        else:
            known = larger_of(known, kept)
            if same(known, kept):
                return
        self._respend(books, node, event, known, price)

    def settle(
        self,
        books: Books,
        node: int | None,
        trace_id: bytes,
        span_id: bytes,
        usage: Usage,
        cost: MicroUsd,
        guessed: bool = False,
    ) -> None:
        """The price of a call that came without one is known now; `node` None: the call was folded."""
        if node is not None:
            if books.cost(node) is not None:
                return
            cost = min(cost, MOST)
            if not books.price(node, cost):
                return
        books.totals.settle(cost)
        self._say(trace_id, span_id, usage, cost, guessed)

    def rise(self, books: Books, node: int) -> None:
        """Carries what is known of a node up; what turns out to wrap it counts no more."""
        wrapper = books.rise(node)
        if wrapper >= 0:
            self.take(books, wrapper)
        if books.guesses:
            self._give_way(books)

    def take(self, books: Books, node: int) -> None:
        """A call that had counted is told elsewhere."""
        books.totals.take(books.usage(node), books.cost(node))
        trace_id, span_id = next(islice(books.ids(), node, None))
        self._say(trace_id, span_id, NOTHING, 0)

    def _respend(self, books: Books, node: int, event: CallEnded, usage: Usage, price: Price) -> None:
        if books.uncount(node):
            books.totals.take(books.usage(node), books.cost(node))
        cost = price(event, usage)
        if books.charge(node, usage, cost):
            self._say(event.trace_id, event.span_id, usage, cost)
        self.rise(books, node)

    def _give_way(self, books: Books) -> None:
        """What is told above, too, was guessed in vain."""
        for guess in tuple(books.guesses or ()):
            if _is_told_above(books, guess):
                _forget(books, guess)
                if books.uncount(guess):
                    self.take(books, guess)

    def _say(
        self, trace_id: bytes, span_id: bytes, usage: Usage, cost: MicroUsd | None, guessed: bool = False
    ) -> None:
        if self._amend is not None:
            self._amend(Amended(trace_id, span_id, usage, cost, guessed))


def _forget(nodes: Nodes, guess: int) -> None:
    nodes.guesses = [each for each in nodes.guesses or () if each != guess] or None


def _is_told_above(nodes: Nodes, node: int) -> bool:
    """Whether a call above tells the same: a model call, with nothing but wrappers between."""
    cells = nodes.cells
    for _ in range(STEPS):
        node = cells[node * CELLS]
        if node == NONE or cells[node * CELLS + META] & KIND < MODEL:
            return False
        if cells[node * CELLS + META] & USED:
            return True
    return False
