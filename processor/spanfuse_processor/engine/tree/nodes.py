"""The shape of one run's tree: which span is below which, by numbers and in one array.

Rule 1: a node is its id and seven cells of 32 bits; no span is kept. Rule 2: a parent that is named
before it arrives is a node already, awaited, so that nothing has to be looked for when it comes. Rule 3:
every walk is bounded, and a link that would close a circle is left out. Rule 4: of what is below a node, only
the ways to agents are kept. It does not know calls, totals or prices.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple

from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.agents import NOBODY, Agent, Agents, Family, joined, name_at
from spanfuse_processor.engine.tree.cells import (
    AGENT,
    CELLS,
    COST,
    COUNTED,
    FLAGS,
    GUESSED,
    HEIGHT,
    KIND,
    LISTED,
    META,
    MODEL,
    NONE,
    USAGE,
    USED,
    WRAPS,
)
from spanfuse_processor.engine.tree.ids import KEY, Ids

STEPS: Final = 512
"""How far a walk along parents goes; deeper than any honest run."""

_BLANK: Final = array("I", (NONE, 0, 0, 0, 0, 0, NONE))
_NO_SPAN: Final = bytes(8)
_TRACE, _TAIL = 16, 4  # bytes of a trace's id, and of its number in a key
FIRST: Final = bytes(_TAIL)  # what ends the keys of the first trace
_FEW: Final = 32  # nodes for which there is no room to spare: most runs have no more
_IN_TOTALS: Final = USED | COUNTED
_LOW: Final = 0xFFFF_FFFF


class Life(NamedTuple):
    """When an agent was at work, in nanoseconds."""

    started_ns: int
    ended_ns: int


class Nodes(Ids):
    """What is known of the shape: the numbers of its spans, and what there is at each number.

    Attributes:
        trace: the first trace.
        cells: all nodes, one after the other; another array once a node is entered.
        family: those nodes that are agents, None while there are none.
        guesses: the latest nodes whose usage is a guess, oldest first.
    """

    __slots__ = ("_stats", "_tails", "cells", "family", "guesses", "trace")

    def __init__(self, limit: int, stats: EngineStats) -> None:
        super().__init__(limit)
        self.trace = b""
        self.cells = array("I")
        self._stats = stats
        self._tails: dict[bytes, bytes] | None = None  # of traces but the first: their numbers from 1 on
        self.family: Family | None = None
        self.guesses: list[int] | None = None  # most trees have none

    @property
    def agents(self) -> Agents:
        """Those nodes that are agents."""
        return self.family.agents if self.family is not None else NOBODY

    @property
    def missing(self) -> int:
        """How many nodes are awaited: all are looked at."""
        return sum(not meta & KIND for meta in self.cells[META::CELLS])

    def key(self, trace_id: bytes, span_id: bytes) -> bytes:
        """How a span is found: its id and its trace's number, or both ids of a new trace."""
        if trace_id == self.trace:
            return span_id + FIRST
        tail = self._tails.get(trace_id) if self._tails is not None else None
        return trace_id + span_id if tail is None else span_id + tail

    def ids(self) -> Iterator[tuple[bytes, bytes]]:
        """The trace id and span id of every node, in order."""
        traces = (self.trace, *(self._tails or ()))
        for key in self.keys():
            yield traces[int.from_bytes(key[-_TAIL:], "little")], key[:-_TAIL]

    def enter(self, key: bytes) -> int:
        """The number of a node: the next (`count`) if nothing was known of it, -1 if there is no room."""
        if len(key) > KEY:  # the first of its trace
            if self.count >= self.limit:
                return -1
            self._tails = self._tails or {}
            trace_id = key[:_TRACE]
            tail = self._tails[trace_id] = (len(self._tails) + 1).to_bytes(_TAIL, "little")
            key = key[_TRACE:] + tail
        next_one = self.count
        node = self.admit(key)
        if node == next_one:
            if node < _FEW:  # exactly: an array that is extended takes room to spare
                self.cells = self.cells + _BLANK
            else:
                self.cells.extend(_BLANK)
        return node

    def place(self, node: int, code: int, trace_id: bytes, parent_id: bytes, fresh: bool) -> None:
        """Says what a node is and what it is below. `code` may say that it ended, too; `fresh`: entered just
        now, so nothing is below it."""
        cells = self.cells
        base = node * CELLS
        if parent_id and parent_id != _NO_SPAN:
            if cells[base] != NONE:
                self._unlist(node)
            parent = self._parent(node, trace_id, parent_id, fresh)
            cells = self.cells  # the parent may be new
            cells[base] = parent
        meta = cells[base + META] | code
        if code & KIND == AGENT:
            meta += 1 << HEIGHT
        cells[base + META] = meta

    def name(self, node: int, name: str, span_id: bytes) -> None:
        """Says who an agent is."""
        family = self.family = self.family or Family()
        family.agents = joined(family.agents, Agent(name, span_id, node))

    def hang(self, node: int, parent: int) -> None:
        """Puts a node below another, wherever it was before."""
        if self.cells[node * CELLS] != NONE:
            self._unlist(node)
        self.cells[node * CELLS] = parent

    def _parent(self, node: int, trace_id: bytes, parent_id: bytes, fresh: bool) -> int:
        key = parent_id + FIRST if trace_id == self.trace else self.key(trace_id, parent_id)
        next_one = self.count
        parent = self.enter(key)
        if parent == next_one:
            return parent
        if parent < 0:
            return NONE
        if parent == node or (not fresh and self.leads(parent, node)):
            self._stats.cycles += 1
            return NONE
        return parent

    def leads(self, node: int, target: int) -> bool:
        """Whether the way up from `node` comes to `target`; too long a way counts as if it did."""
        cells = self.cells
        for _ in range(STEPS):
            if node == target:
                return True
            node = cells[node * CELLS]
            if node == NONE:
                return False
        return True

    def rise(self, node: int) -> int:
        """Carries a node's height, the way to it, and that a model call is here, to what is above.

        Returns the model call that turns out to wrap it although it had been counted, or -1.
        """
        cells = self.cells
        base = node * CELLS
        wrapper = -1
        for _ in range(STEPS):
            parent = cells[base]
            if parent == NONE:
                break
            meta = cells[base + META]
            if meta >> HEIGHT and not meta & LISTED:
                self._list(base // CELLS, parent)
            above = parent * CELLS + META
            old = new = cells[above]
            height = (meta >> HEIGHT) + (old & KIND == AGENT)
            if height > old >> HEIGHT:
                new = old & FLAGS | height << HEIGHT
            if meta & (USED | GUESSED) == USED or (meta & WRAPS and meta & KIND >= MODEL):
                new |= WRAPS
                if old & COUNTED:
                    new &= ~COUNTED
                    wrapper = parent
            if new == old:
                break
            cells[above] = new
            base = parent * CELLS
        return wrapper

    def above(self, node: int) -> tuple[str, ...]:
        """The agents from `node` up, itself included, outermost first."""
        if self.family is None:
            return ()
        cells, agents = self.cells, self.family.agents
        found: list[str] = []
        for _ in range(STEPS):
            if node == NONE:
                break
            base = node * CELLS
            if cells[base + META] & KIND == AGENT:
                found.append(name_at(agents, node))
            node = cells[base]
        found.reverse()
        return tuple(found)

    def parent(self, node: int) -> int:
        """The node above, or NONE."""
        return self.cells[node * CELLS]

    def way_up(self, node: int) -> tuple[list[int], bool]:
        """A node and those above it, nearest first, and whether that is all: not while one is awaited."""
        cells, way = self.cells, [node]
        for _ in range(STEPS):
            node = cells[node * CELLS]
            if node == NONE:
                break
            way.append(node)
        return way, bool(cells[way[-1] * CELLS + META] & KIND)

    def code(self, node: int) -> int:
        """What a node is; AWAITED when nobody knows yet."""
        return self.cells[node * CELLS + META] & KIND

    def live(self, node: int, started_ns: int, ended_ns: int) -> None:
        """Keeps when an agent was at work."""
        base = node * CELLS + USAGE
        for at, when in ((base, started_ns), (base + 2, ended_ns)):
            self.cells[at], self.cells[at + 1] = when & _LOW, when >> 32 & _LOW

    def life(self, node: int) -> Life:
        """When an agent was at work; nothing but zeros before it ended."""
        started, started_high, ended, ended_high = self.cells[node * CELLS + USAGE : node * CELLS + COST]
        return Life(started_high << 32 | started, ended_high << 32 | ended)

    def usage(self, node: int) -> Usage:
        """What was used here, as kept."""
        base = node * CELLS + USAGE
        asked, answered, cached, written = self.cells[base : base + 4]
        return Usage(asked, answered, cached, written)

    def cost(self, node: int) -> int | None:
        """What it cost, None where that is unknown."""
        cost = self.cells[node * CELLS + COST]
        return None if cost == NONE else cost

    def spend(self, node: int, usage: Usage, cost: int | None) -> bool:
        """Keeps what was used here and what it cost. True: nothing below tells the same, so it counts."""
        base, cells = node * CELLS, self.cells
        at = base + USAGE
        cells[at] = usage.input_tokens
        cells[at + 1] = usage.output_tokens
        if usage.cached_tokens or usage.cache_write_tokens:
            cells[at + 2] = usage.cached_tokens
            cells[at + 3] = usage.cache_write_tokens
        if cost is not None:
            cells[base + COST] = cost
        meta = cells[base + META]
        counts = not meta & WRAPS
        cells[base + META] = meta | (_IN_TOTALS if counts else USED)
        return counts

    def price(self, node: int, cost: int) -> bool:
        """Keeps a cost that came later. True: the call is in the totals."""
        self.cells[node * CELLS + COST] = cost
        return bool(self.cells[node * CELLS + META] & COUNTED)

    def guess(self, node: int, guessed: bool = True) -> None:
        """Says whether what was used here is a guess."""
        meta = self.cells[node * CELLS + META]
        self.cells[node * CELLS + META] = meta | GUESSED if guessed else meta & ~GUESSED

    def uncount(self, node: int) -> bool:
        """Says that a call is not in the totals. True: it was."""
        meta = self.cells[node * CELLS + META]
        self.cells[node * CELLS + META] = meta & ~COUNTED
        return bool(meta & COUNTED)

    def _list(self, node: int, parent: int) -> None:
        self.cells[node * CELLS + META] |= LISTED
        family = self.family = self.family or Family()
        kids = family.kids = family.kids or {}
        kids.setdefault(parent, []).append(node)

    def _unlist(self, node: int) -> None:
        """A node goes elsewhere."""
        meta = self.cells[node * CELLS + META]
        if meta & LISTED and self.family is not None and self.family.kids is not None:
            self.family.kids[self.cells[node * CELLS]].remove(node)
            self.cells[node * CELLS + META] = meta & ~LISTED
