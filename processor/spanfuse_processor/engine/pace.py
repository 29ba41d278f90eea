"""How many calls there were in each of the last seconds, as a value: what every run has, in few bytes.

Rule 1: event time, in rows of one second, twelve bytes each; the newest call's second ends the window.
Rule 2: only seconds that had calls have a row; those that leave the window are forgotten. Rule 3: a late
call goes to the second that it belongs to, one that is older than the window is not counted. It does not know
limits, nor what calls used: see `window` for that.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

NS: Final = 1_000_000_000

_CALLS: Final = Struct("<I")  # in all rows
_ROW: Final = Struct("<qI")  # a second, and its calls
_FIRST, _SIZE = _CALLS.size, _ROW.size
_calls, _row = _CALLS.pack, _ROW.pack
_read_calls, _read_row = _CALLS.unpack_from, _ROW.unpack_from


class Pace(bytes):
    """The calls of a window.

    >>> pace = Pace()
    >>> for second in (0, 10, 65, 65):
    ...     pace = pace.add(second * NS, 60)
    >>> pace.calls, pace.slowest(1), len(pace)
    (3, 0, 28)
    """

    __slots__ = ()

    def add(self, at_ns: int, seconds: int) -> Pace:
        """The same with a call that took place at `at_ns`, in a window of so many `seconds`."""
        second, end = at_ns // NS, len(self)
        if not end:
            return Pace(_calls(1) + _row(second, 1))
        (calls,), start = _read_calls(self), _FIRST
        newest, count = _read_row(self, end - _SIZE)
        if second == newest:  # of a busy feature, most are
            return Pace(_calls(calls + 1) + self[start : end - _SIZE] + _row(second, count + 1))
        first = second - seconds + 1
        if second < newest:
            return self._add_late(second) if newest - seconds < second else self
        while start < end:
            oldest, count = _read_row(self, start)
            if oldest >= first:
                break
            calls -= count
            start += _SIZE
        return Pace(_calls(calls + 1) + self[start:] + _row(second, 1))

    @property
    def calls(self) -> int:
        """How many there were in all of the window."""
        return int.from_bytes(self[:_FIRST], "little")

    def slowest(self, seconds: int) -> int:
        """The fewest calls in any of the last `seconds` whole seconds; the newest is not over."""
        at = len(self) - _SIZE
        fewest, newest = 0, _ROW.unpack_from(self, at)[0] if self else 0
        for second in range(newest - 1, newest - 1 - seconds, -1):
            at -= _SIZE
            known, count = _ROW.unpack_from(self, at) if at > 0 else (0, 0)
            if known != second or not count:
                return 0
            fewest = min(fewest or count, count)
        return fewest

    def _add_late(self, second: int) -> Pace:
        """The same with a call in a second that has a row, or is older than the newest that has."""
        at = len(self) - _SIZE
        known, count = _ROW.unpack_from(self, at)
        while known > second and at > _FIRST:
            at -= _SIZE
            known, count = _ROW.unpack_from(self, at)
        start = at + _SIZE * (known < second)
        after = start + _SIZE * (known == second)
        row = _ROW.pack(second, count + 1 if known == second else 1)
        return Pace(_CALLS.pack(self.calls + 1) + self[_FIRST:start] + row + self[after:])
