"""Attribute values as real emitters send them, read without ever failing.

Rule 1: what cannot be read is None or empty, never zero and never an error. Rule 2: a bool is no number, a
negative or endless number is no count. This file does not know which attribute a value came from.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from spanfuse_processor.engine.nouns import MicroUsd

MOST: Final = 2**53
"""The largest count."""
DEAREST: Final = 1_000_000.0
"""Dollars: what is said to cost more is no cost, and would not fit where costs are summed."""
_CUT: Final = frozenset({"length", "max_tokens", "max_output_tokens"})
_ASKING: Final = frozenset({"tool_calls", "tool_call", "tool_use", "function_call"})
_LISTS: Final = (list, tuple)
_TRUE: Final = frozenset({"true", "yes", "1"})


def text(value: object) -> str:
    """A text, from bytes and numbers too; anything else is empty.

    >>> text("gpt-4o"), text(b"gpt-4o"), text(7), text(None), text(["gpt-4o"])
    ('gpt-4o', 'gpt-4o', '7', '', '')
    """
    if value.__class__ is str or value is None:  # nearly always
        return value or ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def number(value: object) -> float | None:
    """A finite number that is not negative, from text too.

    >>> number("12.5"), number(-1), number(float("nan")), number(True)
    (12.5, None, None, None)
    """
    if isinstance(value, str | bytes):
        try:
            value = float(value[:64])
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value <= MOST else None  # false for NaN too


def count(value: object) -> int | None:
    """A whole number of things: tokens, agents.

    >>> count(12), count("12"), count(12.0), count(None)
    (12, 12, 12, None)
    """
    if value is None or value.__class__ is int and 0 <= value <= MOST:
        return value
    known = number(value)
    return None if known is None else int(known)


def truth(value: object) -> bool:
    """Whether a value says yes.

    >>> truth(True), truth("True"), truth("False"), truth(None)
    (True, True, False, False)
    """
    if value is None or value is True or value is False:
        return bool(value)
    return value.strip().lower() in _TRUE if isinstance(value, str) else value == 1


def micro_usd(dollars: object) -> MicroUsd | None:
    """An amount of dollars in micro-dollars; None: none that one call can cost.

    >>> micro_usd(0.0025), micro_usd("free"), micro_usd(1e13)
    (2500, None, None)
    """
    known = number(dollars)
    return None if known is None or known > DEAREST else round(known * 1_000_000)


def presumed(dollars: object) -> MicroUsd | None:
    """What a call was charged though nobody knows what it came to; None where that is not so.

    >>> presumed(0.0025), presumed(-1.0), presumed(None)
    (2500, None, None)
    """
    known = None if dollars is None else micro_usd(dollars)
    return None if known is None or known < 0 else known


def was_cut(reasons: object) -> bool:
    """Whether an answer ended because it had as many tokens as it may, by its finish reasons.

    >>> was_cut(["length"]), was_cut('["max_tokens"]'), was_cut(["stop"]), was_cut(None)
    (True, True, False, False)
    """
    return _is_among(reasons, _CUT)


def asks_for_tools(reasons: object) -> bool:
    """Whether an answer ended to have tools called, by its finish reasons.

    >>> asks_for_tools(["tool_calls"]), asks_for_tools("tool_use"), asks_for_tools(["stop"])
    (True, True, False)
    """
    return _is_among(reasons, _ASKING)


def _is_among(reasons: object, known: frozenset[str]) -> bool:
    if isinstance(reasons, str):
        return _plainly(reasons) in known
    if isinstance(reasons, _LISTS):
        for each in reasons:
            if isinstance(each, str) and _plainly(each) in known:
                return True
    return False


@lru_cache(maxsize=256)
def _plainly(reason: str) -> str:
    return reason.strip("[]\"' ").lower()
