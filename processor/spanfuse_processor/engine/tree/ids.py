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

    >>> ids = Ids()
    >>> ids.admit(b"first of all"), ids.admit(b"and a second")
    (0, 1)
    >>> ids.number(b"first of all"), ids.number(b"nobody knows")
    (0, None)
    >>> list(ids.keys())
    [b'first of all', b'and a second']

    Attributes:
        count: how many came.
    """

    __slots__ = ("_buckets", "_heads", "_odd", "count")

    def __init__(self) -> None:
        self.count = 0
        self._heads = b""  # of keys that end in zeros, in order: their place is their number
        self._buckets: list[bytes] | None = None  # in place of these, when there are many, or others
        self._odd: dict[bytes, int] | None = None  # keys of another length

    def number(self, key: bytes) -> int | None:
        """The number of a key, None when it never came."""
        buckets = self._buckets
        if buckets is None:
            if key[_HEAD:] != _ZEROS:
                return None
            kept, sought, size = self._heads, key[:_HEAD], _HEAD
        elif len(key) == KEY:
            kept, sought, size = buckets[_place(key, len(buckets))], key, _SIZE
        else:
            return self._odd.get(key) if self._odd is not None else None
        at = kept.rfind(sought)  # that nothing is there takes half the time that `find` takes
        while at % size and at > 0:  # other bytes happen to read like it
            at = kept.rfind(sought, 0, at + len(sought) - 1)
        if at < 0:
            return None
        return at // _HEAD if buckets is None else int.from_bytes(kept[at + KEY : at + _SIZE], "little")

    def admit(self, key: bytes) -> int:
        """Numbers a key that is new."""
        number, buckets = self.count, self._buckets
        self.count = number + 1
        if buckets is None:
            if number < _FEW and key[_HEAD:] == _ZEROS:
                self._heads += key[:_HEAD]
                return number
            buckets = self._spread()
        if len(key) != KEY:
            self._odd = self._odd or {}
            self._odd[key] = number
            return number
        buckets[_place(key, len(buckets))] += key + number.to_bytes(_SIZE - KEY, "little")
        if number >= _FULL * len(buckets):
            self._split(buckets)
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
