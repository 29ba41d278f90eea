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
    known, newest, count = _read_head(pace) if pace else (0, 0, 0)
    known, newest, count, older = step(known, newest, count, pace[_FIRST:], at_ns // NS, seconds)
    return _head(known, newest, count) + older


def step(
    known: int, newest: int, count: int, older: bytes, second: int, seconds: int
) -> tuple[int, int, int, bytes]:
    """The same for whoever has unpacked the head of a pace, which is a part of something larger."""
    if second == newest:  # of a busy feature, most are
        return known + 1, newest, count + 1, older
    if second < newest:
        if second <= newest - seconds:
            return known, newest, count, older
        return known + 1, newest, count, _late(older, second)
    if count:
        older, last = older + _row(newest, count), second - seconds
        oldest, gone = _read_row(older)
        while oldest <= last:
            known, older = known - gone, older[_SIZE:]
            if not older:
                break
            oldest, gone = _read_row(older)
    return known + 1, second, 1, older


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


def _late(older: bytes, second: int) -> bytes:
    """Older seconds with a call in one that may have a row."""
    end = len(older)
    while end and _read_row(older, end - _SIZE)[0] > second:
        end -= _SIZE
    start, count = end, 0
    if end and _read_row(older, end - _SIZE)[0] == second:
        start, count = end - _SIZE, _read_row(older, end - _SIZE)[1]
    return older[:start] + _row(second, count + 1) + older[end:]
