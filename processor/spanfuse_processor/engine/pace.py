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

_CALLS: Final = Struct("<I")  # in all rows
_ROW: Final = Struct("<qI")  # a second, and its calls
_FIRST, _SIZE = _CALLS.size, _ROW.size
_calls, _row = _CALLS.pack, _ROW.pack
_read_calls, _read_row = _CALLS.unpack_from, _ROW.unpack_from


def add(pace: bytes, at_ns: int, seconds: int) -> bytes:
    """The same with a call that took place at `at_ns`, in a window of so many `seconds`.

    >>> pace = STILL
    >>> for second in (0, 10, 65, 65):
    ...     pace = add(pace, second * NS, 60)
    >>> calls(pace), slowest(pace, 1), len(pace)
    (3, 0, 28)
    """
    second, end = at_ns // NS, len(pace)
    if not end:
        return _calls(1) + _row(second, 1)
    (known,), start = _read_calls(pace), _FIRST
    newest, count = _read_row(pace, end - _SIZE)
    if second == newest:  # of a busy feature, most are
        return _calls(known + 1) + pace[start : end - _SIZE] + _row(second, count + 1)
    first = second - seconds + 1
    if second < newest:
        return _add_late(pace, second) if newest - seconds < second else pace
    while start < end:
        oldest, count = _read_row(pace, start)
        if oldest >= first:
            break
        known -= count
        start += _SIZE
    return _calls(known + 1) + pace[start:] + _row(second, 1)


def calls(pace: bytes) -> int:
    """How many there were in all of the window."""
    return int.from_bytes(pace[:_FIRST], "little")


def slowest(pace: bytes, seconds: int) -> int:
    """The fewest calls in any of the last `seconds` whole seconds; the newest is not over."""
    at = len(pace) - _SIZE
    fewest, newest = 0, _read_row(pace, at)[0] if pace else 0
    for second in range(newest - 1, newest - 1 - seconds, -1):
        at -= _SIZE
        known, count = _read_row(pace, at) if at > 0 else (0, 0)
        if known != second or not count:
            return 0
        fewest = min(fewest or count, count)
    return fewest


def _add_late(pace: bytes, second: int) -> bytes:
    """The same with a call in a second that has a row, or is older than the newest that has."""
    at = len(pace) - _SIZE
    known, count = _read_row(pace, at)
    while known > second and at > _FIRST:
        at -= _SIZE
        known, count = _read_row(pace, at)
    start = at + _SIZE * (known < second)
    after = start + _SIZE * (known == second)
    row = _row(second, count + 1 if known == second else 1)
    return _calls(calls(pace) + 1) + pace[_FIRST:start] + row + pace[after:]
