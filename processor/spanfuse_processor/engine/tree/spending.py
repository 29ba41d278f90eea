"""What the calls of one run used and cost: each once, whoever tells it how often.

Rule 1: of model calls that tell the same, the innermost counts; but a guess gives way to any telling of what
was reported, below it or above. Rule 2: what has been told otherwise before is said anew (`Amended`), so that
others who keep count can follow. Rule 3: a tool's fee counts once for each telling that is no repetition. It
does not know prices, and of the tree no more than its nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import MicroUsd, Usage
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.nodes import (
    CELLS,
    CODES,
    COUNTED,
    GUESSED,
    KIND,
    META,
    MODEL,
    MOST,
    NONE,
    STEPS,
    USED,
    Nodes,
)
from spanfuse_processor.engine.tree.totals import Totals
from spanfuse_processor.engine.tree.usages import fitting, larger_of, same

Price = Callable[[CallEnded, Usage], MicroUsd | None]
NOTHING: Final = Usage()
MAX_GUESSES: Final = 8
"""Guesses of a run that may still give way: the telling of what was reported comes close to them."""


class Amended(NamedTuple):
    """A call that was told before comes to something else: its price came late, its usage was corrected, or
    it is told by another call, too, and counts as nothing. `cost` None: it has no price."""

    trace_id: bytes
    span_id: bytes
    usage: Usage
    cost: MicroUsd | None


Amend = Callable[[Amended], None]


class Spending:
    """Keeps the totals of one run. `amend` is told what is said anew; None: nobody follows."""

    __slots__ = ("_amend", "_guesses", "_nodes", "_stats", "totals")

    def __init__(self, nodes: Nodes, totals: Totals, stats: EngineStats, amend: Amend | None = None) -> None:
        self.totals = totals
        self._nodes = nodes
        self._stats = stats
        self._amend = amend
        self._guesses: list[int] | None = None  # nodes, oldest first; most runs have none

    def tell(self, node: int, event: CallEnded, usage: Usage, cost: MicroUsd | None) -> bool:
        """A model call has ended. False: another call tells the same, and this one does not count."""
        if event.estimated:
            self._nodes.guess(node)
            if self._is_told_above(node):
                self._nodes.spend(node, fitting(usage), cost)
                self._nodes.uncount(node)
                return False
            self._guesses = [*(self._guesses or ())[1 - MAX_GUESSES :], node]
        counts = self._spend(node, fitting(usage), cost)
        if self._guesses:
            self._give_way()
        return counts

    def fold(self, usage: Usage, cost: MicroUsd | None) -> None:
        """A model call that no node remembers."""
        self.totals.add(fitting(usage), cost)

    def pay(self, cost: MicroUsd | None) -> None:
        """The fee of a tool."""
        if cost:
            self.totals.cost += cost

    def reconcile(self, node: int, event: CallEnded, price: Price) -> None:
        """A second telling of an ended call: a guess is corrected, of other counts the larger are charged."""
        nodes = self._nodes
        meta = nodes.cells[node * CELLS + META]
        usage, kept = event.usage, nodes.usage(node)
        corrects = bool(meta & GUESSED and usage is not None and not event.estimated)
        if meta & KIND == CODES[event.kind] and (usage is None or (same(usage, kept) and not corrects)):
            return
        if event.estimated and meta & (GUESSED | COUNTED) != GUESSED | COUNTED:
            return
        if usage is None or meta & KIND < MODEL:
            self._stats.conflicts += 1
            return
        known = fitting(usage) if corrects else larger_of(fitting(usage), kept)
        if corrects:
            self._stats.corrected += 1
            nodes.guess(node, False)
            self._forget(node)
        else:
            self._stats.conflicts += 1
            if same(known, kept):
                return
        self._respend(node, event, known, price)

    def settle(self, node: int | None, trace_id: bytes, span_id: bytes, usage: Usage, cost: MicroUsd) -> None:
        """The price of a call that came without one is known now; `node` None: the call was folded."""
        nodes = self._nodes
        if node is not None:
            if nodes.cost(node) is not None:
                return
            cost = min(cost, MOST)
            if not nodes.settle(node, cost):
                return
        self.totals.settle(cost)
        self._say(trace_id, span_id, usage, cost)

    def rise(self, node: int) -> None:
        """Carries what is known of a node up; what turns out to wrap it counts no more."""
        wrapper = self._nodes.rise(node)
        if wrapper >= 0:
            self.take(wrapper)
        if self._guesses:
            self._give_way()

    def take(self, node: int) -> None:
        """A call that had counted is told elsewhere."""
        self.totals.take(self._nodes.usage(node), self._nodes.cost(node))
        self._say(*self._ids(node), NOTHING, 0)

    def _spend(self, node: int, usage: Usage, cost: MicroUsd | None) -> bool:
        if cost is not None and cost > MOST:
            cost = MOST
        counts = self._nodes.spend(node, usage, cost)
        if counts:
            self.totals.add(usage, cost)
        return counts

    def _respend(self, node: int, event: CallEnded, usage: Usage, price: Price) -> None:
        nodes = self._nodes
        if nodes.uncount(node):
            self.totals.take(nodes.usage(node), nodes.cost(node))
        cost = price(event, usage)
        if self._spend(node, usage, cost):
            self._say(event.trace_id, event.span_id, usage, cost)
        self.rise(node)

    def _give_way(self) -> None:
        """What is told above, too, was guessed in vain."""
        for guess in tuple(self._guesses or ()):
            if self._is_told_above(guess):
                self._forget(guess)
                if self._nodes.uncount(guess):
                    self.take(guess)

    def _forget(self, guess: int) -> None:
        self._guesses = [each for each in self._guesses or () if each != guess] or None

    def _is_told_above(self, node: int) -> bool:
        cells = self._nodes.cells
        return any(cells[each * CELLS + META] & USED for each in self._wrapping(node))

    def _wrapping(self, node: int) -> list[int]:
        """The calls above that may tell the same: model calls, with nothing but wrappers between."""
        cells, found = self._nodes.cells, []
        for _ in range(STEPS):
            node = cells[node * CELLS]
            if node == NONE or cells[node * CELLS + META] & KIND < MODEL:
                break
            found.append(node)
        return found

    def _say(self, trace_id: bytes, span_id: bytes, usage: Usage, cost: MicroUsd | None) -> None:
        if self._amend is not None:
            self._amend(Amended(trace_id, span_id, usage, cost))

    def _ids(self, node: int) -> tuple[bytes, bytes]:
        return self._nodes.ids(next(islice(self._nodes.index, node, None)))
