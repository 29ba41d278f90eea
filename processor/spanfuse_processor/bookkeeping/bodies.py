"""Texts that every store takes and every reader can read: JSON bodies, and names made of what they name.

Rule: what JSON, or a database's idea of it, cannot hold is mended: characters that are none, numbers without
an end. It does not know what a body is about.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, Final

MOST_TEXT: Final = 4_096
"""Characters of one text; what is longer is cut."""


def body_of(fields: Mapping[str, Any]) -> str:
    r"""A JSON object.

    >>> body_of({"name": "a\x00b", "limit": float("inf"), "spans": [b"\x01"]})
    '{"name":"a?b","limit":null,"spans":["01"]}'
    """
    return json.dumps(_mended(fields), ensure_ascii=False, separators=(",", ":"))


def name_of(*parts: object) -> str:
    """The same for the same parts: 32 hex digits.

    >>> name_of("trip", "r1") == name_of("trip", "r1") != name_of("tripr", "1")
    True
    """
    text = json.dumps([str(part) for part in parts])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def cut(text: str, most: int) -> str:
    """At most so many bytes of a text in UTF-8, and no half of a character.

    >>> cut("grün", 3), cut("grün", 100)
    ('gr', 'grün')
    """
    if len(text) * 4 <= most:
        return text
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        if not value.isprintable():
            value = value.encode("utf-8", "replace").decode().replace("\x00", "?")
        return value[:MOST_TEXT]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(_mended(str(name))): _mended(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_mended(each) for each in value]
    return value
