"""An agent that is made to act: it goes on where a recorded run stood, and writes down what it does.

Rule 1: everything follows from the name of the run and the kind of act; nothing is drawn anew. Rule 2: what
the agent says before a call rotates among seven sentences, as models reword; a model's call takes two
seconds, a tool's one, and the context grows with each. It does not know which acts are loops.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.accuracy.steps import Kind, Step

THOUGHTS = (
    "Let me check that once more.",
    "I will look at it again to be sure.",
    "I need this information to go on.",
    "Let me verify before I answer.",
    "One more look at this should settle it.",
    "I should confirm the details first.",
    "Let me try that again.",
)
_OPENERS = ("Let me", "I will now", "Next I", "I want to", "Perhaps I can", "It seems best to", "I'd better")
_VERBS = ("look into", "go over", "inspect", "check on", "reconsider", "examine", "pull up", "double-check")
_OBJECTS = ("the record", "what we have", "the entry in question", "the current state", "these details")
_CLOSERS = ("before deciding", "to be certain", "and then answer", "with fresh eyes", "so nothing is missed")
_QUESTIONS = ("overview of", "details on", "information about", "facts regarding", "summary of", "notes on")
_ASIDES = ("", " please", " for me", " in short", " today", " right now", " if possible", " again")


Made = tuple[str, dict[str, Any], str]
"""A call: tool, arguments, result."""


@dataclass(frozen=True)
class World:
    """What an agent works on: a look at something, and the topic of it."""

    tool: str
    arguments: Mapping[str, object]
    answer: str
    topic: str


_TOOLS = ("get_user", "get_order", "list_items", "read_note", "search_docs", "get_policy", "find_address",
          "get_invoice", "list_rules", "read_page", "get_limits", "find_contact")  # fmt: skip
WORLDS = (
    World("get_order_details", {"order_id": "#W2611340"},
          '{"order_id": "#W2611340", "status": "delivered", "items": [{"name": "Jigsaw", "price": 43.1}, '
          '{"name": "Water Bottle", "price": 20.5}], "payment": "credit card ending in 9034"}',
          "the return policy for opened puzzles"),
    World("read_file", {"path": "src/parser/tokens.py"},
          "def tokens(text):\n    for number, line in enumerate(text.splitlines(), 1):\n"
          "        yield from split(line, number)\n\n\ndef split(line, number):\n    return line.split()\n",
          "how the tokenizer treats trailing blanks"),
    World("search_direct_flight", {"origin": "SFO", "destination": "JFK", "date": "2026-05-20"},
          '[{"flight": "HAT023", "departs": "04:00", "arrives": "10:00", "price": 153, "seats": 14}, '
          '{"flight": "HAT204", "departs": "09:30", "arrives": "15:40", "price": 197, "seats": 3}]',
          "baggage allowance for silver members"),
)  # fmt: skip


class Actor:
    """Acts after `prefix`; `steps` is all that was done so far, `rng` what it draws from."""

    def __init__(self, prefix: Sequence[Step], seed: str) -> None:
        self.steps = list(prefix)
        self.rng = random.Random(seed)
        self.world = WORLDS[self.rng.randrange(len(WORLDS))]
        last = max((step.at + step.lasts for step in prefix), default=0.0)
        self.clock = last + 1.0
        self.agent = prefix[-1].agent if prefix else "main"
        self.place = self.depth = 0
        self._tokens = 900
        self._calls = 0

    def look(self, number: int) -> Made:
        """The `number`th of twelve different looks; the first is the world's own."""
        if number == 0:
            return self.world.tool, dict(self.world.arguments), self.world.answer
        text = f"Entry {number} says that {self.world.topic} has {number} parts, the last by far the longest."
        answer = json.dumps({"about": number, "text": text})
        return _TOOLS[number % len(_TOOLS)], {"key": f"part-{number}"}, answer

    def think(self, text: str, asked: str = "", user: bool = False, seconds: float = 2.0) -> int:
        """A model's answer; returns its index."""
        self._add(Kind.MODEL, "gpt-4o", asked, text, seconds, user=user, input_tokens=self._tokens,
                  output_tokens=40 + len(text) // 4)  # fmt: skip
        self._tokens += 40
        return len(self.steps) - 1

    def answer_alone(self, text: str, asked: str) -> int:
        """A model's answer to a request that has nothing to do with those before; returns its index."""
        self._add(Kind.MODEL, "gpt-4o", asked, text, 0.8, input_tokens=150 + len(asked) // 4,
                  output_tokens=1 + len(text) // 4)  # fmt: skip
        return len(self.steps) - 1

    def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        result: str,
        *,
        error: bool = False,
        thought: str | None = None,
        seconds: float = 1.0,
    ) -> int:
        """A thought and a tool's call; returns the index of the call."""
        self.think(THOUGHTS[self._calls % len(THOUGHTS)] if thought is None else thought)
        self._calls += 1
        return self.act(name, arguments, result, error=error, seconds=seconds)

    def act(
        self,
        name: str,
        arguments: Mapping[str, object],
        result: str,
        error: bool = False,
        seconds: float = 1.0,
    ) -> int:
        """A tool's call alone, as further ones of the same answer are."""
        self._add(Kind.TOOL, name, json.dumps(dict(arguments)), result, seconds, error=error)
        return len(self.steps) - 1

    def at_once(self, calls: Iterable[Made]) -> None:
        """Several calls of one answer, side by side."""
        self.think(THOUGHTS[self._calls % len(THOUGHTS)])
        self._calls += 1
        began = self.clock
        for name, arguments, result in calls:
            self.clock = began
            self.act(name, arguments, result)

    def enter(self, agent: str, task: str) -> int:
        """Calls an agent, whose acts follow."""
        self._add(Kind.AGENT, agent, task, "", 0.0)
        return len(self.steps) - 1

    def wait(self, seconds: float) -> None:
        """Nothing happens for a while."""
        self.clock += seconds

    def moment(self) -> str:
        """The clock as a time stamp."""
        whole = int(self.clock)
        return f"2026-05-28T{10 + whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}Z"

    def token(self) -> str:
        """An id that no other call has."""
        return f"{self.rng.getrandbits(64):016x}"

    def sentence(self, number: int) -> str:
        """A way to say the same that was not said before."""
        verb, thing = _VERBS[number % len(_VERBS)], _OBJECTS[number // 3 % len(_OBJECTS)]
        opener, closer = _OPENERS[number % len(_OPENERS)], _CLOSERS[number // 2 % len(_CLOSERS)]
        return f"{opener} {verb} {thing} {closer}."

    def question(self, number: int) -> str:
        """A way to ask for the same."""
        return f"{_QUESTIONS[number % 6]} {self.world.topic}{_ASIDES[number // 6 % 8]}"

    def _add(
        self,
        kind: Kind,
        name: str,
        args: str,
        result: str,
        seconds: float,
        *,
        error: bool = False,
        user: bool = False,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
    ) -> None:
        self.steps.append(
            Step(kind, name, args, result, error, self.clock, seconds, self.agent, user,
                 input_tokens, output_tokens, self.place, self.depth)
        )  # fmt: skip
        self.clock += seconds + 0.5
