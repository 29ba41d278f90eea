"""What a result says that is not over yet: who looks again is waiting, and does not go round in circles.

Rule 1: only what is short: a long result tells more than a state. Rule 2: words that name things too
("running shoes", "building 4") count where they stand as a state does: alone, at the end, as the value of a
field that holds states. This file does not know which tool gave a result: that of a write is no wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

STATE: Final = 600
"""Characters of a body that may be about a state and little else."""

SAID: Final = 160
"""Characters of a text that may say no more than that something is not over."""

_ONGOING: Final = (
    r"(?:pending|running|in[ _-]?progress|queued|scheduled|processing|starting(?: up)?|(?:container)?creating"
    r"|provisioning|building|compiling|loading|initiali[sz]ing|deploying|installing|downloading|uploading"
    r"|waiting|busy|started|submitted|active|enqueued|indexing|rendering|validating)"
)
_STATE: Final = re.compile(rf"\W*{_ONGOING}\W*", re.IGNORECASE)
_SAYS: Final = re.compile(
    r"(?<!no )(?<!not )(?<!0 )\b(?:pending|in[ _-]progress|queued|processing|containercreating|provisioning"
    r"|compiling|initiali[sz]ing|deploying|installing|downloading|please wait|waiting for"
    r"|(?:is|are|still|currently|status) (?:running|starting|loading|building|creating|scheduled))\b"
    r"|\bnot (?:yet )?(?:ready|finished|done|complete)\b|\bnot (?:yet available|available yet)\b"
    r"|\bstill (?!missing|failing|having|being)\w+ing\b|\bconnection refused\b|\.(?:part|crdownload)\b",
    re.IGNORECASE,
)
_ALONE: Final = re.compile(  # ... and what may be said of things, unless no thing follows
    r"(?<!no )(?<!not )(?<!0 )\b(?:running|starting|loading|building|creating|scheduled)"
    r"(?=\s*(?:$|[^\w\s-]|for \d|since\b))"
    r"|^\W*\w+ing\b[^.\n]{0,60}(?:\.\.\.|\u2026)",
    re.IGNORECASE,
)
_STATES: Final = frozenset(
    "state status phase stage conclusion health condition progress checks step".split()
)
_ENDS: Final = frozenset("ready done finished complete completed".split())
_DEEPEST: Final = 3


def not_yet(data: Any, size: int) -> bool:
    """Whether a result of `size` characters says that something is not over yet.

    >>> not_yet({"id": 7, "state": "RUNNING"}, 30), not_yet("Build 7 is still running.", 25)
    (True, True)
    >>> not_yet("running shoes, size 42", 22), not_yet("That flight is not available.", 29)
    (False, False)
    """
    if size > STATE:
        return False
    if isinstance(data, str):
        return size <= SAID and (_SAYS.search(data) is not None or _ALONE.search(data) is not None)
    return any(_is_state(name, value, size) for name, value in _fields(data, _DEEPEST))


def _is_state(name: object, value: object, size: int) -> bool:
    """Whether a field of a body of `size` characters says so."""
    field = name.lower() if isinstance(name, str) else ""
    if isinstance(value, str):
        if field in _STATES or field.endswith(("state", "status")):
            return len(value) <= SAID and _STATE.fullmatch(value) is not None
        return size <= SAID and _SAYS.search(value) is not None
    return value is False and field in _ENDS


def _fields(data: Any, levels: int) -> Iterator[tuple[object, object]]:
    """The fields of a body and of what it contains."""
    if isinstance(data, list) and levels:
        for item in data:
            yield from _fields(item, levels - 1) if isinstance(item, dict | list) else [("", item)]
    elif isinstance(data, dict) and levels:
        for name, value in data.items():
            yield name, value
            yield from _fields(value, levels - 1) if isinstance(value, dict | list) else ()
