"""The attributes of a span, read once: what was seen before is looked up, what is short is read at once.

Rule 1: equal bytes are equal attributes. Nine attributes in ten (the operation, the model, the run) say what
those of earlier spans said: each costs one look into a dict, 0.08 us instead of 0.5, and the text is shared.
Rule 2: a value of more than a hundred bytes costs nothing until it is asked for. Rule 3: what cannot be read
is absent, and so is what is empty; an attribute named twice has its last value. Rule 4: what is remembered
is bounded, by name and in all. It does not know spans, nor which attributes matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from google.protobuf.message import DecodeError

from spanfuse_processor.receiver.spans_pb2 import KeyValue
from spanfuse_processor.receiver.values import plain

SHORT: Final = 128
"""Bytes of an attribute, name and all, from which it is neither remembered nor read at once."""

PER_NAME: Final = 256
"""Values of one name that are remembered: a name with more of them is that of an id or a count."""

REMEMBERED: Final = 16_384
"""Attributes that are remembered in all; then all are forgotten, and learnt anew."""

# The wire's tags of KeyValue.key and .value, AnyValue.string_value and .int_value.
_NAME, _VALUE, _STRING, _INTEGER = 0x0A, 0x12, 0x0A, 0x18

_Entry = tuple[str, object]


class _Unread:
    """Stands in a dict for a value that is long, or that is none."""

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        self.raw = raw


class _Entries(dict[bytes, _Entry]):
    """Attributes that were seen before, by their bytes. `unread` counts the stand-ins that were given."""

    __slots__ = ("_left", "_varied", "unread")

    def __init__(self) -> None:
        super().__init__()
        self.unread = 0
        self._left: dict[str, int] = {}  # by name: how many more of its values may be remembered
        self._varied: set[str] = set()  # names without any left

    def __missing__(self, entry: bytes) -> _Entry:
        """Reads an attribute that is new."""
        size = len(entry)
        try:
            at = entry[1] + 4  # where the value begins, if both of its lengths are of one byte
            if size >= SHORT or entry[at - 1] != size - at or entry[at - 2] != _VALUE or entry[0] != _NAME:
                return self._other(entry)
            name = entry[2 : at - 2].decode()
            if entry[at] == _STRING and entry[at + 1] == size - at - 2:
                value: object = entry[at + 2 :].decode()
            elif entry[at] == _INTEGER and size == at + 3 and entry[at + 1] >= 128 > entry[at + 2]:
                value = entry[at + 1] - 128 + (entry[at + 2] << 7)  # counts of tokens: 128 to 16,383
            else:
                value = plain(entry[at:])
        except (IndexError, UnicodeDecodeError):
            return self._other(entry)
        if value is None:
            return self._other(entry)
        if name not in self._varied:
            self._remember(entry, name, value)
        return name, value

    def _remember(self, entry: bytes, name: str, value: object) -> None:
        if len(self) >= REMEMBERED or len(self._varied) >= REMEMBERED:
            self.clear()
            self._left.clear()
            self._varied.clear()
        self[entry] = name, value
        left = self._left[name] = self._left.get(name, PER_NAME) - 1
        if not left:
            self._varied.add(name)

    def _other(self, entry: bytes) -> _Entry:
        self.unread += 1
        try:
            whole = KeyValue.FromString(entry)
            return whole.key.decode(), _Unread(whole.value)
        except (DecodeError, UnicodeDecodeError):  # nobody could ask for it
            return "", _Unread(b"")


_ENTRIES: Final = _Entries()
_find: Final = _ENTRIES.__getitem__


def attributes(entries: Iterable[bytes]) -> Mapping[str, object]:
    """The attributes of one span, from their KeyValues: as a rule a plain dict."""
    unread = _ENTRIES.unread
    found = dict(map(_find, entries))
    return found if _ENTRIES.unread == unread else _lazy(found)


def _lazy(found: dict[str, object]) -> Mapping[str, object]:
    standing = {name: value.raw for name, value in found.items() if isinstance(value, _Unread)}
    for name in standing:
        del found[name]
    unread = {name: raw for name, raw in standing.items() if raw}
    return LazyAttributes(found, unread) if unread else found


class LazyAttributes(Mapping[str, object]):
    """Attributes some of which are read when they are asked for; `get` is the fast way in."""

    __slots__ = ("_read", "_unread")

    def __init__(self, read: dict[str, object], unread: dict[str, bytes]) -> None:
        self._read = read
        self._unread = unread

    def get(self, key: str, default: object = None) -> object:
        """The value under `key`, or `default` when it is absent, empty or unreadable."""
        value = self._read.get(key)
        if value is not None:
            return value
        raw = self._unread.pop(key, None)
        if raw is None or (value := plain(raw)) is None:
            return default
        self._read[key] = value
        return value

    def __getitem__(self, key: str) -> object:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._all()!r})"

    def _all(self) -> dict[str, object]:
        for key in tuple(self._unread):
            self.get(key)
        return self._read
