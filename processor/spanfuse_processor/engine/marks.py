"""Hashes of what came lately, each with a flag: a dict's answers in a seventh of its memory.

Rule 1: eight bytes a mark in one array of bytes, the oldest forgotten first. Rule 2: two of the last hundred
that share 56 bits of hash are taken for one; that is rarer than a broken disk. It does not know what is
hashed, nor what the flag means.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

_SIZE: Final = 8  # seven bytes of hash, one of flag
_HASH: Final = (1 << 56) - 1


class Marks:
    """The latest `limit` things.

    >>> marks = Marks(2)
    >>> marks.meet("a", False), marks.meet("a", True), marks.meet("a", False)
    (None, False, True)
    """

    __slots__ = ("_kept", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit * _SIZE
        self._kept = bytearray()

    def meet(self, thing: Hashable, flag: bool) -> bool | None:
        """A thing comes. Returns the flag that it had, None when it is new; a flag once set stays."""
        kept, mark = self._kept, _mark(thing)
        at = self._find(mark)
        if at >= 0:
            known = bool(kept[at + _SIZE - 1])
            kept[at + _SIZE - 1] |= flag
            return known
        kept += mark
        kept.append(flag)
        if len(kept) > self._limit:
            del kept[:_SIZE]
        return None

    def __contains__(self, thing: Hashable) -> bool:
        return self._find(_mark(thing)) >= 0

    def _find(self, mark: bytes) -> int:
        kept = self._kept
        at = kept.find(mark)
        while at % _SIZE and at >= 0:  # it lies across two others
            at = kept.find(mark, at + 1)
        return at

    def absorb(self, other: Marks) -> None:
        """Takes over what came elsewhere."""
        self._kept = (self._kept + other._kept)[-self._limit :]

    def __len__(self) -> int:
        return len(self._kept) // _SIZE


def _mark(thing: Hashable) -> bytes:
    return (hash(thing) & _HASH).to_bytes(_SIZE - 1, "little")
