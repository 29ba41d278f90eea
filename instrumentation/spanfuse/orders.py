"""Which orders are obeyed here, how strict each is, and why another is not obeyed.

Rule 1: an order that cannot be carried out to the letter is refused with a reason, not carried out in part.
Rule 2: of several, a stop goes before what slows a call or makes it cheaper; those two go together. It does
not know which orders stand.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

REFUSING: Final = frozenset({Action.STOP, Action.BLOCK_TOOL})
"""What keeps a call from being made."""
SPARING: Final = frozenset({Action.THROTTLE, Action.DEGRADE})
"""What lets it be made later, or for less."""
SUPPORTED: Final = REFUSING | SPARING | {Action.REQUIRE_LEASE}
SPARED: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS})
"""The calls that may be made later or for less; what tools do is not ours to put off."""

Rank = tuple[int, int, int]
"""How strict: the lowest is the strictest."""

_MODES: Final = {Mode.ENFORCE: 0, Mode.WARN: 1, Mode.SHADOW: 2}
_ACTIONS: Final = {
    Action.STOP: 0,
    Action.BLOCK_TOOL: 1,
    Action.THROTTLE: 2,
    Action.DEGRADE: 3,
    Action.REQUIRE_LEASE: 4,
}


def rank(directive: Directive) -> Rank:
    """Of an order that is obeyed: by mode, then action, then priority."""
    return (_MODES[directive.mode], _ACTIONS[directive.action], -directive.priority)


def objection(directive: Directive) -> str:
    """Why an order cannot be obeyed here; empty when it can."""
    if directive.action not in SUPPORTED:
        return f"this library cannot carry out {directive.action.value}"
    if directive.wide != (directive.reach is not None):
        return "an order of a budget says which calls it reaches, and no other does"
    if directive.action is Action.DEGRADE and directive.degrading is None:
        return "it does not say what is to be given up"
    if directive.action is Action.REQUIRE_LEASE and directive.leasing is None:
        return "it does not say what is to be taken from a lease"
    return _no_pace(directive) if directive.action is Action.THROTTLE else ""


def pace_of(directive: Directive) -> tuple[float, int]:
    """Of a throttle: how many calls pass in a second, and how many at once."""
    said = dict(directive.params)
    return said.get("calls_per_second", 0.0), max(1, int(said.get("burst", 1)))


def _no_pace(directive: Directive) -> str:
    unknown = sorted({name for name, _ in directive.params} - {"calls_per_second", "burst"})
    if unknown:
        return f"this library cannot throttle by {', '.join(unknown)}"
    return "" if pace_of(directive)[0] > 0 else "it does not say how many calls a second may pass"
