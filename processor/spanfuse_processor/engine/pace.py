"""How many calls there were in each of the last seconds, in plain bytes: what every run has, in few of them.

Rule 1: event time, in rows of one second, twelve bytes each; the newest call's second ends the window.
Rule 2: only seconds that had calls have a row; those that leave the window are forgotten. Rule 3: a late
call goes to the second that it belongs to, one that is older than the window is not counted. It does not know
limits, nor what calls used: see `window` for that.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

NS: Final = 1_000_000_000

STILL: Final = b""
"""No calls."""

_HEAD: Final = Struct("<IqI")  # the calls of all seconds, the newest of these, and its calls
_ROW: Final = Struct("<qI")  # behind it: an older second, and its calls, the oldest first
_FIRST, _SIZE = _HEAD.size, _ROW.size
_head, _row = _HEAD.pack, _ROW.pack
_read_head, _read_row = _HEAD.unpack_from, _ROW.unpack_from


def add(pace: bytes, at_ns: int, seconds: int) -> bytes:
    """The same with a call that took place at `at_ns`, in a window of so many `seconds`.

    >>> pace = STILL
    >>> for second in (0, 10, 65, 65):
    ...     pace = add(pace, second * NS, 60)
    >>> calls(pace), slowest(pace, 1), len(pace)
    (3, 0, 28)
    """
    second = at_ns // NS
    if not pace:
        return _head(1, second, 1)
    known, newest, count = _read_head(pace)
    if second == newest:  # of a busy feature, most are
        return _head(known + 1, second, count + 1) + pace[_FIRST:]
    if second < newest:
        return _add_late(pace, second) if newest - seconds < second else pace
    older, last = pace[_FIRST:] + _row(newest, count), second - seconds
    oldest, gone = _read_row(older)
    while oldest <= last:
        known, older = known - gone, older[_SIZE:]
        if not older:
            break
        oldest, gone = _read_row(older)
    return _head(known + 1, second, 1) + older


def calls(pace: bytes) -> int:
    """How many there were in all of the window."""
    return _read_head(pace)[0] if pace else 0


def slowest(pace: bytes, seconds: int) -> int:
    """The fewest calls in any of the last `seconds` whole seconds; the newest is not over."""
    fewest, newest, at = 0, _read_head(pace)[1] if pace else 0, len(pace)
    for second in range(newest - 1, newest - 1 - seconds, -1):
        at -= _SIZE
        known, count = _read_row(pace, at) if at >= _FIRST else (0, 0)
        if known != second or not count:
            return 0
        fewest = min(fewest or count, count)
    return fewest


def _add_late(pace: bytes, second: int) -> bytes:
    """The same with a call in a second that is older than the newest, and may have a row."""
    known, newest, latest = _read_head(pace)
    end = len(pace)
    while end > _FIRST and _read_row(pace, end - _SIZE)[0] > second:
        end -= _SIZE
    start, count = end, 0
    if end > _FIRST and _read_row(pace, end - _SIZE)[0] == second:
        start, count = end - _SIZE, _read_row(pace, end - _SIZE)[1]
    return _head(known + 1, newest, latest) + pace[_FIRST:start] + _row(second, count + 1) + pace[end:]
