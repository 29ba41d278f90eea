"""What is measured: a case is a run of some agent, its steps in order, and what is known of its end.

Rule 1: plain data; our own engine is given the case as spans, the peers as turns: the same steps. Rule 2: an
answer of a model that calls a tool is the thought before that call, any other answer is a message. It does
not know where a case came from, nor who judges it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Kind(StrEnum):
    """What a step is."""

    MODEL = "model"
    TOOL = "tool"
    AGENT = "agent"  # an agent is called; what it does are the steps that follow


@dataclass(frozen=True, slots=True)
class Step:
    """One call. `at` and `lasts` are seconds since the run began; `user`: a person spoke just before.

    `args` of a model's step is what it was asked, where that is known. `place` numbers the processes that a
    case runs through, `depth` counts the agents around the step.
    """

    kind: Kind
    name: str
    args: str = ""
    result: str = ""
    error: bool = False
    at: float = 0.0
    lasts: float = 1.0
    agent: str = "main"
    user: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    place: int = 0
    depth: int = 0


class End(StrEnum):
    """What is known of a case, and so what a verdict on it means."""

    LOOP = "loop"  # it should be stopped
    UNDECIDABLE = "undecidable"  # a warning is wanted: content cannot tell
    HONEST = "honest"  # it must not be stopped
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known of a case. `kind` is its category, or what was grafted on it.

    `begins` is where a graft does, `onset` the index of the first step that brings nothing new, `due` of the
    one by which a stop is wanted: -1 where nobody knows. `success`: it reached its aim, None: unknown.
    `grey`: whether it should be stopped is arguable. `calls` are the indices of the steps that a delay is
    counted in: calls of tools, or messages where there are none after the onset.
    """

    id: str
    source: str
    kind: str = ""
    end: End = End.UNKNOWN
    success: bool | None = None
    begins: int = 0
    onset: int = -1
    due: int = -1
    steps: int = 0
    grey: bool = False
    sampled: bool = False
    calls: tuple[int, ...] = ()

    def delay(self, step: int) -> int:
        """How many calls were made from the onset on until `step`, that one included."""
        return sum(self.onset <= call <= step for call in self.calls)


@dataclass(frozen=True, slots=True)
class Case:
    """A run and what is known of it."""

    truth: Truth
    steps: Sequence[Step]


def counted(steps: Sequence[Step], onset: int) -> tuple[int, ...]:
    """The steps that a delay is counted in."""
    after = [at for at in range(max(onset, 0), len(steps)) if steps[at].kind is not Kind.MODEL]
    return tuple(after or range(max(onset, 0), len(steps)))


@dataclass
class Turn:
    """What the rules of peers look at: a tool's call with the thought before it, or a message."""

    index: int  # of its last step in the case
    name: str  # the tool's; empty for a message
    args: str = ""
    result: str = ""
    error: bool = False
    text: str = ""  # the thought, or the message
    user: bool = False
    agent: str = "main"
    steps: int = 1
    place: int = 0

    @property
    def is_call(self) -> bool:
        """Whether a tool was called."""
        return bool(self.name)

    @cached_property
    def arguments(self) -> object:
        """The arguments as data; a text that is no JSON is itself."""
        return readable(self.args)

    @cached_property
    def call(self) -> str:
        """The tool's name and its arguments with sorted keys: what most peers compare."""
        return f"{self.name}:{json.dumps(self.arguments, sort_keys=True)}"

    @property
    def outcome(self) -> tuple[str, str, bool]:
        """The call with what came of it."""
        return self.call, self.result, self.error


def readable(text: str) -> object:
    """A text as the JSON object or list that it is, else itself.

    >>> readable('{"q": 1}'), readable("ls -l")
    ({'q': 1}, 'ls -l')
    """
    if text[:1] in ("{", "["):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def turns(steps: Sequence[Step]) -> list[Turn]:
    """The steps as turns; an agent that is called is a call of a tool of its name.

    >>> told = [Step(Kind.MODEL, "m", result="Let me look."), Step(Kind.TOOL, "search", "{}", "[]")]
    >>> [(turn.name, turn.text) for turn in turns([*told, Step(Kind.MODEL, "m", result="Nothing there.")])]
    [('search', 'Let me look.'), ('', 'Nothing there.')]
    """
    found: list[Turn] = []
    for index, step in enumerate(steps):
        if step.kind is Kind.AGENT and index and steps[index - 1].place != step.place:
            continue  # it was called from another process
        turn = Turn(index, "", step.args, step.result, step.error, "", step.user, step.agent, 1, step.place)
        if step.kind is Kind.MODEL:
            turn.text = step.result
        else:
            turn.name = step.name or "tool"
            if _thinks(found[-1:], turn):
                thought = found.pop()
                turn.text, turn.steps, turn.user = thought.text, 2, turn.user or thought.user
        found.append(turn)
    return found


def _thinks(last: Sequence[Turn], turn: Turn) -> bool:
    return any(not old.is_call and old.index == turn.index - 1 and old.agent == turn.agent for old in last)
