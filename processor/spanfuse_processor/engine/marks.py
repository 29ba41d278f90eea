"""Hashes of what came lately, each with a flag: a dict's answers in a seventh of its memory.

Rule 1: eight bytes a mark, the oldest forgotten first. Rule 2: many are kept in buckets, so that looking for
one costs no more than among few; which mark went where costs a byte more. Rule 3: two that share 56 bits of
hash are taken for one; that is rarer than a broken disk. It does not know what is hashed, nor what the flag
means.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from struct import Struct
from typing import Final

_ENTRY: Final = Struct("8s")  # seven bytes of hash, one of flag
_SIZE: Final = _ENTRY.size
_HASH: Final = (1 << 56) - 1
_FEW: Final = 256 * _SIZE  # bytes that are looked through as they are
_BUCKETS: Final = 16


class Marks:
    """The latest `limit` things.

    >>> marks = Marks(2)
    >>> marks.meet("a", False), marks.meet("a", True), marks.meet("a", False)
    (None, False, True)
    """

    __slots__ = ("_buckets", "_kept", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = bytearray()  # marks; once there are many, only into which bucket each went
        self._buckets: tuple[bytearray, ...] | None = None

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
        for entry in other._entries():
            self._keep(entry)

    def __len__(self) -> int:
        return len(self._kept) // (_SIZE if self._buckets is None else 1)

    def _where(self, mark: bytes) -> bytearray:
        """Where a mark is, if it is anywhere."""
        return self._kept if self._buckets is None else self._buckets[mark[0] % _BUCKETS]

    def _keep(self, entry: bytes) -> None:
        """Keeps a mark and its flag, in the place of the oldest where there is no room."""
        kept = self._where(entry)
        kept += entry
        if self._buckets is None:
            if len(kept) > self._limit * _SIZE:
                del kept[:_SIZE]
            elif len(kept) > _FEW:
                self._divide()
            return
        order = self._kept
        order.append(entry[0] % _BUCKETS)
        if len(order) > self._limit:
            del self._buckets[order[0]][:_SIZE], order[0]

    def _divide(self) -> None:
        """There are many now."""
        entries = list(self._entries())
        self._kept = bytearray()
        self._buckets = tuple(bytearray() for _ in range(_BUCKETS))
        for entry in entries:
            self._keep(entry)

    def _entries(self) -> Iterator[bytes]:
        """All marks with their flags, the oldest first."""
        buckets = [_ENTRY.iter_unpack(bytes(each)) for each in self._buckets or [self._kept]]
        order = self._kept if self._buckets else bytes(len(self))
        return (next(buckets[at])[0] for at in order)


def _find(kept: bytearray, mark: bytes) -> int:
    at = kept.find(mark)
    while at % _SIZE and at >= 0:  # it lies across two others
        at = kept.find(mark, at + 1)
    return at


def _mark(thing: Hashable) -> bytes:
    return (hash(thing) & _HASH).to_bytes(_SIZE - 1, "little")
