"""Long work on threads behind, done in pieces, so that who decides never waits long for the interpreter.

Rule 1: a thread that only computes keeps Python from all others, for 5 ms at a time; one that rests between
small pieces does not. Rule 2: the last piece is followed by no rest. It does not know what the work is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

PIECE: Final = 25
"""Rows that are worked on without a rest: half a millisecond to one and a half, by the store."""

REST: Final = 0.0003
"""Seconds."""


def pieces(rows: Sequence[T], size: int = PIECE) -> Iterator[Sequence[T]]:
    """`rows`, in pieces; whoever takes the next one rests first.

    >>> list(pieces("abcde", 2))
    ['ab', 'cd', 'e']
    """
    for start in range(0, len(rows), size):
        if start:
            time.sleep(REST)
        yield rows[start : start + size]
