"""The values of OTLP/protobuf as plain Python data.

Rule 1: a value that cannot be read is absent, and so is an empty one; text that is not UTF-8 gets U+FFFD in
place of the broken bytes. Rule 2: nesting is bounded. This file does not know spans.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from google.protobuf.message import DecodeError

from spanfuse_processor.receiver.decoded import MAX_DEPTH
from spanfuse_processor.receiver.spans_pb2 import AnyValue, ArrayValue, KeyValueList


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
