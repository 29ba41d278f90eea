"""What the text of an environment variable stands for, as YAML would give it.

Rule: a text that stands for nothing stays what it is, and whoever checks values refuses it. It does not know
which variable it is of.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Final

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})


def plain(hint: Any, text: str) -> object:
    """The value of a field with this type.

    >>> plain(bool, "off"), plain(tuple[str, ...], "a, b"), plain(int, "12"), plain(float, "much")
    (False, ('a', 'b'), 12, 'much')
    >>> plain(Mapping[str, str], "authorization=Bearer a=b, x-scope=1")
    {'authorization': 'Bearer a=b', 'x-scope': '1'}
    """
    word = text.strip().lower()
    if hint is bool and word in _TRUE | _FALSE:
        return word in _TRUE
    if hint == tuple[str, ...]:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if hint == Mapping[str, str]:
        pairs = [part.partition("=") for part in text.split(",") if part.strip()]
        return {key.strip(): value.strip() for key, _, value in pairs}
    if hint in (int, float):
        with contextlib.suppress(ValueError):
            return hint(text)
    return text
