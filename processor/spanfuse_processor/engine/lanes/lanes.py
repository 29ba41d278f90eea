"""Which calls follow one another: one lane for each agent at work, though several share a name.

Helpers of one name that work side by side each read the same file first. That is no repeat, and a list of
calls by name would make one of it. The span above a call tells helpers apart, but frameworks also put a
fresh span above every step of a single agent. Time tells one from the other: steps follow, helpers overlap.

Rule 1: calls below one span are in one lane. Rule 2: below a new span they go on with a lane of the same
agent that had ended before they began, else they begin one. Rule 3: an agent whose starter is not known yet
is in no lane but that of its span. Rule 4: lanes and spans are bounded, the oldest forgotten first. It does
not know what the calls of a lane are judged by.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Final

from spanfuse_processor.engine import effects, marks
from spanfuse_processor.engine.calls import PLAIN_COST, PLAIN_NS, PLAIN_TOKENS, Call, News
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.lanes.lane import Lane, is_long
from spanfuse_processor.engine.lanes.places import Places, entered, lane_at, lanes_of
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import ToolRule

MAX_WRITTEN: Final = 256
"""Pieces of work that are remembered."""

TOOL, MODEL, AGENT = Kind.TOOL, Kind.MODEL, Kind.AGENT  # looked up in the enum they take longer
NEW, KNOWN = News.NEW, News.KNOWN
SEND, SPAWN = effects.SEND, effects.SPAWN
_PLACED: Final = frozenset({TOOL, MODEL, AGENT})
_OUTERMOST: Final = (AGENT, "")  # whoever started it is nobody's agent
_TURNS: Final = (Kind.AGENT, Kind.WORKFLOW, Kind.OTHER)


class Lanes:
    """The lanes of one run. `tools` is what policy says of single tools."""

    __slots__ = ("_lane", "_news", "_place", "_places", "_talk", "_work", "_written", "tools")

    def __init__(self, tools: Mapping[str, ToolRule]) -> None:
        self.tools = tools
        self._news = 0  # results of tools that were new, of all agents
        self._talk = 0  # answers of models that were not those before
        self._work = 0  # those of them that were pieces of work: what goes round among several is none
        self._written: bytes | bytearray = b""
        self._lane: Lane | None = None  # the latest, and its place: most calls follow one in the same place
        self._place: Hashable = None
        self._places: Places = ()  # all of them, when there is another

    def place(self, call: Call) -> Lane | None:
        """Puts a call that ended into its lane and tells it what it brought. None: it is in none."""
        event = call.event
        kind, tools = event.kind, self.tools
        if event.user_turn and kind in _TURNS and not call.agents and call.depth <= 0:
            self.clear()  # a person has spoken to the outermost agent; an inner one is asked by an agent
            return None
        if not isinstance(event, CallEnded) or kind not in _PLACED:
            return None
        rule = tools.get(event.name) if tools else None
        effect = SPAWN if kind is AGENT else ""
        if kind is TOOL:
            thinks, guessed = _by_name(event.name)
            if thinks:
                return None
            effect = (rule.effect if rule is not None else "") or event.effect or guessed
        repeatable = event.repeatable or (rule is not None and rule.repeatable)
        lane = self._of(call, event.ended_ns)
        call.effect, call.repeatable, call.lane = effect, repeatable, lane
        said, work = self._talk - lane.talk, self._work - lane.work
        news = call.news = lane.take(event, effect, repeatable, self._news, said, work)
        if kind is MODEL:
            self._hear(lane, event)
            if call.cost:
                lane.cost += call.cost
        elif news is NEW and kind is TOOL and not lane.spared:
            # A call that was spared for what was found is no find, or two would spare each other for ever.
            self._news += 1
        call.plain = _is_plain(call, event, lane)
        return lane

    def _hear(self, lane: Lane, event: CallEnded) -> None:
        """Counts a model's answer that is another than the one before; and as a piece of work one that is
        long and not nearly the same either, unless somebody gave it before."""
        if lane.models is None:
            return
        _, kin, _, ends = lane.models.alike()
        if ends != 1:
            return
        self._talk += 1
        lane.talk += 1
        prints = event.prints
        if kin == 1 and prints is not None and is_long(event, prints):
            self._written, known = marks.meet(self._written, prints.result_masked, True, MAX_WRITTEN)
            self._work += known is None
            lane.work += known is None

    def clear(self) -> None:
        """Forgets everything."""
        self._lane, self._places = None, ()

    def _of(self, call: Call, ended_ns: int) -> Lane:
        """The lane of a call that ended at `ended_ns`."""
        event = call.event
        place = event.parent_span_id or call.agents or (event.agent if event.kind is not AGENT else "")
        lane = self._lane
        if lane is None or place != self._place:
            lane = self._turn_to(place, call)
        start, last = event.started_ns, lane.last_ns
        if start > last > 0:
            lane.idle_ns += start - last
        if ended_ns > last:
            lane.last_ns = ended_ns
        return lane

    def _turn_to(self, place: Hashable, call: Call) -> Lane:
        """Makes the lane of a place the latest."""
        if self._lane is not None:
            places = self._places or entered((), self._place, self._lane)
            lane = lane_at(places, place)
            if lane is None:
                lane = self._enter(place, call, lanes_of(places))
                places = entered(places, place, lane)
            self._places = places
        else:
            lane = self._enter(place, call, ())
        self._place, self._lane = place, lane
        return lane

    def _enter(self, place: Hashable, call: Call, lanes: tuple[Lane, ...]) -> Lane:
        """The lane for calls in a place that is new: one of these, or another."""
        event = call.event
        agent: Hashable = call.agents or event.agent
        if (
            event.kind is AGENT and not call.agents
        ):  # its own calls go by that name; who started it is unknown
            agent = (AGENT, place) if place else _OUTERMOST
        idle = [each for each in lanes if each.agent == agent and each.last_ns <= event.started_ns]
        return max(idle, key=lambda each: each.last_ns) if idle else Lane(agent)


def _is_plain(call: Call, event: CallEnded, lane: Lane) -> bool:
    """Whether there is nothing about a call that is not new, fine, small, and like nothing before it."""
    if call.news is KNOWN or event.error or event.resends or event.stages or call.nest is not None:
        return False
    prints, usage = event.prints, event.usage
    if call.effect == SEND or (prints is not None and (prints.error or prints.chant)):
        return False
    if event.ended_ns - event.started_ns >= PLAIN_NS or (call.cost is not None and call.cost >= PLAIN_COST):
        return False
    if usage is not None and usage.input_tokens >= PLAIN_TOKENS:
        return False
    return not lane.resembles(event.kind)


@lru_cache(maxsize=4_096)
def _by_name(tool: str) -> tuple[bool, str]:
    """Whether a tool only thinks, and what its name lets one expect of it."""
    return effects.thinks(tool), effects.by_name(tool)
