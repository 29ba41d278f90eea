"""Reading what the SDK hands out: a model, or the dict it was parsed from.

Rule 1: what is not there is None, never an error. Rule 2: a model's own dict is looked into: a model dumps
itself slowly, and answers for an absent field slower still. It does not know which fields exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

Fields = Mapping[str, Any]

NONE: Final[Fields] = {}


def fields(value: object) -> Fields:
    """The fields of a model or a dict; none for anything else. Not to be changed."""
    if value.__class__ is dict:
        return value
    known: Fields = getattr(value, "__dict__", NONE)
    unknown = getattr(
        value, "__pydantic_extra__", None
    )  # fields that this version of the SDK does not declare
    return {**known, **unknown} if unknown else known


def listed(value: object) -> Sequence[Any]:
    """A list as it is; nothing for anything else: an iterator stays unread."""
    return value if isinstance(value, (list, tuple)) else ()
