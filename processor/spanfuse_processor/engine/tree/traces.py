"""One run in several traces: which agent works for which, where no span says whose child it is.

Rule 1: where a link says what a trace follows, its agent works for the one over there that was at work for as
long as itself. Rule 2: where nothing but a conversation ties traces together, time alone may speak: the other
agent was at work all the while and asked no model meanwhile; and as soon as two agents of the run were at
work side by side, time says nothing any more. Rule 3: what a tool's call started and did not wait for was
sent through a queue: that is a launch, and no nesting. Rule 4: judged when agents have ended, in any order;
bounded. It does not know agents in agents of one trace, nor what is too deep.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.tree.agents import listed
from spanfuse_processor.engine.tree.cells import AGENT, NONE, TOOL
from spanfuse_processor.engine.tree.nodes import STEPS, Life, Nodes

RECENT: Final = 64
"""Agents, and traces, that are compared with others."""

BUSY: Final = 32
"""Model calls of a trace that are remembered."""

_MODEL, _AGENT = Kind.MODEL, Kind.AGENT  # a member looked up in its enum costs four times as much


class Stay(NamedTuple):
    """An agent that was at work in a trace: when, and its node."""

    started_ns: int
    ended_ns: int
    trace: bytes
    node: int


class Traces:
    """The ties between the traces of one run. Made when there is a second trace.

    Attributes:
        inferred: nodes that hang where they do because of nothing but time.
        queued: the outermost node of a trace -> the tool's call that sent for it.
        moved: nodes that hang elsewhere than they did, until somebody has looked.
    """

    __slots__ = (
        "_busy",
        "_homes",
        "_links",
        "_nodes",
        "_recent",
        "_side_by_side",
        "inferred",
        "moved",
        "queued",
    )

    def __init__(self, nodes: Nodes) -> None:
        self.inferred: set[int] = set()
        self.queued: dict[int, int] = {}
        self.moved: list[int] = []
        self._nodes = nodes
        lives = ((agent.node, nodes.life(agent.node)) for agent in listed(nodes.agents))
        known = [Stay(*life, nodes.trace, node) for node, life in lives if life.ended_ns]
        self._recent = deque(known, RECENT)
        self._links: OrderedDict[bytes, bytes] = OrderedDict()  # trace -> the span that it follows
        self._busy: OrderedDict[bytes, deque[Life]] = OrderedDict()  # trace -> its model calls
        self._homes: dict[int, int] = {}  # the outermost node of a trace -> the agent that it works for
        self._side_by_side = False

    def hear(self, node: int, event: CallStarted) -> None:
        """A call of any trace that does not say itself how deep it is."""
        trace = event.trace_id
        if event.link and trace not in self._links:
            self._follow(trace, event.link)
        if event.kind is _AGENT:
            if isinstance(event, CallEnded):
                stay = Stay(event.started_ns, event.ended_ns, trace, node)
                self._compare(stay, self._recent)
                self._recent.append(stay)
            self._queue(node, trace)
        elif event.kind is _MODEL and isinstance(event, CallEnded):
            self._note(trace, Life(event.started_ns, event.ended_ns))

    def placed(self, node: int) -> None:
        """A node that was awaited has arrived: what hung on it may hang on what is above it now."""
        home = self._homes.pop(node, None)
        if home is None:
            return
        inferred, free = node in self.inferred, self._nodes.parent(node) == home
        self.inferred.discard(node)
        if self._nodes.code(node) == AGENT:  # its own life says for whom it works, once it has ended
            if free:
                self._nodes.hang(node, NONE)
            return
        top = node if free else self._top(node)
        if top is not None:
            self._move_in(top, home, inferred)

    def absorb(self, other: Traces, moved: list[int]) -> None:
        """Takes over the ties of a run that turned out to be the same; `moved`: its nodes' numbers here."""
        mine = list(self._recent)
        theirs = [stay._replace(node=moved[stay.node]) for stay in other._recent if moved[stay.node] != NONE]
        self._recent.extend(theirs)
        self._side_by_side |= other._side_by_side
        self._links = OrderedDict(list({**other._links, **self._links}.items())[-RECENT:])
        self._busy = OrderedDict(list({**other._busy, **self._busy}.items())[-RECENT:])
        queued = ((moved[top], moved[tool]) for top, tool in other.queued.items())
        self.queued |= {top: tool for top, tool in queued if NONE not in (top, tool)}
        for theirs_top, theirs_home in other._homes.items():
            top, home = moved[theirs_top], moved[theirs_home]
            if NONE not in (top, home) and self._nodes.parent(top) in (NONE, home):
                self._move_in(top, home, theirs_top in other.inferred)
        for stay in theirs:
            self._compare(stay, mine)

    def _note(self, trace: bytes, life: Life) -> None:
        """A model was asked in a trace."""
        busy = self._busy.setdefault(trace, deque(maxlen=BUSY))
        busy.append(life)
        if len(self._busy) > RECENT:
            self._busy.popitem(last=False)

    def _follow(self, trace: bytes, link: bytes) -> None:
        """What a trace follows is known now."""
        self._links[trace] = link
        if len(self._links) > RECENT:
            self._links.popitem(last=False)
        for stay in list(self._recent):
            if stay.trace == trace:
                self._compare(stay, self._recent)
                self._queue(stay.node, trace)

    def _queue(self, node: int, trace: bytes) -> None:
        """Notes the tool's call that sent for an agent, if it is one and did not wait."""
        link, top = self._links.get(trace), self._top(node)
        if link is None or top is None or top in self._homes:
            return
        tool = self._nodes.number(self._nodes.key(link[:16], link[16:]))
        if tool is not None and self._nodes.code(tool) == TOOL:
            self.queued[top] = tool

    def _compare(self, one: Stay, others: Iterable[Stay]) -> None:
        """Looks who of an agent and others at work at a time works for whom."""
        start, end, trace, _ = one
        met = [each for each in others if each[0] < end and start < each[1] and each[2] != trace]
        self._side_by_side = self._side_by_side or any(_cross(one, other) for other in met)
        for other in met:
            self._offer(one, other)
            self._offer(other, one)

    def _offer(self, inner: Stay, outer: Stay) -> None:
        """Puts an agent below another when it works for that one, and for nobody nearer."""
        if not outer.started_ns < inner.started_ns <= inner.ended_ns <= outer.ended_ns:
            return
        link, top = self._links.get(inner.trace), self._top(inner.node)
        if top is None or (link[:16] != outer.trace if link else not self._waits(outer.trace, inner)):
            return
        home = self._homes.get(top)
        if home is not None and not (link and top in self.inferred):
            known = self._nodes.life(home)
            if known.ended_ns - known.started_ns <= outer.ended_ns - outer.started_ns:
                return
        self._move_in(top, outer.node, link is None)

    def _waits(self, there: bytes, inner: Stay) -> bool:
        """Whether nobody there asked a model while `inner` was at work, as whoever waits for it does not."""
        if self._side_by_side or self._links.get(there, b"")[:16] == inner.trace:
            return False
        busy, start, end = self._busy.get(there) or (), inner.started_ns, inner.ended_ns
        if len(busy) == BUSY and start < min(busy).ended_ns:
            return False
        return not any(call.started_ns < end and start < call.ended_ns for call in busy)

    def _move_in(self, top: int, home: int, inferred: bool) -> None:
        if self._nodes.leads(home, top):
            return
        self._nodes.hang(top, home)
        self._nodes.rise(top)
        self._homes[top] = home
        self.moved.append(top)
        self.queued.pop(top, None)
        (self.inferred.add if inferred else self.inferred.discard)(top)

    def _top(self, node: int) -> int | None:
        """The outermost node of this one's trace; None when it is below an agent there."""
        for _ in range(STEPS):
            above = NONE if node in self._homes else self._nodes.parent(node)
            if above == NONE:
                return node
            if self._nodes.code(above) == AGENT:
                return None
            node = above
        return None


def _cross(one: Stay, other: Stay) -> bool:
    """Whether of two that were at work at a time neither was for as long as the other.

    >>> _cross(Stay(0, 5, b"", 0), Stay(3, 8, b"", 1)), _cross(Stay(0, 9, b"", 0), Stay(3, 8, b"", 1))
    (True, False)
    """
    return (one.started_ns - other.started_ns) * (one.ended_ns - other.ended_ns) > 0
