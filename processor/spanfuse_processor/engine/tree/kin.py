"""The agents of one run: who started whom, and what each call says of it.

Rule 1: a run without agents in agents has next to nothing of this. Rule 2: what comes to light by a span that
is no call, or by a tie between traces, is told with the next call. It does not know what is too deep.
"""

from __future__ import annotations

from spanfuse_processor.engine.calls import Call, Nest
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.tree.agents import Family
from spanfuse_processor.engine.tree.cells import CELLS, HEIGHT, META, NONE
from spanfuse_processor.engine.tree.lines import Lines, of_path
from spanfuse_processor.engine.tree.nodes import Nodes
from spanfuse_processor.engine.tree.traces import Traces
from spanfuse_processor.engine.tree.union import absorb

_AGENT = Kind.AGENT


class Kin(Family):
    """What is kept of the agents among the nodes of a run, beside the nodes themselves."""

    __slots__ = ("_due", "_nodes", "_traces")

    def __init__(self, nodes: Nodes) -> None:
        super().__init__()
        self._nodes = nodes
        self._traces: Traces | None = None  # None while there is but one trace
        self._due: tuple[int, ...] = ()  # nodes that made a way whole, and are to be looked at

    @property
    def traces(self) -> Traces:
        """The ties between the traces of the run."""
        if self._traces is None:
            self._traces = Traces(self._nodes)
        return self._traces

    def placed(self, node: int, event: CallStarted | None, fresh: bool) -> None:
        """A call, or a span that is none, has its place; `fresh`: nothing had named it before."""
        if event is not None and event.kind is _AGENT:
            self._nodes.name(node, event.name, event.span_id)
        if not fresh and self._traces is not None:
            self._traces.placed(node)

    def heard(self, node: int, event: CallStarted) -> None:
        """A call began or ended; what is above and below it is known as far as it is."""
        if event.kind is _AGENT and isinstance(event, CallEnded):
            self._nodes.live(node, event.started_ns, event.ended_ns)
        if event.depth >= 0:  # it says itself what is above
            return
        if self._traces is not None or event.link or event.trace_id != self._nodes.trace:
            self.traces.hear(node, event)

    def linked(self, node: int) -> None:
        """A span that is no call has made a way whole."""
        if self._nodes.cells[node * CELLS + META] >> HEIGHT:
            self._due += (node,)

    def unite(self, other: Kin) -> tuple[list[int], list[int]]:
        """Takes over another run's nodes and what is known of them. Returns what `union.absorb` does."""
        mine, theirs = self.traces, other.traces  # made of what either knows alone
        moved, wrappers = absorb(self._nodes, other._nodes)
        mine.absorb(theirs, moved)
        self._due += tuple(moved[node] for node in other._due if moved[node] != NONE)
        return moved, wrappers

    def nest(self, node: int, call: Call) -> Nest | None:
        """A call's place; or that of what came to light since the last call, where it is worse."""
        event, nest = call.event, None
        if call.height > 1 or (call.height and (call.agents or self._traces is not None)):
            nest = Lines(self._nodes, self._traces).through(node, event)
        elif event.depth > 1:
            nest = of_path(event.agents, event.depth)
        if self._due or (self._traces is not None and self._traces.moved):
            return self._worst(nest)
        return nest

    def _worst(self, nest: Nest | None) -> Nest | None:
        lines, due = Lines(self._nodes, self._traces), self._due
        self._due = ()
        if self._traces is not None:
            due, self._traces.moved = (*due, *self._traces.moved), []
        worst = max(filter(None, (nest, *map(lines.through, due))), key=_weight, default=None)
        if worst is None or nest is None:
            return worst
        return worst._replace(above=nest.above, own=nest.own, double=nest.double)


def _weight(nest: Nest) -> tuple[int, int]:
    return max(nest.sure, nest.times), nest.levels
