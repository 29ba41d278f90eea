"""The shape of one run's tree: which span is below which, in one dictionary and one array.

Rule 1: a node is its id and seven cells of 32 bits; no span is kept. Rule 2: a parent that is named
before it arrives is a node already, awaited, so that nothing has to be looked for when it comes. Rule 3:
every walk is bounded, and a link that would close a circle is left out. It does not know calls, totals or
prices.
"""

from __future__ import annotations

from array import array
from typing import Final

from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.stats import EngineStats

STEPS: Final = 512
"""How far a walk along parents goes; deeper than any honest run."""

# The cells of a node: index of its parent, what it is, its usage (4), its cost in micro-dollars.
CELLS: Final = 7
META, USAGE, COST = 1, 2, 6
NONE: Final = 0xFFFF_FFFF  # no parent; no cost
MOST: Final = NONE - 1  # what a cell can hold: counts above are clamped
_BLANK: Final = array("I", (NONE, 0, 0, 0, 0, 0, NONE))

# META, low byte: kind and flags; above it the height: the longest chain of agents from here down.
# From MODEL on, kinds are transparent: what is below them is also below what is above them.
AWAITED, TOOL, AGENT, WORKFLOW, MODEL, EMBEDDINGS, OTHER, LINK = range(8)
KIND: Final = 0b0000_0111
ENDED: Final = 0b0000_1000
USED: Final = 0b0001_0000  # a model call that reported usage
COUNTED: Final = 0b0010_0000  # and it is in the totals
WRAPS: Final = 0b0100_0000  # such a call is below
FLAGS: Final = 0xFF
HEIGHT: Final = 8

CODES: Final = {
    Kind.MODEL: MODEL,
    Kind.EMBEDDINGS: EMBEDDINGS,
    Kind.TOOL: TOOL,
    Kind.AGENT: AGENT,
    Kind.WORKFLOW: WORKFLOW,
    Kind.OTHER: OTHER,
}
_NO_SPAN: Final = bytes(8)


class Nodes:
    """What is known of the shape. `numbers` may be shared by many: that spares 32 bytes a node.

    Attributes:
        trace: the first trace; its spans are keyed by span id alone, others by trace and span id.
        index: key -> number of the node.
        cells: all nodes, one after the other.
        missing: nodes that are awaited.
    """

    __slots__ = ("_agents", "_numbers", "_stats", "cells", "index", "limit", "missing", "trace")

    def __init__(self, limit: int, stats: EngineStats, numbers: list[int] | None = None) -> None:
        self.limit = limit
        self.trace = b""
        self.index: dict[bytes, int] = {}
        self.cells = array("I")
        self.missing = 0
        self._stats = stats
        self._numbers = [] if numbers is None else numbers
        self._agents: dict[int, str] | None = None  # names of the agents among the nodes

    def key(self, trace_id: bytes, span_id: bytes) -> bytes:
        """How a span is found in `index`."""
        return span_id if trace_id == self.trace else trace_id + span_id

    def ids(self, key: bytes) -> tuple[bytes, bytes]:
        """The trace id and span id that `key` was made of."""
        return (key[:16], key[16:]) if len(key) > 16 else (self.trace, key)

    @property
    def full(self) -> bool:
        """True when no further node is taken."""
        return len(self.index) >= self.limit

    def enter(self, key: bytes) -> int:
        """A new node, of which nothing is known yet."""
        number, numbers = len(self.index), self._numbers
        if number >= len(numbers):
            numbers.append(number)
        self.index[key] = numbers[number]
        self.cells.extend(_BLANK)
        return number

    def place(self, node: int, code: int, trace_id: bytes, parent_id: bytes, name: str, fresh: bool) -> None:
        """Says what a node is and what it is below. `fresh`: entered just now, so nothing is below it."""
        cells = self.cells
        base = node * CELLS
        meta = cells[base + META] | code
        if parent_id and parent_id != _NO_SPAN:
            cells[base] = self._parent(node, trace_id, parent_id, fresh)
        if code == AGENT:
            meta += 1 << HEIGHT
            if self._agents is None:
                self._agents = {}
            self._agents[node] = name
        cells[base + META] = meta
        if not fresh:
            self.missing -= 1

    def _parent(self, node: int, trace_id: bytes, parent_id: bytes, fresh: bool) -> int:
        key = parent_id if trace_id == self.trace else trace_id + parent_id
        parent = self.index.get(key)
        if parent is None:
            if len(self.index) >= self.limit:
                return NONE
            self.missing += 1
            return self.enter(key)
        if parent == node or (not fresh and self._leads(parent, node)):
            self._stats.cycles += 1
            return NONE
        return parent

    def _leads(self, node: int, target: int) -> bool:
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
        """Carries a node's height, and that a model call is here, to what is above.

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
            above = parent * CELLS + META
            old = new = cells[above]
            height = (meta >> HEIGHT) + (old & KIND == AGENT)
            if height > old >> HEIGHT:
                new = old & FLAGS | height << HEIGHT
            if meta & USED or (meta & WRAPS and meta & KIND >= MODEL):
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
        names = self._agents
        if names is None:
            return ()
        cells = self.cells
        found: list[str] = []
        for _ in range(STEPS):
            if node == NONE:
                break
            if node in names:
                found.append(names[node])
            node = cells[node * CELLS]
        found.reverse()
        return tuple(found)

    def parent(self, node: int) -> int:
        """The node above, or NONE."""
        return self.cells[node * CELLS]

    def way_up(self, node: int) -> list[int]:
        """The nodes above, nearest first."""
        cells, way = self.cells, []
        for _ in range(STEPS):
            node = cells[node * CELLS]
            if node == NONE:
                break
            way.append(node)
        return way

    def usage(self, node: int) -> Usage:
        """What was used here, as kept."""
        base = node * CELLS + USAGE
        return Usage(*self.cells[base : base + 4])

    def cost(self, node: int) -> int | None:
        """What it cost, None where that is unknown."""
        cost = self.cells[node * CELLS + COST]
        return None if cost == NONE else cost

    def spend(self, node: int, usage: Usage, cost: int | None) -> bool:
        """Keeps what was used here and what it cost. True: nothing below tells the same, so it counts."""
        base = node * CELLS
        cells = self.cells
        cells[base + USAGE] = usage.input_tokens
        cells[base + USAGE + 1] = usage.output_tokens
        if usage.cached_tokens or usage.cache_write_tokens:
            cells[base + USAGE + 2] = usage.cached_tokens
            cells[base + USAGE + 3] = usage.cache_write_tokens
        if cost is not None:
            cells[base + COST] = cost
        meta = cells[base + META]
        counts = not meta & WRAPS
        cells[base + META] = meta | (USED | COUNTED if counts else USED)
        return counts

    def settle(self, node: int, cost: int) -> bool:
        """Keeps a cost that came later. True: the call is in the totals."""
        self.cells[node * CELLS + COST] = cost
        return bool(self.cells[node * CELLS + META] & COUNTED)

    def uncount(self, node: int) -> bool:
        """Says that a call is not in the totals. True: it was."""
        meta = self.cells[node * CELLS + META]
        self.cells[node * CELLS + META] = meta & ~COUNTED
        return bool(meta & COUNTED)

    def absorb(self, other: Nodes) -> tuple[list[int], list[int]]:
        """Takes over another run's nodes: (their numbers here, wrappers that had been counted)."""
        moved = [self._room(self.key(*other.ids(key))) for key in other.index]
        wrappers = [self._take(other, theirs, moved) for theirs in range(len(moved))]
        wrappers += [self.rise(node) for node in moved if node != NONE]
        return moved, [node for node in wrappers if node >= 0]

    def _room(self, key: bytes) -> int:
        node = self.index.get(key)
        if node is not None:
            return node
        if len(self.index) >= self.limit:
            return NONE
        self.missing += 1
        return self.enter(key)

    def _take(self, other: Nodes, theirs: int, moved: list[int]) -> int:
        """Copies one node onto an awaited one. Returns it if it had been counted and wraps, else -1."""
        node = moved[theirs]
        source, base = theirs * CELLS, node * CELLS
        meta = other.cells[source + META]
        if node == NONE or not meta & KIND or self.cells[base + META] & KIND:
            return -1
        self.missing -= 1
        self.cells[base + USAGE : base + CELLS] = other.cells[source + USAGE : source + CELLS]
        kept = self.cells[base + META]
        self.cells[base + META] = kept | (meta & (KIND | ENDED | USED | COUNTED))
        if meta & KIND == AGENT:
            self.cells[base + META] += 1 << HEIGHT
            self._agents = (self._agents or {}) | {node: (other._agents or {})[theirs]}
        parent = other.cells[source]
        if parent != NONE and moved[parent] != NONE and not self._leads(moved[parent], node):
            self.cells[base] = moved[parent]
        return node if kept & WRAPS and self.uncount(node) else -1
