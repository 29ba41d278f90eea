"""Reading one field of what the SDK hands out: a model, or the dict it was parsed from.

Rule 1: what is not there is None, never an error. Rule 2: a value of the wrong type is as good as none.
It does not know which fields exist.
"""

from __future__ import annotations

from collections.abc import Sequence


def field(value: object, name: str) -> object:
    """The field `name` of a model or a dict; None when it is not there."""
    if isinstance(value, dict):
        return value.get(name)
    return getattr(value, name, None)


def text(value: object, name: str) -> str:
    """The field as text; empty when it is absent or no text."""
    found = field(value, name)
    return found if isinstance(found, str) else ""


def count(value: object, name: str) -> int:
    """The field as a number of tokens; 0 when it is absent."""
    found = field(value, name)
    return found if isinstance(found, int) else 0


def items(value: object, name: str) -> Sequence[object]:
    """The field as a list; empty when it is absent or no list (an iterator stays unread)."""
    found = field(value, name)
    return found if isinstance(found, (list, tuple)) else ()
