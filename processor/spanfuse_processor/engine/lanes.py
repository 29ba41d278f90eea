"""Which calls follow one another: one lane for each agent at work, though several share a name.

Helpers of one name that work side by side each read the same file first. That is no repeat, and a list of
calls by name would make one of it. The span above a call tells helpers apart, but frameworks also put a
fresh span above every step of a single agent. Time tells one from the other: steps follow, helpers overlap.

Rule 1: calls below one span are in one lane. Rule 2: below a new span they go on with a lane of the same
agent that had ended before they began, else they begin one. Rule 3: lanes and spans are bounded, the oldest
forgotten first. It does not know what the calls of a lane are judged by.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right, insort
from collections.abc import Hashable
from typing import Final

from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.sequence import Sequence

MAX_LANES: Final = 64
"""Agents of one run at work that are told apart."""

MODEL_PERIOD: Final = 4
"""The longest cycle of model calls that is looked for: each carries what was before it, so few repeat."""

MAX_ANSWERS: Final = 64
"""Answers of models that are remembered, to tell turns apart."""

MAX_PLACES: Final = 256
"""Spans above calls that are remembered."""


class Lane:
    """The calls of one agent at work, those of tools and of models apart: neither hides the other's repeats.

    `last_ns` is the latest end, `working` whether tools were called since a model answered.
    """

    __slots__ = ("_answers", "_asked", "_period", "agent", "last_ns", "models", "tools", "working")

    def __init__(self, agent: Hashable, period: int) -> None:
        self.agent = agent
        self.last_ns = 0
        self.working = False
        self._asked = ""
        self._period = period
        self.begin_anew()
        self._answers = array("d")  # when models answered, in order of time; spans may arrive in any

    def begin_anew(self) -> None:
        """A person has spoken: what was before is another matter."""
        self.tools = Sequence(self._period)
        self.models = Sequence(min(self._period, MODEL_PERIOD))

    def hear(self, asked: str) -> None:
        """A user's message came with a request, of which `asked` is the digest. Is it a person's?

        Programs, too, speak to a model in the user's name: they hand on what tools gave, and ask again.
        """
        if not self.working and (asked != self._asked or not asked):
            self.begin_anew()
        self._asked = asked

    def answered(self, at_ns: int) -> None:
        """A model has answered: a new turn."""
        self.working = False
        if self._answers and at_ns < self._answers[-1]:
            insort(self._answers, at_ns)
        else:
            self._answers.append(at_ns)
        if len(self._answers) > MAX_ANSWERS:
            del self._answers[0]

    def same_turn(self, earlier_ns: int, later_ns: int) -> bool:
        """Whether both times are known to lie between the same two answers."""
        turn = bisect_right(self._answers, earlier_ns)
        return turn > 0 and turn == bisect_right(self._answers, later_ns)


class Lanes:
    """The lanes of one run. `period` is the longest that their sequences look for."""

    __slots__ = ("_lanes", "_period", "_places")

    def __init__(self, period: int) -> None:
        self._period = period
        self._lanes: list[Lane] = []
        self._places: dict[Hashable, Lane] = {}  # by the span above, without one by the agent

    def of(self, call: Call, ended_ns: int) -> Lane:
        """The lane of a call that ended at `ended_ns`."""
        event = call.event
        lane = self._places.get(event.parent_span_id or call.agents or event.agent)
        if lane is None:
            lane = self._enter(call)
        if ended_ns > lane.last_ns:
            lane.last_ns = ended_ns
        return lane

    def clear(self) -> None:
        """Forgets everything."""
        self._lanes.clear()
        self._places.clear()

    def _enter(self, call: Call) -> Lane:
        """The lane for calls in a place that is new."""
        event = call.event
        agent: Hashable = call.agents or event.agent
        idle = [each for each in self._lanes if each.agent == agent and each.last_ns <= event.started_ns]
        if idle:
            lane = max(idle, key=lambda each: each.last_ns)
        else:
            lane = Lane(agent, self._period)
            self._lanes.append(lane)
            del self._lanes[:-MAX_LANES]
        if len(self._places) >= MAX_PLACES:
            del self._places[next(iter(self._places))]
        self._places[event.parent_span_id or agent] = lane
        return lane
