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
from spanfuse_processor.engine.repeats.sequence import Sequence

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

    __slots__ = ("_answers", "_asked", "_period", "_told", "agent", "last_ns", "models", "tools", "working")

    def __init__(self, agent: Hashable, period: int) -> None:
        self.agent = agent
        self.last_ns = 0
        self.working = False
        self._asked = self._told = ""
        self._period = period
        self.tools: Sequence | None = None  # None before the first call
        self.models: Sequence | None = None
        self._answers: array[int] | None = None  # when models answered, in order of time

    def begin_anew(self) -> None:
        """A person has spoken: what was before is another matter."""
        self.tools = self.models = None

    def begin_tools(self) -> Sequence:
        """Begins the sequence of tools' calls."""
        self.tools = Sequence(self._period)
        return self.tools

    def begin_models(self) -> Sequence:
        """Begins the sequence of models' calls."""
        self.models = Sequence(min(self._period, MODEL_PERIOD))
        return self.models

    def hear(self, asked: str, fresh: bool = False, told: str = "") -> None:
        """A user's message came with a request. Is it a person's, or another item of a program's?

        `asked` and `told` are the digests of request and answer. Programs, too, speak in the user's name:
        they hand on what tools gave, and ask again. But a `fresh` request, which goes on with nothing that
        was said before, and gets an answer that the last one did not get, is another matter.
        """
        news = fresh and told != "" and told != self._told
        if (news or not self.working) and (asked != self._asked or not asked):
            self.begin_anew()
        self._asked = asked
        self._told = told if fresh else self._told

    def answered(self, at_ns: int) -> None:
        """A model has answered: a new turn."""
        self.working = False
        answers = self._answers
        if answers is None:
            self._answers = array("q", (at_ns,))
        elif at_ns < answers[-1]:  # spans may arrive in any order
            insort(answers, at_ns)
        else:
            answers.append(at_ns)
        if answers is not None and len(answers) > MAX_ANSWERS:
            del answers[0]

    def same_turn(self, earlier_ns: int, later_ns: int) -> bool:
        """Whether both times are known to lie between the same two answers."""
        answers = self._answers or ()
        turn = bisect_right(answers, earlier_ns)
        return turn > 0 and turn == bisect_right(answers, later_ns)


class Lanes:
    """The lanes of one run. `period` is the longest that their sequences look for."""

    __slots__ = ("_lane", "_lanes", "_period", "_place", "_places")

    def __init__(self, period: int) -> None:
        self._period = period
        self._lane: Lane | None = None  # the latest, and its place: most calls follow one in the same place
        self._place: Hashable = None
        self._lanes: list[Lane] = []
        self._places: dict[Hashable, Lane] | None = None  # all of them; many runs have only one

    def of(self, call: Call, ended_ns: int) -> Lane:
        """The lane of a call that ended at `ended_ns`."""
        event = call.event
        place = event.parent_span_id or call.agents or event.agent  # the span above, else the agent
        lane = self._lane
        if lane is None or place != self._place:
            lane = self._turn_to(place, call)
        if ended_ns > lane.last_ns:
            lane.last_ns = ended_ns
        return lane

    def clear(self) -> None:
        """Forgets everything."""
        self._lanes.clear()
        self._lane = self._places = None

    def _turn_to(self, place: Hashable, call: Call) -> Lane:
        """Makes the lane of a place the latest."""
        if self._lane is not None and self._places is None:
            self._places = {self._place: self._lane}
        lane = self._places.get(place) if self._places is not None else None
        if lane is None:
            lane = self._enter(call)
            if self._places is not None:
                if len(self._places) >= MAX_PLACES:
                    del self._places[next(iter(self._places))]
                self._places[place] = lane
        self._place, self._lane = place, lane
        return lane

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
        return lane
