"""One text for one value: the canonical form that digests are made of.

Rule 1: equal data gives equal text, whatever the order of keys, the escapes of its JSON, and whether it
came as JSON text or as plain data; 1.0 is 1. Rule 2: nothing raises and the work is bounded: what is
longer, wider or deeper than the limits below is represented by its ends and its length. Rule 3: an object
that shows nothing of itself has no canonical form: unknown is not equal to unknown. This file does not know
what the text is for, nor what in it is noise.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from collections.abc import Set as AnySet
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import islice
from types import ModuleType
from typing import Any, Final, TypeAlias

Plain: TypeAlias = "None | bool | int | float | str | list[Plain] | dict[str, Plain]"
"""What JSON can hold."""

LONGEST: Final = 262_144
"""Characters of one text that are looked at, half of them from each end."""

PARSED: Final = 65_536
"""Characters up to which a JSON text is parsed; a longer one counts as text."""

NODES: Final = 4_096
"""Values, over all levels, that are looked at."""

WIDEST: Final = 1_024
"""Members of one collection that are looked at once the whole has more than NODES."""

DEEPEST: Final = 24
"""Levels that are looked at in what is not small plain data."""

BEYOND: Final = "\u2026"
"""Stands for what lies beyond a limit."""

_OPENINGS: Final = frozenset('{["')
_READABLE: Final = (str, bytes, bytearray, memoryview, int, float, Mapping, list, tuple, AnySet, Enum)
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def canonical(value: object) -> str | None:
    """The canonical text of anything; None when the value shows nothing of itself."""
    return None if is_opaque(value) else text_of(plain(value))


def plain(value: Any) -> Any:
    """The value as JSON data: JSON text parsed, small plain data as it is, anything else reduced.

    >>> plain('{"b": [1.0, null]}')
    {'b': [1, None]}
    """
    if type(value) is str:
        return parsed(value)
    return value if _is_small(value) else _Reduction().of(value)


def parsed(text: str, limit: int = PARSED) -> Any:
    """What a JSON text of at most `limit` characters says; any other text as it is."""
    if len(text) > limit or text[:64].lstrip()[:1] not in _OPENINGS:
        return text
    try:
        return json.loads(text, parse_float=_number)
    except (ValueError, RecursionError):
        return text


def text_of(data: Any) -> str:
    """The canonical text of plain data; a text is its own.

    >>> text_of({"q": "caf\u00e9", "a": None})
    '{"a":null,"q":"caf\u00e9"}'
    """
    if type(data) is str:
        return clipped(data)
    try:
        return clipped(_encode(data))
    except (TypeError, ValueError, RecursionError):  # keys that do not sort, an endless number, too deep
        return _encode(_Reduction().of(data))


def is_opaque(value: object) -> bool:
    """Whether the value's only face is its address: a lock, a generator, a bare object.

    >>> is_opaque(object()), is_opaque("text"), is_opaque(ValueError("no"))
    (True, False, False)
    """
    if value is None or isinstance(value, _READABLE):
        return False
    return _record(value) is None and not _shown(value)


def clipped(text: str, limit: int = LONGEST) -> str:
    """The text, or its two ends and its length when it is longer than `limit`.

    >>> clipped("abcdefghij", limit=4)
    'ab\u202610\u2026ij'
    """
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}{BEYOND}{len(text)}{BEYOND}{text[-half:]}"


def _number(digits: str) -> float:
    return _whole(float(digits))


def _whole(number: float) -> float:
    """A float that counts whole things is that count, so that 1.0 equals 1."""
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _is_small(value: Any) -> bool:
    """Whether the encoder may have the value as it is: plain data within the limits."""
    pending, characters = [value], 0
    for item in pending:  # grows while it is walked: every value of every level
        kind = type(item)
        if kind is str:
            characters += len(item)
        elif kind is dict or kind is list or kind is tuple:
            if len(pending) + len(item) > NODES:
                return False
            pending.extend(item.values() if kind is dict else item)
        elif kind is float:
            if item.is_integer():
                return False
        elif item is not None and kind is not int and kind is not bool:
            return False
    return characters <= LONGEST


class _Reduction:
    """Makes JSON data of anything, looking at no more than NODES values."""

    def __init__(self) -> None:
        self._left = NODES

    def of(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0 or depth > DEEPEST:
            return BEYOND
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, Enum):
            return self.of(value.value, depth + 1)
        if isinstance(value, str | int | float):
            return _scalar(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return clipped(bytes(value[: LONGEST + 1]).decode("utf-8", "replace"))
        return self._collection(value, depth + 1)

    def _collection(self, value: Any, depth: int) -> Any:
        if isinstance(value, list | tuple):
            return self._list(value, depth)
        if isinstance(value, AnySet):
            return sorted(text_of(self.of(item, depth)) for item in islice(value, WIDEST))
        record = value if isinstance(value, Mapping) else _record(value)
        if record is not None:
            return self._members(record, depth)
        return _shown(value) or type(value).__name__

    def _members(self, record: Mapping[Any, Any], depth: int) -> Any:
        try:
            members = {str(key): self.of(item, depth) for key, item in islice(record.items(), WIDEST)}
            return members if len(record) <= WIDEST else {**members, BEYOND: len(record)}
        except Exception:  # somebody else's mapping, which fails when it is read
            return type(record).__name__

    def _list(self, items: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        looked_at: Iterable[Any] = items
        if len(items) > WIDEST:
            looked_at = (*items[: WIDEST // 2], BEYOND, len(items), *items[-WIDEST // 2 :])
        return [self.of(item, depth) for item in looked_at]


def _scalar(value: str | int | float) -> str | int | float:
    if isinstance(value, str):
        return clipped(str.__str__(value))
    if isinstance(value, int):
        return int(value) if value.bit_length() <= 1_024 else clipped(hex(value))
    return _whole(float(value))


def _record(value: Any) -> Mapping[Any, Any] | None:
    """The named fields of a record (a dataclass, a model of pydantic ...), None when it has none."""
    if callable(value) or isinstance(value, ModuleType):
        return None
    try:
        if is_dataclass(value):
            return {field.name: getattr(value, field.name, None) for field in fields(value)}
        return {name: item for name, item in vars(value).items() if not name.startswith("_")} or None
    except Exception:  # no fields, or some that fail when they are read
        return None


def _shown(value: object) -> str:
    """What an object says of itself, empty when that is no more than its type and address."""
    if type(value).__repr__ is object.__repr__:
        return ""
    try:
        text = repr(value)
    except Exception:
        return ""
    return "" if " at 0x" in text[:LONGEST] else clipped(text)
