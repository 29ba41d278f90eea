"""Moments as people write them: a date, a time, or how long ago.

Rule 1: what names no zone is UTC. Rule 2: now is an argument. Rule 3: what could mean two things is refused.
It does not know what the moment is for.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGO: Final = re.compile(r"(\d{1,9})([smhdw])")
FAR: Final = 253_402_300_799.0
"""The end of the year 9999."""

_SHORT: Final = re.compile(r"\d{1,8}(\.\d+)?")
"""What seconds since the epoch are not, which have nine digits since 1973: nobody can tell what it is."""

A_WEEK: Final = 7 * 86_400.0


def moment(text: str, now: float) -> float:
    """The moment in seconds since the epoch: ``7d`` is seven days ago (s, m, h, d, w); ``2026-05-28``, or
    with a time, is that; a number of nine digits and more is itself; ``now`` is `now`.

    >>> moment("2h", 10_000.0), moment("1970-01-02", 0.0), moment("1970-01-01T02:00+01:00", 0.0)
    (2800.0, 86400.0, 3600.0)

    Raises:
        ValueError: it is none of these; the text says what may be written.
    """
    if text == "now":
        return now
    if ago := _AGO.fullmatch(text):
        return now - int(ago[1]) * _UNITS[ago[2]]
    if _SHORT.fullmatch(text):
        raise ValueError(
            f"{text} of what? write 7d for 7 days ago, 2026-05-28, or seconds since the epoch, "
            "which have 9 digits and more"
        )
    try:
        return _absolute(text)
    except ValueError:
        raise ValueError(f"no moment: {text[:40]!r}; write 7d, 12h, 2026-05-28 or 2026-05-28T12:00") from None


def stretch(since: str, until: str, now: float) -> tuple[float, float]:
    """From when to when: two moments as `moment` reads them. No `since` is a week before `until`.

    >>> stretch("", "1970-01-09", 0.0)
    (86400.0, 691200.0)

    Raises:
        ValueError: see `moment`; or it ends before it begins.
    """
    end = moment(until, now)
    begin = moment(since, now) if since else max(0.0, end - A_WEEK)
    if begin >= end:
        raise ValueError(
            f"until {written(end)} is not after since {written(begin)}: nothing lies between them"
        )
    return begin, end


def written(at: float) -> str:
    """A moment as `moment` reads it, to the microsecond.

    >>> written(86_400.5)
    '1970-01-02T00:00:00.500000+00:00'
    """
    return datetime.fromtimestamp(at, UTC).isoformat()


def _absolute(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        seconds = float(text)
    else:
        read = datetime.fromisoformat(text)
        seconds = (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    if not 0 <= seconds <= FAR:
        raise ValueError(text)
    return seconds
