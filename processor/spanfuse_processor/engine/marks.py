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
        mark = _mark(thing)
        at = _find(self, mark)
        if at < 0:
            return self.absorb(mark + bytes((flag,)), limit), None
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

    __slots__ = ("_buckets", "_kept", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept = b""  # marks; once there are many, only into which bucket each went
        self._buckets: list[bytes] | None = None

    def meet(self, thing: Hashable, flag: bool) -> bool | None:
        """A thing comes. Returns the flag that it had, None when it is new; a flag once set stays."""
        mark = _mark(thing)
        kept = self._where(mark)
        at = _find(kept, mark)
        if at < 0:
            self._keep(mark + bytes((flag,)))
            return None
        known = bool(kept[at + _SIZE - 1])
        if flag and not known:
            self._put(mark, _flagged(kept, at))
        return known

    def __contains__(self, thing: Hashable) -> bool:
        mark = _mark(thing)
        return _find(self._where(mark), mark) >= 0

    def absorb(self, other: Marks) -> None:
        """Takes over what came elsewhere."""
        for entry in other._entries():
            self._keep(entry)

    def __len__(self) -> int:
        return len(self._kept) // (_SIZE if self._buckets is None else 1)

    def _where(self, mark: bytes) -> bytes:
        """Where a mark is, if it is anywhere."""
        return self._kept if self._buckets is None else self._buckets[mark[0] % _BUCKETS]

    def _put(self, mark: bytes, kept: bytes) -> None:
        """What is there from now on, where this mark is."""
        if self._buckets is None:
            self._kept = kept
        else:
            self._buckets[mark[0] % _BUCKETS] = kept

    def _keep(self, entry: bytes) -> None:
        """Keeps a mark and its flag, in the place of the oldest where there is no room."""
        if self._buckets is None:
            self._kept = (self._kept + entry)[-self._limit * _SIZE :]
            if len(self._kept) > _FEW:
                self._divide()
            return
        at = entry[0] % _BUCKETS
        self._buckets[at] += entry
        self._kept += bytes((at,))
        if len(self._kept) > self._limit:
            oldest = self._kept[0]
            self._buckets[oldest] = self._buckets[oldest][_SIZE:]
            self._kept = self._kept[1:]

    def _divide(self) -> None:
        """There are many now."""
        entries = list(self._entries())
        self._kept = b""
        self._buckets = [b""] * _BUCKETS
        for entry in entries:
            self._keep(entry)

    def _entries(self) -> Iterator[bytes]:
        """All marks with their flags, the oldest first."""
        buckets = [_ENTRY.iter_unpack(each) for each in self._buckets or [self._kept]]
        order = self._kept if self._buckets else bytes(len(self))
        return (next(buckets[at])[0] for at in order)


def _flagged(kept: bytes, at: int) -> bytes:
    """The same with a flag at one of them."""
    end = at + _SIZE
    return kept[: end - 1] + b"\1" + kept[end:]


def _find(kept: bytes, mark: bytes) -> int:
    at = kept.find(mark)
    while at % _SIZE and at >= 0:  # it lies across two others
        at = kept.find(mark, at + 1)
    return at


def _mark(thing: Hashable) -> bytes:
    return (hash(thing) & _HASH).to_bytes(_SIZE - 1, "little")
