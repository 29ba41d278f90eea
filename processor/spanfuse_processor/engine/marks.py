"""Hashes of what came lately, each with a flag: a dict's answers in a seventh of its memory.

Rule 1: eight bytes a mark, the oldest forgotten first. Rule 2: many are kept in buckets, so that looking for
one costs no more than among few; which mark went where costs a byte more. Rule 3: two that share 56 bits of
hash are taken for one; that is rarer than a broken disk. It does not know what is hashed, nor what the flags
mean.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from struct import Struct
from typing import Final

_ENTRY: Final = Struct("8s")  # seven bytes of hash, one of flags
_SIZE: Final = _ENTRY.size
_MARK: Final = _SIZE - 1  # bytes of hash
_HASH: Final = (1 << 56) - 1
_FLAGS: Final = tuple(bytes((flags,)) for flags in range(256))
_FEW: Final = 128 * _SIZE  # bytes that are looked through as they are
_WEIGHTS: Final = tuple(flags.bit_count() or 1 for flags in range(256))
_BUCKETS: Final = 16
_NOTHING: Final = bytearray()  # of whoever has no buckets: nobody adds to it


def meet(
    few: bytes | bytearray, thing: Hashable, flag: bool, limit: int
) -> tuple[bytes | bytearray, bool | None]:
    """A thing comes, of which the latest `limit` are kept in plain bytes; in place once there are so many.

    That is for what every run has some of, where an object around them would double it. Returns all, and the
    flag that it had, None when it is new; a flag once set stays.

    >>> few, known = meet(b"", "a", False, 2)
    >>> few, again = meet(few, "a", True, 2)
    >>> known, again, meet(few, "a", False, 2)[1]
    (None, False, True)
    """
    mark = (hash(thing) & _HASH).to_bytes(_MARK, "little")
    at = _find(few, mark)
    if at < 0:
        mark += _FLAGS[flag]
        if len(few) < limit * _SIZE:
            return few + mark, None
        if isinstance(few, bytes):
            few = bytearray(few)
        del few[:_SIZE]
        few += mark
        return few, None
    known = bool(few[at + _MARK])
    return (few if known or not flag else _flagged(few, at, flag)), known


def join(few: bytes | bytearray, other: bytes | bytearray, limit: int) -> bytes | bytearray:
    """The latest `limit` of a few, and of those that came elsewhere."""
    return (few + other)[-limit * _SIZE :]


class Marks:
    """The latest `limit` things; one with several flags counts as so many, each forgotten in its turn.

    >>> marks = Marks(2)
    >>> marks.meet("a"), marks.meet("a", 1), marks.meet("a")
    (None, 0, 1)
    """

    __slots__ = ("_buckets", "_few", "_limit", "_order", "_weight")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._few = b""
        self._buckets: tuple[bytearray, ...] | None = None  # in place of those few, once there are many
        self._order = _NOTHING  # into which bucket each mark went
        self._weight = 0  # how many there are, as they count

    def meet(self, thing: Hashable, flags: int = 0) -> int | None:
        """A thing comes. Returns the flags that it had, None when it is new; a flag once set stays."""
        mark = (hash(thing) & _HASH).to_bytes(_MARK, "little")
        buckets = self._buckets
        kept = self._few if buckets is None else buckets[mark[0] % _BUCKETS]
        known = _flags(kept, mark) if kept.rfind(mark) >= 0 else None  # nearly never
        more = flags if known is None else flags & ~known
        if known is None or more:
            self._keep(mark + _FLAGS[more])
        return known

    def flags(self, thing: Hashable) -> int | None:
        """The flags of a thing, None when it did not come."""
        mark = (hash(thing) & _HASH).to_bytes(_MARK, "little")
        buckets = self._buckets
        kept = self._few if buckets is None else buckets[mark[0] % _BUCKETS]
        return None if kept.rfind(mark) < 0 else _flags(kept, mark)

    def __contains__(self, thing: Hashable) -> bool:
        return self.flags(thing) is not None

    def absorb(self, other: Marks) -> None:
        """Takes over what came elsewhere."""
        for entry in other._entries():
            self._keep(entry)

    def __len__(self) -> int:
        return len(self._few) // _SIZE + len(self._order)

    def _keep(self, entry: bytes) -> None:
        """Keeps a mark and its flags, in the place of the oldest where there is no room."""
        buckets, order = self._buckets, self._order
        if buckets is None:
            few = self._few = (self._few + entry)[-self._limit * _SIZE :]
            if len(few) > _FEW:
                self._divide()
            return
        at = entry[0] % _BUCKETS
        buckets[at].extend(entry)
        order.append(at)
        weight = self._weight + _WEIGHTS[entry[_MARK]]
        while weight > self._limit:
            oldest = buckets[order[0]]
            weight -= _WEIGHTS[oldest[_MARK]]
            del oldest[:_SIZE], order[0]
        self._weight = weight

    def _divide(self) -> None:
        """There are many now."""
        few, self._few, self._order = self._few, b"", bytearray()
        self._buckets = tuple(bytearray() for _ in range(_BUCKETS))
        for (entry,) in _ENTRY.iter_unpack(few):
            self._keep(entry)

    def _entries(self) -> Iterator[bytes]:
        """All marks with their flags, the oldest first."""
        if self._buckets is None:
            return (entry for (entry,) in _ENTRY.iter_unpack(self._few))
        buckets = [_ENTRY.iter_unpack(bytes(each)) for each in self._buckets]
        return (next(buckets[at])[0] for at in self._order)


def _flagged(kept: bytes | bytearray, at: int, flags: int) -> bytes | bytearray:
    """The same with other flags at one of them."""
    end = at + _SIZE
    return kept[: end - 1] + _FLAGS[flags] + kept[end:]


def _find(kept: bytes | bytearray, mark: bytes) -> int:
    if kept.rfind(mark) < 0:  # nearly always, and found out in half the time that `find` takes
        return -1
    at = kept.find(mark)
    while at % _SIZE and at >= 0:  # it lies across two others
        at = kept.find(mark, at + 1)
    return at


def _flags(kept: bytes | bytearray, mark: bytes) -> int | None:
    """The flags of a mark, wherever they came; None when it is not there."""
    at, flags = kept.find(mark), None
    while at >= 0:
        if at % _SIZE == 0:  # else it lies across two others
            flags = (flags or 0) | kept[at + _MARK]
        at = kept.find(mark, at + 1)
    return flags
