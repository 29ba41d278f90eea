"""Attributes of a span as a mapping that decodes a value when it is asked for.

Rule 1: a value that nobody reads costs nothing. Rule 2: a value that cannot be read is absent, and so is
an empty one; text that is not UTF-8 gets U+FFFD in place of the broken bytes. Rule 3: nesting is bounded.
A mapping keeps the memory of its whole batch: keep what was read from it, never the mapping.
This file does not know spans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from google.protobuf.message import DecodeError

from spanfuse_processor.receiver.decoded import MAX_DEPTH
from spanfuse_processor.receiver.spans_pb2 import AnyValue, ArrayValue, KeyValueList

STRING: Final = 0x0A  # the wire's tag of AnyValue.string_value
INTEGER: Final = 0x18  # ... and of AnyValue.int_value


class Attributes(Mapping[str, object]):
    """Read-only view of the attributes of one span or resource; `get` is the fast way in."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, bytes]) -> None:
        self._values = values

    def get(self, key: str, default: object = None) -> object:
        """The value under `key`, or `default` when it is absent, empty or unreadable."""
        raw = self._values.get(key)
        if not raw:
            return default
        # Nine values in ten are a short text or a small number, and are read here without a parser.
        size = len(raw)
        tag = raw[0]
        if tag == STRING and 1 < size < 130 and raw[1] == size - 2:
            return raw[2:].decode("utf-8", "replace")
        if tag == INTEGER and size == 2 and raw[1] < 128:
            return raw[1]
        if tag == INTEGER and size == 3 and raw[1] >= 128 > raw[2]:
            return raw[1] - 128 + (raw[2] << 7)
        value = plain(raw)
        return default if value is None else value

    def __getitem__(self, key: str) -> object:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(read_all(self._values))

    def __len__(self) -> int:
        return len(read_all(self._values))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"


def read_all(values: Mapping[str, bytes], depth: int = 0) -> dict[str, object]:
    """Every readable value at once, as a plain dict."""
    # A key that is not UTF-8 comes as bytes, and nobody could ask for it.
    named = ((key, values[key]) for key in values if isinstance(key, str))
    found = ((key, plain(raw, depth)) for key, raw in named if raw)
    return {key: value for key, value in found if value is not None}


def plain(raw: bytes, depth: int = 0) -> object:
    """An AnyValue as str, bool, int, float, list, dict or bytes; None when it is empty or unreadable."""
    try:
        value = AnyValue.FromString(raw)
        kind = value.WhichOneof("value")
        if kind is None:
            return None
        reader = _READERS.get(kind)
        inner = getattr(value, kind)
        return inner if reader is None else reader(inner, depth)
    except DecodeError:
        return None


def text(raw: bytes) -> str:
    """Text from bytes that should be UTF-8."""
    return raw.decode("utf-8", "replace")


def _list(raw: bytes, depth: int) -> object:
    if depth >= MAX_DEPTH:
        return None
    return [plain(each, depth + 1) if each else None for each in ArrayValue.FromString(raw).values]


def _map(raw: bytes, depth: int) -> object:
    if depth >= MAX_DEPTH:
        return None
    return read_all(KeyValueList.FromString(raw).values, depth + 1)


def _string(raw: bytes, depth: int) -> object:
    return text(raw)


_READERS: Final[dict[str, Callable[[bytes, int], object]]] = {
    "string_value": _string,
    "array_value": _list,
    "kvlist_value": _map,
}
