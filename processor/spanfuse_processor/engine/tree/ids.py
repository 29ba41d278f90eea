"""Which node a span is: a dictionary's answers in a fifth of its memory.

Rule 1: sixteen bytes a span, packed into buckets; eight while there are few whose keys all end in zeros, as
those of one trace do. Rule 2: it grows by one bucket at a time, so that no call pays for all that came before
it. Rule 3: keys of any other length than `KEY` are kept as well, at a dictionary's price. It does not know
what a key is made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final

KEY: Final = 12
"""Bytes of a key."""

_ENTRY: Final = Struct("16s")  # a key, and its number
_SIZE: Final = _ENTRY.size
_FULL: Final = 24  # entries a bucket, on the average, before there is a further one

_HEAD: Final = 8
_ZEROS: Final = bytes(KEY - _HEAD)
_FEW: Final = 96  # heads that are looked through as they are


class Ids:
    """Numbers keys from 0 on, in the order in which they come.

    >>> ids = Ids(2)
    >>> [ids.admit(key) for key in (b"first of all", b"and a second", b"first of all", b"one too many")]
    [0, 1, 0, -1]
    >>> ids.number(b"and a second"), ids.number(b"nobody knows")
    (1, None)
    >>> list(ids.keys())
    [b'first of all', b'and a second']

    Attributes:
        limit: how many are numbered.
        count: how many are.
    """

    __slots__ = ("_buckets", "_heads", "_odd", "count", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.count = 0
        self._heads = b""  # of keys that end in zeros, in order: their place is their number
        self._buckets: list[bytes] | None = None  # in place of these, when there are many, or others
        self._odd: dict[bytes, int] | None = None  # keys of another length

    def number(self, key: bytes) -> int | None:
        """The number of a key, None when it has none."""
        buckets = self._buckets
        if buckets is None:
            at = _find(self._heads, key[:_HEAD], _HEAD) if key[_HEAD:] == _ZEROS else -1
            return None if at < 0 else at // _HEAD
        if len(key) != KEY:
            return self._odd.get(key) if self._odd is not None else None
        bucket = buckets[_place(key, len(buckets))]
        at = _find(bucket, key, _SIZE)
        return None if at < 0 else int.from_bytes(bucket[at + KEY : at + _SIZE], "little")

    def admit(self, key: bytes) -> int:
        """The number of a key: a new one if it has none, -1 if there is no room."""
        buckets = self._buckets
        if buckets is None:
            known = self._admit_head(key[:_HEAD]) if key[_HEAD:] == _ZEROS else None
            if known is not None:
                return known
            buckets = self._spread()
        if len(key) != KEY:
            return self._admit_odd(key)
        place, number = _place(key, len(buckets)), self.count
        bucket = buckets[place]
        at = bucket.rfind(key)
        if at > 0 and at % _SIZE:
            at = _find(bucket, key, _SIZE)
        if at >= 0:
            return int.from_bytes(bucket[at + KEY : at + _SIZE], "little")
        if number >= self.limit:
            return -1
        buckets[place] = bucket + key + number.to_bytes(_SIZE - KEY, "little")
        self.count = number + 1
        if number >= _FULL * len(buckets):
            self._split(buckets)
        return number

    def _admit_head(self, head: bytes) -> int | None:
        """The same of a key that ends in zeros, None when more have come than are kept so."""
        heads, number = self._heads, self.count
        at = heads.rfind(head)
        if at > 0 and at % _HEAD:
            at = _find(heads, head, _HEAD)
        if at >= 0:
            return at // _HEAD
        if number >= self.limit:
            return -1
        if number >= _FEW:
            return None
        self._heads = heads + head
        self.count = number + 1
        return number

    def _admit_odd(self, key: bytes) -> int:
        odd = self._odd = self._odd or {}
        number = odd.get(key, -1)
        if number < 0 and self.count < self.limit:
            number = odd[key] = self.count
            self.count += 1
        return number

    def _spread(self) -> list[bytes]:
        """Buckets from now on: there are many, or one comes that is unlike them."""
        entries = [key + number.to_bytes(_SIZE - KEY, "little") for number, key in enumerate(self.keys())]
        buckets = self._buckets = [b"".join(entries)]
        self._heads = b""
        while len(entries) > _FULL * len(buckets):
            self._split(buckets)
        return buckets

    def _split(self, buckets: list[bytes]) -> None:
        """One more bucket: what belongs there leaves the one where it had to be until now."""
        count = len(buckets)
        mask = (1 << count.bit_length()) - 1
        source = count & mask >> 1
        stay: list[bytes] = []
        go: list[bytes] = []
        for (entry,) in _ENTRY.iter_unpack(buckets[source]):
            (go if hash(entry[:KEY]) & mask == count else stay).append(entry)
        buckets[source] = b"".join(stay)
        buckets.append(b"".join(go))

    def keys(self) -> Iterator[bytes]:
        """All of them, in the order of their numbers."""
        if self._buckets is None:
            return (self._heads[at : at + _HEAD] + _ZEROS for at in range(0, len(self._heads), _HEAD))
        entries = (entry for bucket in self._buckets for (entry,) in _ENTRY.iter_unpack(bucket))
        known = [(int.from_bytes(entry[KEY:], "little"), entry[:KEY]) for entry in entries]
        known += [(number, key) for key, number in (self._odd or {}).items()]
        return (key for _, key in sorted(known))


def _place(key: bytes, count: int) -> int:
    """In which of so many buckets a key belongs; with one more, only one of them has to give some away."""
    mask = (1 << (count - 1).bit_length()) - 1
    at = hash(key) & mask
    return at if at < count else at & mask >> 1


def _find(kept: bytes, sought: bytes, size: int) -> int:
    """Where an entry that begins so is, -1 when there is none."""
    at = kept.rfind(sought)  # that there is none takes half the time that `find` takes
    while at > 0 and at % size:  # other bytes happen to read like it
        at = kept.rfind(sought, 0, at + len(sought) - 1)
    return at
