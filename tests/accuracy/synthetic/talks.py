"""Tails of words alone, and of agents that call agents.

Rule 1: as in `loops`: a function of an actor, which returns its onset. Rule 2: agents that run through
several processes say so by the `place` of their steps. It does not know how places are tied together.
"""

from __future__ import annotations

from tests.accuracy.synthetic.actor import Actor

MESSAGES = 36
LEVELS = 24
_PLAN = "I will now carry on with the next step of the plan and report back when it is done."
_HELLO = ("Over to you: please review what I have so far.", "Looks fine to me. Please go on as you see fit.")


def _told(actor: Actor, text: str, said: list[str]) -> int:
    """A message, asked for with all that was said before."""
    index = actor.think(text, asked="\n".join(said))
    said.append(text)
    return index


def monologue(actor: Actor) -> int:
    """One message over and over, and no tool."""
    said: list[str] = []
    return [_told(actor, _PLAN, said) for _ in range(MESSAGES)][1]


def monologue_reworded(actor: Actor) -> int:
    """One intent in other words each time, and no tool."""
    said: list[str] = []
    return [_told(actor, f"{actor.sentence(number)} {_PLAN}", said) for number in range(MESSAGES)][1]


def ping_pong(actor: Actor) -> int:
    """Two agents hand each other the same two messages."""
    said: list[str] = []
    told = []
    for number in range(MESSAGES):
        actor.agent = ("writer", "reviewer")[number % 2]
        told.append(_told(actor, _HELLO[number % 2], said))
    return told[2]


def ping_pong_reworded(actor: Actor) -> int:
    """Two agents hand each other the word, politely and never in the same words."""
    said: list[str] = []
    told = []
    for number in range(MESSAGES):
        actor.agent = ("writer", "reviewer")[number % 2]
        told.append(_told(actor, f"{_HELLO[number % 2]} {actor.sentence(number)}", said))
    return told[2]


def handed_over(actor: Actor) -> int:
    """Two agents transfer the work to each other by a tool."""
    calls = []
    for number in range(MESSAGES):
        actor.agent = ("triage", "billing")[number % 2]
        other = ("billing", "triage")[number % 2]
        task = {"task": "resolve the customer's open question"}
        calls.append(actor.call(f"transfer_to_{other}", task, f"Transferred to {other}."))
    return calls[2]


def recursion(actor: Actor) -> int:
    """An agent calls itself as a service: each time in another process, while the one before waits."""
    onset = -1
    for level in range(1, LEVELS):
        actor.think(f"Part {level} is too big for me; I delegate it.")
        actor.place, actor.depth, actor.agent = level, level, "planner"
        entered = actor.enter("planner", f"Work out part {level}: {actor.question(level)}")
        onset = entered if level == 2 else onset
    actor.think("This is too big for me.")
    return onset


def recursion_queued(actor: Actor) -> int:
    """An agent leaves a message for itself and ends; who picks it up does the same, in another process."""
    onset = -1
    for level in range(1, LEVELS):
        actor.call("enqueue", {"for": "planner", "task": actor.question(level)}, "queued")
        actor.place, actor.agent = level, "planner"
        onset = len(actor.steps) if level == 2 else onset
    actor.think("This is too big for me.")
    return onset
