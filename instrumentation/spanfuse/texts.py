"""Who and what something is, as a text: the one door for every name that an application gives.

Rule 1: beyond it a name is a plain `str` that can be encoded, whatever it was: a number, an id, bytes, a
member of an enum. Rule 2: None is not said, and so is empty; 0 is said. Rule 3: what cannot tell what it is
never breaks the application: it is counted, and goes by the name of its type. It does not know what is named.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from spanfuse.guard import fault

_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
"""Where an object lies in memory: not what it is, and another one may lie there next."""


def text(value: object) -> str:
    """The text of a name.

    >>> text("u-1"), text(123), text(0), text(None), text(b"u-1")
    ('u-1', '123', '0', '', 'u-1')
    >>> text(object())
    '<object object>'
    """
    if type(value) is str and value.isascii():  # nearly always
        return value
    if value is None:
        return ""
    try:
        return _told(value).encode("utf-8", "replace").decode("utf-8")
    except Exception as error:
        fault("the text of a name", error)
        return f"<{type(value).__name__}>"


def _told(value: object) -> str:
    while isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "replace")
    return _ADDRESS.sub("", str(value))
