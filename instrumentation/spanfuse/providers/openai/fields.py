"""Reading what the SDK hands out: a model, or the dict it was parsed from.

Rule 1: what is not there is None, never an error; a value of the wrong type is as good as none. Rule 2: a
model's own dict is looked into: a model dumps itself slowly, and answers for an absent field slower still.
It does not know which fields exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

Fields = Mapping[str, object]

NONE: Final[Fields] = {}


def fields(value: object) -> Fields:
    """The fields of a model or a dict; none for anything else. Not to be changed."""
    if isinstance(value, dict):
        return value
    known: Fields = getattr(value, "__dict__", NONE)
    unknown = getattr(
        value, "__pydantic_extra__", None
    )  # fields that this version of the SDK does not declare
    return {**known, **unknown} if unknown else known


def text(known: Fields, name: str) -> str:
    """The field as text; empty when it is absent or no text."""
    found = known.get(name)
    return found if isinstance(found, str) else ""


def count(known: Fields, name: str) -> int:
    """The field as a number of tokens; 0 when it is absent."""
    found = known.get(name)
    return found if isinstance(found, int) else 0


def items(known: Fields, name: str) -> Sequence[object]:
    """The field as a list; empty when it is absent or no list (an iterator stays unread)."""
    found = known.get(name)
    return found if isinstance(found, (list, tuple)) else ()
