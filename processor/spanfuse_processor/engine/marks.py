"""Hashes of what came lately, each with a flag: a dict's answers in a seventh of its memory.

Rule 1: eight bytes a mark, the oldest forgotten first. Rule 2: many are kept in buckets, so that looking for
one costs no more than among few; the oldest is then that of a bucket, and how many are kept is about so many.
Rule 3: two that share 56 bits of hash are taken for one; that is rarer than a broken disk. It does not know
what is hashed, nor what the flag means.
"""

from __future__ import annotations

from collections.abc import Hashable
from struct import Struct
from typing import Final

_ENTRY: Final = Struct("8s")  # seven bytes of hash, one of flag
_SIZE: Final = _ENTRY.size
_HASH: Final = (1 << 56) - 1
_FEW: Final = 256 * _SIZE  # bytes that are looked through as they are
_BUCKET: Final = 128 * _SIZE


class Marks:
    """The latest `limit` things.

    >>> marks = Marks(2)
    >>> marks.meet("a", False), marks.meet("a", True), marks.meet("a", False)
    (None, False, True)
    """

    __slots__ = ("_buckets", "_kept", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit * _SIZE
        self._kept = bytearray()
        self._buckets: list[bytearray] | None = None  # in its place, once there are many

    def meet(self, thing: Hashable, flag: bool) -> bool | None:
        """A thing comes. Returns the flag that it had, None when it is new; a flag once set stays."""
        mark = _mark(thing)
        kept = self._where(mark)
        at = _find(kept, mark)
        if at >= 0:
            known = bool(kept[at + _SIZE - 1])
            kept[at + _SIZE - 1] |= flag
            return known
        self._keep(mark + bytes((flag,)))
        return None

    def __contains__(self, thing: Hashable) -> bool:
        mark = _mark(thing)
        return _find(self._where(mark), mark) >= 0

    def absorb(self, other: Marks) -> None:
        """Takes over what came elsewhere."""
        for bucket in other._buckets or [other._kept]:
            for (entry,) in _ENTRY.iter_unpack(bytes(bucket)):
                self._keep(entry)

    def __len__(self) -> int:
        return sum(map(len, self._buckets or [self._kept])) // _SIZE

    def _where(self, mark: bytes) -> bytearray:
        """Where a mark is, if it is anywhere."""
        buckets = self._buckets
        return self._kept if buckets is None else buckets[mark[0] % len(buckets)]

    def _keep(self, entry: bytes) -> None:
        """Keeps a mark and its flag, in the place of the oldest where there is no room."""
        kept = self._where(entry)
        kept += entry
        most = self._limit if self._buckets is None else _BUCKET
        if len(kept) > most:
            del kept[:_SIZE]
        elif len(kept) > _FEW:
            self._divide()

    def _divide(self) -> None:
        """There are many now."""
        kept, self._kept = bytes(self._kept), bytearray()
        self._buckets = [bytearray() for _ in range(self._limit // _BUCKET)]
        for (entry,) in _ENTRY.iter_unpack(kept):
            self._where(entry).extend(entry)


def _find(kept: bytearray, mark: bytes) -> int:
    at = kept.find(mark)
    while at % _SIZE and at >= 0:  # it lies across two others
        at = kept.find(mark, at + 1)
    return at


def _mark(thing: Hashable) -> bytes:
    return (hash(thing) & _HASH).to_bytes(_SIZE - 1, "little")
