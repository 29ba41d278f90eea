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
_MARK: Final = _SIZE - 1  # bytes of hash
_HASH: Final = (1 << 56) - 1
_FLAGS: Final = (b"\0", b"\1")
_FEW: Final = 256 * _SIZE  # bytes that are looked through as they are
_BUCKETS: Final = 16


class Few(bytes):
    """The latest few things, as a value: for what every run has some of, and an object around would double.

    >>> few, known = Few().meet("a", False, 2)
    >>> few, again = few.meet("a", True, 2)
    >>> known, again, few.meet("a", False, 2)[1]
    (None, False, True)
    """

    __slots__ = ()

    def meet(self, thing: Hashable, flag: bool, limit: int) -> tuple[Few, bool | None]:
        """A thing comes, of which the latest `limit` are kept.

        Returns all, and the flag that it had, None when it is new; a flag once set stays.
        """
        mark = (hash(thing) & _HASH).to_bytes(_MARK, "little")
        at = _find(self, mark)
        if at < 0:
            return self.absorb(mark + _FLAGS[flag], limit), None
        known = bool(self[at + _SIZE - 1])
        return (self if known or not flag else Few(_flagged(self, at))), known

    def absorb(self, other: bytes, limit: int) -> Few:
        """All, and what came elsewhere."""
        return Few((self + other)[-limit * _SIZE :])


class Marks:
    """The latest `limit` things.

    >>> marks = Marks(2)
    >>> marks.meet("a", False), marks.meet("a", True), marks.meet("a", False)
    (None, False, True)
    """

    __slots__ = ("_buckets", "_few", "_limit", "_order")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._few = Few()
        self._buckets: tuple[bytearray, ...] | None = None  # in place of those few, once there are many
        self._order: bytearray | None = None  # into which bucket each mark went

    def meet(self, thing: Hashable, flag: bool) -> bool | None:
        """A thing comes. Returns the flag that it had, None when it is new; a flag once set stays."""
        if self._buckets is None:
            self._few, known = self._few.meet(thing, flag, self._limit)
            if len(self._few) > _FEW:
                self._divide()
            return known
        mark = (hash(thing) & _HASH).to_bytes(_MARK, "little")
        bucket = self._buckets[mark[0] % _BUCKETS]
        at = _find(bucket, mark)
        if at < 0:
            self._keep(mark + _FLAGS[flag])
            return None
        known = bool(bucket[at + _SIZE - 1])
        bucket[at + _SIZE - 1] |= flag
        return known

    def __contains__(self, thing: Hashable) -> bool:
        mark = (hash(thing) & _HASH).to_bytes(_MARK, "little")
        kept = self._few if self._buckets is None else self._buckets[mark[0] % _BUCKETS]
        return _find(kept, mark) >= 0

    def absorb(self, other: Marks) -> None:
        """Takes over what came elsewhere."""
        for entry in other._entries():
            self._keep(entry)

    def __len__(self) -> int:
        return len(self._few) // _SIZE if self._order is None else len(self._order)

    def _keep(self, entry: bytes) -> None:
        """Keeps a mark and its flag, in the place of the oldest where there is no room."""
        buckets, order = self._buckets, self._order
        if buckets is None or order is None:
            self._few = self._few.absorb(entry, self._limit)
            if len(self._few) > _FEW:
                self._divide()
            return
        at = entry[0] % _BUCKETS
        buckets[at].extend(entry)
        order.append(at)
        if len(order) > self._limit:
            del buckets[order[0]][:_SIZE], order[0]

    def _divide(self) -> None:
        """There are many now."""
        few, self._few = self._few, Few()
        self._order, self._buckets = bytearray(), tuple(bytearray() for _ in range(_BUCKETS))
        for (entry,) in _ENTRY.iter_unpack(few):
            self._keep(entry)

    def _entries(self) -> Iterator[bytes]:
        """All marks with their flags, the oldest first."""
        if self._buckets is None or self._order is None:
            return (entry for (entry,) in _ENTRY.iter_unpack(self._few))
        buckets = [_ENTRY.iter_unpack(bytes(each)) for each in self._buckets]
        return (next(buckets[at])[0] for at in self._order)


def _flagged(kept: bytes, at: int) -> bytes:
    """The same with a flag at one of them."""
    end = at + _SIZE
    return kept[: end - 1] + b"\1" + kept[end:]


def _find(kept: bytes | bytearray, mark: bytes) -> int:
    if kept.rfind(mark) < 0:  # nearly always, and found out in half the time that `find` takes
        return -1
    at = kept.find(mark)
    while at % _SIZE and at >= 0:  # it lies across two others
        at = kept.find(mark, at + 1)
    return at
