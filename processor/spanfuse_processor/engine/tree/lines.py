"""The agents around a node and below it, one inside the other: how many, and which of them is within itself.

Frameworks and instrumentations often tell of one agent twice, by two spans right inside one another. Rule 1:
two of one name right inside one another are one agent; three are an agent that calls itself, and so are two
with a tool between them, or with two more of the name beside the inner one. Rule 2: whatever order nodes come
in, the longest way is found by the call that makes it whole. Rule 3: every walk is bounded. It does not know
what is too deep.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from spanfuse_processor.engine.calls import Nest
from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.tree.agents import agent_at, kids_of, name_at
from spanfuse_processor.engine.tree.cells import AGENT, NONE, TOOL
from spanfuse_processor.engine.tree.nodes import STEPS, Nodes
from spanfuse_processor.engine.tree.traces import Traces

VISITS: Final = 1_024
"""Nodes below one that are looked at."""

DEEPEST: Final = 32
"""Agents inside one another that are looked at: far more than any that are told of as too many."""

LAUNCHES: Final = 3
"""So many of a name, started by one agent of that name, are agents of their own and no second telling."""

UNNAMED: Final = 64
"""Agents above that nobody named, that a stamped depth may stand for."""

GENERATIONS: Final = 64
"""Queues that are followed back."""


class Rung(NamedTuple):
    """One agent on a way down. Agents of one name that follow one another are a group.

    `up` is the agent above, `outer` the one above the group, None where the way there is inferred. Before the
    group lie `before` levels, before the last inferred step `hop`. `size` are those of the group so far,
    `apart` says that two of it are two.
    """

    up: Rung | None
    outer: Rung | None
    name: str
    span_id: bytes
    before: int
    hop: int
    size: int
    apart: bool

    @property
    def group(self) -> int:
        """What the group counts for."""
        return 1 if self.size == 2 and not self.apart else self.size

    @property
    def levels(self) -> int:
        """Agents down to here, doubles apart."""
        return self.before + self.group

    @property
    def times(self) -> int:
        """How often this agent is within itself, itself included."""
        count, outer = self.group, self.outer
        while outer is not None:
            count += outer.group if outer.name == self.name else 0
            outer = outer.outer
        return count if self.name else 1


def down(
    up: Rung | None, name: str, span_id: bytes = b"", apart: bool = False, inferred: bool = False
) -> Rung:
    """One agent further down.

    >>> down(down(down(None, "main"), "scout"), "scout").levels
    2
    >>> down(down(down(None, "scout"), "scout"), "scout").levels
    3
    """
    if up is None or inferred:
        levels = up.levels if up is not None else 0
        return Rung(up, None, name, span_id, levels, levels, 1, False)
    if name and name == up.name:
        return Rung(up, up.outer, name, span_id, up.before, up.hop, up.size + 1, up.apart or apart)
    return Rung(up, up, name, span_id, up.levels, up.hop, 1, False)


def line(rung: Rung) -> list[Rung]:
    """The agents down to here, outermost first, each double once."""
    found: list[Rung] = []
    group = 0
    at: Rung | None = rung
    while at is not None:
        group = group or at.size
        if at.size != 2 or group > 2 or at.apart:
            found.append(at)
        group = group if at.size > 1 else 0
        at = at.up
    found.reverse()
    return found


NOBODY: Final = Rung(None, None, "", b"", 0, 0, 0, False)


class Best:
    """The longest ways that were found, and the one with the most of a name."""

    __slots__ = ("longest", "most", "surest", "times")

    def __init__(self) -> None:
        self.longest = self.surest = self.most = NOBODY
        self.times = 0

    def meet(self, rung: Rung) -> None:
        """One more way."""
        if rung.levels > self.longest.levels:
            self.longest = rung
        if rung.levels - rung.hop > self.surest.levels - self.surest.hop:
            self.surest = rung
        if rung.times > self.times:
            self.most, self.times = rung, rung.times

    def nest(self, of_agent: Nest) -> Nest:
        """What was found, with what else there is to say of an agent."""
        way = line(self.longest)
        return of_agent._replace(
            levels=self.longest.levels,
            sure=self.surest.levels - self.surest.hop,
            line=tuple(rung.name for rung in way),
            spans=tuple(rung.span_id for rung in way if rung.span_id),
            name=self.most.name,
            times=self.times,
        )


class Place(NamedTuple):
    """Where a way down goes on: below `rung`, which is node `agent`, with or without a tool in between."""

    rung: Rung | None = None
    agent: int = NONE
    tool: bool = False
    inferred: bool = False


class Lines:
    """The ways through the nodes of one run. `traces`: what ties those of several traces."""

    __slots__ = ("_inferred", "_nodes", "_queued")

    def __init__(self, nodes: Nodes, traces: Traces | None = None) -> None:
        self._nodes = nodes
        self._inferred = traces.inferred if traces is not None else frozenset()
        self._queued = traces.queued if traces is not None else {}

    def through(self, node: int, event: CallStarted | None = None) -> Nest | None:
        """The ways through a node, with what its call says; None when there are no agents in agents."""
        place, top = self._above(node)
        if event is not None and event.depth >= 0:
            # Of our own agents each start is told at once: what is above and not known is a tool.
            tool = place.tool or place.agent == NONE
            place = place._replace(rung=stamped(event.agents, event.depth), tool=tool)
        best, of_agent = Best(), Nest(0, 0, ())
        if self._nodes.code(node) == AGENT:
            above, place = place, self._step(place, node)
            of_agent = self._of_agent(node, above, place, top)
            if of_agent.own == LAUNCHES:  # those beside it are no doubles either
                self._descend(above.agent, Place(above.rung, above.agent), best)
        elif self._nodes.code(node) == TOOL:
            place = place._replace(tool=True)
        if place.rung is not None:
            best.meet(place.rung)
        self._descend(node, place, best)
        nest = best.nest(of_agent)
        return nest if nest.levels > 1 or nest.above or nest.double else None

    def _above(self, node: int) -> tuple[Place, int]:
        """What is above a node, and the outermost node that is."""
        nodes = self._nodes
        found: list[tuple[int, bool, bool]] = []
        tool = inferred = False
        for _ in range(STEPS):
            if len(found) > DEEPEST:
                break
            inferred = inferred or node in self._inferred
            above = nodes.parent(node)
            if above == NONE:
                break
            node = above
            if nodes.code(node) == AGENT:
                found.append((node, tool, inferred))
                tool = inferred = False
            elif nodes.code(node) == TOOL:
                tool = True
        place = Place()
        for agent, tool, inferred in reversed(found):
            place = self._step(place, agent)._replace(tool=tool, inferred=inferred)
        return place, node

    def _step(self, place: Place, node: int) -> Place:
        """One agent further down."""
        name, span_id, _ = agent_at(self._nodes.agents, node)
        up, apart = place.rung, place.tool
        if up is not None and name == up.name and not apart:
            apart = self._alike(place.agent, name) >= LAUNCHES
        return Place(down(up, name, span_id, apart, place.inferred), node)

    def _descend(self, node: int, place: Place, best: Best) -> None:
        """Looks at the agents below a node."""
        nodes, kids = self._nodes, kids_of(self._nodes.family)
        waiting, visits = [(node, place)], 0
        while waiting and visits < VISITS:
            node, place = waiting.pop()
            for kid in kids.get(node, ()):
                visits += 1
                if place.rung is not None and place.rung.levels >= DEEPEST:
                    continue
                below = place._replace(inferred=place.inferred or kid in self._inferred)
                if nodes.code(kid) == AGENT:
                    below = self._step(below, kid)
                    best.meet(below.rung or NOBODY)
                elif nodes.code(kid) == TOOL:
                    below = below._replace(tool=True)
                waiting.append((kid, below))

    def _alike(self, agent: int, name: str) -> int:
        """How many agents of a name are right below an agent, no tool between; not counted to the end."""
        nodes, kids = self._nodes, kids_of(self._nodes.family)
        waiting, count = list(kids.get(agent, ())), 0
        for _ in range(VISITS):
            if not waiting or count > LAUNCHES:
                break
            kid = waiting.pop()
            code = nodes.code(kid)
            if code == AGENT:
                count += name_at(nodes.agents, kid) == name
            elif code != TOOL:
                waiting.extend(kids.get(kid, ()))
        return count

    def _of_agent(self, node: int, place: Place, own: Place, top: int) -> Nest:
        """What there is to say of an agent below `place`: what led to it, and whether it is told twice."""
        name, rung = name_at(self._nodes.agents, node), own.rung
        above = (rung.levels if rung is not None else 1) - 1 + self._led(top)
        launches = self._own(node, name, place, top)
        inner = rung is not None and rung.size == 2 and not rung.apart
        outer = rung is not None and rung.size == 1 and 0 < self._alike(node, name) < LAUNCHES
        return Nest(0, 0, (), above=above, own=launches, double=name != "" and (inner or outer))

    def _own(self, node: int, name: str, place: Place, top: int) -> int:
        """How many launches of agents by one of their own name it makes that `node` has come."""
        up = place.rung
        if up is None and top in self._queued:
            up, place = self._above(self._queued[top])[0].rung, Place(tool=True)
        if up is None or not name or up.name != name:
            return 0
        if place.tool:
            return 1
        alike = self._alike(place.agent, name)
        return LAUNCHES if alike == LAUNCHES else int(alike > LAUNCHES)  # the first may have been doubles

    def _led(self, top: int) -> int:
        """Agents that led to the one at the top of a trace, through queues."""
        led = 0
        for _ in range(GENERATIONS):
            if top not in self._queued:
                break
            place, top = self._above(self._queued[top])
            led += place.rung.levels if place.rung is not None else 0
        return led


@lru_cache(maxsize=4_096)
def stamped(agents: tuple[str, ...], depth: int) -> Rung | None:
    """The agents around a call as its emitter named them, and those that it only counted."""
    rung = None
    unnamed = depth + 1 - len(agents) if depth or agents else 0
    for name in (*[""] * min(unnamed, UNNAMED), *agents[-DEEPEST:]):
        rung = down(rung, name)
    return rung


@lru_cache(maxsize=4_096)
def of_path(agents: tuple[str, ...], depth: int) -> Nest | None:
    """The place of a call that makes no agent and has none below it."""
    best, rung = Best(), stamped(agents, depth)
    if rung is None or rung.levels < 3:
        return None
    best.meet(rung)
    return best.nest(Nest(0, 0, ()))
