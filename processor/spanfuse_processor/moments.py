"""Moments as people write them: a date, a time, or how long ago.

Rule 1: what names no zone is UTC. Rule 2: now is an argument. It does not know what the moment is for.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGO: Final = re.compile(r"(\d{1,9})([smhdw])")
_MOST: Final = 253_402_300_799.0
"""The end of the year 9999."""


def moment(text: str, now: float) -> float:
    """The moment in seconds since the epoch: ``7d`` is seven days ago (s, m, h, d, w); ``2026-05-28``, or
    with a time, is that; a number is itself; ``now`` is `now`.

    >>> moment("2h", 10_000.0), moment("1970-01-02", 0.0), moment("1970-01-01T02:00+01:00", 0.0)
    (2800.0, 86400.0, 3600.0)

    Raises:
        ValueError: it is none of these; the text says what may be written.
    """
    if text == "now":
        return now
    if ago := _AGO.fullmatch(text):
        return now - int(ago[1]) * _UNITS[ago[2]]
    try:
        return _absolute(text)
    except ValueError:
        raise ValueError(f"no moment: {text[:40]!r}; write 7d, 12h, 2026-05-28 or 2026-05-28T12:00") from None


def _absolute(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        seconds = float(text)
    else:
        read = datetime.fromisoformat(text)
        seconds = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    if not 0 <= seconds <= _MOST:
        raise ValueError(text)
    return seconds
