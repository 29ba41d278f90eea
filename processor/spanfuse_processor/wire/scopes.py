"""Whose circuit a message is about: a breaker key on the wire, and what a subscriber asked to hear of.

Rule 1: a scope names exactly one thing. One that names none, several, or something that this version does
not know is no key: a narrower order is never obeyed as a wider one. Rule 2: interests narrow level by
level and never hide what could apply: who names features still hears of every stopped run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.plain import text

FIELDS: Final = {
    Level.RUN: "run_id",
    Level.AGENT: "agent_name",
    Level.USER: "user_id",
    Level.FEATURE: "feature",
    Level.NAMESPACE: "namespace",
    Level.TENANT: "tenant",
    Level.TOOL: "tool_name",
    Level.MODEL: "model",
    Level.BUDGET: "budget",
    Level.EVERYTHING: "everything",
}
MAX_INTERESTS: Final = 1000
_LEVELS: Final = {name: level for level, name in FIELDS.items()}

Interests = frozenset[BreakerKey]
"""What a subscriber named; empty: everything that it may see."""


def encode(key: BreakerKey) -> pb.Scope:
    """The scope that says `key`."""
    if key.level is Level.EVERYTHING:
        return pb.Scope(everything=True)
    scope = pb.Scope()
    setattr(scope, FIELDS[key.level], text(key.id))
    return scope


def decode(scope: pb.Scope) -> BreakerKey | None:
    """The key that `scope` says, or None when it says none, several, or one unknown here."""
    named = scope.ListFields()
    level = _LEVELS.get(named[0][0].name) if len(named) == 1 else None
    if level is None:
        return None
    key = BreakerKey(level, "" if level is Level.EVERYTHING else named[0][1])
    # Fields of a later version are not listed, but they count in the size.
    return key if scope.ByteSize() == encode(key).ByteSize() else None


def interests(scopes: Iterable[pb.Scope]) -> Interests:
    """What a subscriber named, field by field; fields that are no level of ours narrow nothing.

    Who names more than MAX_INTERESTS asks for so much that it may as well hear everything.
    """
    named = frozenset(
        BreakerKey(_LEVELS[field.name], str(value))
        for scope in scopes
        for field, value in scope.ListFields()
        if field.name in _LEVELS
    )
    return named if len(named) <= MAX_INTERESTS else frozenset()


def concerns(asked: Interests, key: BreakerKey) -> bool:
    """Whether a directive under `key` may apply to who asked for `asked`.

    >>> asked = frozenset({BreakerKey(Level.FEATURE, "chat")})
    >>> concerns(asked, BreakerKey(Level.FEATURE, "search")), concerns(asked, BreakerKey(Level.RUN, "r"))
    (False, True)
    """
    if not asked or key in asked:
        return True
    return all(each.level is not key.level for each in asked)
