"""The values of OTLP/JSON: numbers, ids, attributes, as plain Python data.

Rule 1: what proto3 JSON allows is read (64-bit integers as text, NaN as text, null as absent), and a little
more where it cannot be mistaken. Rule 2: an unreadable attribute is left out, an unreadable id is empty; an
unreadable time is a ValueError, because it would shift every window. Rule 3: nesting is bounded.
This file does not know spans.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Final

from spanfuse_processor.receiver.decoded import MAX_DEPTH

UINT64_MAX: Final = 2**64 - 1
INT64_MAX: Final = 2**63 - 1
URL_SAFE: Final = str.maketrans("-_", "+/")


def identifier(value: object) -> bytes:
    """An id from hexadecimal text in either case; empty when it is absent or unreadable."""
    try:
        return bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        return b""


def unsigned(value: object) -> int:
    """An unsigned 64-bit integer from a number or text; absent is 0."""
    number = 0 if value is None else integer(value)
    if number is None or not 0 <= number <= UINT64_MAX:
        raise ValueError("a time is not an unsigned integer")
    return number


def integer(value: object) -> int | None:
    """An integer from a number or text, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return None
    return None if isinstance(value, float) and number != value else number


def text(value: object) -> str:
    """Text, or nothing when it is absent or no text."""
    return value if isinstance(value, str) else ""


def attributes(entries: object, depth: int = 0) -> dict[str, object]:
    """A list of `{"key", "value"}` as a dict; entries without a key or a value are left out."""
    found: dict[str, object] = {}
    for entry in entries if isinstance(entries, list) else ():
        key = entry.get("key") if isinstance(entry, dict) else None
        if isinstance(key, str) and (value := any_value(entry.get("value"), depth)) is not None:
            found[key] = value
    return found


def any_value(value: object, depth: int = 0) -> object:
    """An AnyValue as str, bool, int, float, list, dict or bytes; None when it is empty or unreadable."""
    if isinstance(value, dict):
        for kind, inner in value.items():
            reader = _READERS.get(kind)
            if reader is not None and inner is not None:
                return reader(inner, depth)
    return None


def _text(value: object, depth: int) -> object:
    return value if isinstance(value, str) else None


def _boolean(value: object, depth: int) -> object:
    return value if isinstance(value, bool) else None


def _integer(value: object, depth: int) -> object:
    number = integer(value)
    return number if number is not None and -INT64_MAX - 1 <= number <= INT64_MAX else None


def _double(value: object, depth: int) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)  # knows "NaN", "Infinity" and "-Infinity" too
    except (ValueError, OverflowError):
        return None


def _list(value: object, depth: int) -> object:
    if depth >= MAX_DEPTH:
        return None
    entries = value.get("values") if isinstance(value, dict) else None
    return [any_value(each, depth + 1) for each in entries] if isinstance(entries, list) else []


def _map(value: object, depth: int) -> object:
    if depth >= MAX_DEPTH:
        return None
    return attributes(value.get("values") if isinstance(value, dict) else None, depth + 1)


def _bytes(value: object, depth: int) -> object:
    if not isinstance(value, str):
        return None
    unpadded = value.translate(URL_SAFE).rstrip("=")
    try:
        return base64.b64decode(unpadded + "=" * (-len(unpadded) % 4), validate=True)
    except ValueError:
        return None


_READERS: Final[dict[str, Callable[[object, int], object]]] = {
    "stringValue": _text,
    "intValue": _integer,
    "boolValue": _boolean,
    "doubleValue": _double,
    "arrayValue": _list,
    "kvlistValue": _map,
    "bytesValue": _bytes,
}
