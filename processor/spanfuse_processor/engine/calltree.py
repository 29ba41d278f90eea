"""The tree of one run: starts and ends, in any order, become `Call`s with ancestry.

Rule 1: whatever order spans are delivered in, the same tree, heights and totals come out; only which link
of a circle is cut, and which of two tellings of one call is judged, depend on it. Rule 2: tokens count once:
not again for a duplicate, a model call that wraps another, or an agent's sum. Rule 3: past `limit` nodes
calls are counted and no longer remembered. It knows no detector, no book and no other run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from spanfuse_processor.engine import marks
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import Kind, MicroUsd, Usage
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.cells import CELLS, CODES, ENDED, HEIGHT, KIND, LINK, META, NONE, PLAIN
from spanfuse_processor.engine.tree.kin import Kin
from spanfuse_processor.engine.tree.lines import of_path
from spanfuse_processor.engine.tree.nodes import FIRST
from spanfuse_processor.engine.tree.spending import Books, Price, Spending
from spanfuse_processor.engine.tree.totals import Totals
from spanfuse_processor.engine.tree.usages import charged, fitting
from spanfuse_processor.engine.tree.view import Node, view

MODEL, EMBEDDINGS, AGENT, TOOL = Kind.MODEL, Kind.EMBEDDINGS, Kind.AGENT, Kind.TOOL
CHARGED = (MODEL, EMBEDDINGS)
ROOTS = (AGENT, Kind.WORKFLOW)
_MAX_TOLD: Final = 128
"""Tool calls of a run that are remembered by their id: two tellings of one come close together."""


class CallTree(Books):
    """What arrived of one run.

    >>> from spanfuse_processor.engine.nouns import Kind
    >>> tree = CallTree("r1", 100, EngineStats())
    >>> def ended(span, parent, kind):
    ...     return CallEnded(b"t" * 16, span, parent, 0, kind, "planner")
    >>> leaf = tree.add(ended(b"leaf", b"root", Kind.TOOL))  # children end, and so arrive, first
    >>> root = tree.add(ended(b"root", b"", Kind.AGENT))
    >>> leaf.depth, root.height, [node.agents for node in tree.nodes()]
    (0, 1, [('planner',), ()])

    Attributes:
        run: the id that its calls carry.
        totals: sums over what arrived.
        family: None while there are neither agents nor other traces.
        folded: calls that were counted without being remembered.
    """

    __slots__ = ("_open", "_spending", "_told", "folded", "run")

    family: Kin | None

    def __init__(
        self,
        run: str,
        limit: int,
        stats: EngineStats,
        totals: Totals | None = None,
        spending: Spending | None = None,
    ) -> None:
        super().__init__(limit, stats, totals or Totals())
        self.run = run
        self.folded = 0
        self._spending = spending or Spending(stats)
        self._open: dict[int, int] | None = None  # node of a call that began and did not end -> its number
        self._told: bytes | bytearray = b""  # tool calls by their id, and whether their content was known

    def add(self, event: CallStarted, cost: MicroUsd | None = None) -> Call | None:
        """Places an event. None: nothing new (a duplicate, a heartbeat, a tool call told already).

        `cost` is that of an ended call of a model or a tool, None where it is unknown.
        """
        trace, kind = event.trace_id, event.kind
        if not self.trace:
            self.trace = trace
        one_trace = trace == self.trace
        key = event.span_id + FIRST if one_trace else self.key(trace, event.span_id)
        if self.family is None and (kind is AGENT or not one_trace or event.link):
            self.family = Kin(self)
        over = event if isinstance(event, CallEnded) else None
        next_one = self.count
        node = self.enter(key)
        if node < 0:
            return self._fold(over, cost) if over is not None else None
        meta = self.cells[node * CELLS + META]
        if not meta & KIND:
            fresh = node == next_one
            code = CODES[kind] if over is None else CODES[kind] | ENDED
            self.place(node, code, trace, event.parent_span_id, fresh)
            if self.family is not None:
                self.family.placed(node, event, fresh)
        elif meta & ENDED or over is None:
            return self._known(over is not None)
        else:
            self.cells[node * CELLS + META] |= ENDED
        return self._end(node, over, cost) if over is not None else self._begin(node, event)

    def reconcile(self, event: CallEnded, price: Price) -> None:
        """A second telling of an ended call: where the two differ, the larger counts are charged."""
        node = self.find(event.trace_id, event.span_id)
        if node is not None:
            self._spending.reconcile(self, node, event, price)

    def settle(
        self, trace_id: bytes, span_id: bytes, usage: Usage, cost: MicroUsd, guessed: bool = False
    ) -> None:
        """The price of a call that came without one is known now."""
        node = self.find(trace_id, span_id)
        self._spending.settle(self, node, trace_id, span_id, usage, cost, guessed)

    def link(self, trace_id: bytes, span_id: bytes, parent_id: bytes) -> None:
        """A span that is no call, but that calls may hang on: it keeps a chain of parents whole."""
        next_one = self.count
        node = self.enter(self.key(trace_id, span_id))
        if node < 0 or self.cells[node * CELLS + META] & KIND:
            return
        fresh = node == next_one
        self.place(node, LINK, trace_id, parent_id, fresh)
        if self.family is not None:
            self.family.placed(node, None, fresh)
        self._spending.rise(self, node)
        if self.family is not None:
            self.family.linked(node)

    def absorb(self, other: CallTree) -> None:
        """Takes over the tree of a run that turned out to be the same."""
        self.totals.unite(other.totals)
        self.family = self.family or Kin(self)
        moved, wrappers = self.family.unite(other.family or Kin(other))
        for node in wrappers:
            self._spending.take(self, node)
        if other._open:
            self._open = (self._open or {}) | {moved[node]: number for node, number in other._open.items()}
        self._told = marks.join(self._told, other._told, _MAX_TOLD)
        self.folded += other.folded

    def close(self) -> None:
        """Lets go of what refers back to it, so that its memory is free as soon as nobody needs it."""
        self.family = None

    def find(self, trace_id: bytes, span_id: bytes) -> int | None:
        """The number of a span in this tree, None when nothing was said of it."""
        return self.number(self.key(trace_id, span_id))

    def is_open(self, node: int) -> bool:
        """Whether it is a call that began and has not ended."""
        return self._open is not None and node in self._open

    def has_ended(self, node: int) -> bool:
        """Whether it is a call that has ended."""
        return bool(self.cells[node * CELLS + META] & ENDED)

    def nodes(self) -> Iterator[Node]:
        """Everything that is known of the shape, in order of arrival."""
        return view(self)

    def _begin(self, node: int, event: CallStarted) -> Call:
        self._spending.rise(self, node)
        if self.family is not None:
            self.family.heard(node, event)
        if self._open is None:
            self._open = {}
        number = self._open[node] = self._number()
        return self._call(node, event, number, None)

    def _end(self, node: int, event: CallEnded, cost: MicroUsd | None) -> Call | None:
        cells, kind, counts = self.cells, event.kind, True
        base = node * CELLS
        if kind is MODEL or kind is EMBEDDINGS:
            usage = event.usage or charged(event)
            if usage is not None:
                counts = self._spending.tell(self, node, event, usage, cost)
        if cells[base] != NONE and (cells[base + META] > PLAIN or self.guesses):
            self._spending.rise(self, node)
        if self.family is not None:
            self.family.heard(node, event)
        number = self._open.pop(node, 0) if self._open else 0
        if kind is TOOL:
            told = self._tell(event) if event.tool_call_id else None
            if told is not None:
                return self._call(node, event, self.totals.calls, None) if told else None
            if cost:
                self.totals.cost += cost
        call = self._call(node, event, number or self._number(), cost)
        call.counts = counts
        return call

    def _fold(self, event: CallEnded, cost: MicroUsd | None) -> Call:
        """A call past the bound is counted and judged, and not remembered."""
        self.folded += 1
        self._stats.folded += 1
        usage = charged(event)
        if usage is not None and event.kind in CHARGED:
            self.totals.add(fitting(usage), cost)
        elif event.kind is TOOL:
            self.totals.pay(cost)
        above = self.find(event.trace_id, event.parent_span_id)
        depth, agents = self._ancestry(event, NONE if above is None else above)
        call = Call(event, self.run, self._number(), depth, int(event.kind is AGENT), agents, True, cost)
        call.nest = of_path((*agents, event.name), depth + 1) if call.height else of_path(agents, depth)
        return call

    def _call(self, node: int, event: CallStarted, number: int, cost: MicroUsd | None) -> Call:
        depth, agents, kin = event.depth, event.agents, self.family
        if depth < 0:
            depth, agents = self._ancestry(event, self.cells[node * CELLS])
        height = 0 if kin is None else self.cells[node * CELLS + META] >> HEIGHT
        call = Call(event, self.run, number, depth, height, agents, event.__class__ is CallEnded, cost)
        if kin is not None:
            call.nest = kin.nest(node, call)
        elif depth > 1:
            call.nest = of_path(agents, depth)
        return call

    def _ancestry(self, event: CallStarted, above: int) -> tuple[int, tuple[str, ...]]:
        """What the emitter stamped, else the agents above as far as they have arrived."""
        agents = event.agents
        if event.depth >= 0:
            return event.depth, agents
        if not agents and above != NONE:
            agents = self.above(above)
        return max(0, len(agents) - 1), agents

    def _tell(self, event: CallEnded) -> bool | None:
        """None: first telling of this tool call. True: told before, but only now with its content."""
        readable = event.prints is not None
        told = (event.tool_call_id, event.name)
        self._told, known = marks.meet(self._told, told, readable, _MAX_TOLD)
        if known is None:
            return None
        self._stats.twins += 1
        return readable and not known

    def _number(self) -> int:
        self._stats.calls += 1
        self.totals.calls = number = self.totals.calls + 1
        return number

    def _known(self, ended: bool) -> Call | None:
        if ended:
            self._stats.duplicates += 1
        else:
            self._stats.heartbeats += 1
        return None
