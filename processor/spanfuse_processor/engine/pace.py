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
        newest = self._row(end - _SIZE)[0] if self else second - 1
        if second > newest:
            return self._moved_on(second, seconds)
        if second <= newest - seconds:
            return self
        at = end - _SIZE
        known, count = self._row(at)
        while known > second and at > _FIRST:
            at -= _SIZE
            known, count = self._row(at)
        start = at + _SIZE * (known < second)
        after = start + _SIZE * (known == second)
        row = _ROW.pack(second, count + 1 if known == second else 1)
        return Pace(_CALLS.pack(self.calls + 1) + self[_FIRST:start] + row + self[after:])

    @property
    def calls(self) -> int:
        """How many there were in all of the window."""
        return int.from_bytes(self[:_FIRST], "little")

    def slowest(self, seconds: int) -> int:
        """The fewest calls in any of the last `seconds` whole seconds; the newest is not over."""
        rows = list(_ROW.iter_unpack(self[_FIRST:]))
        newest = rows[-1][0] if rows else 0
        known = dict(rows[-seconds - 1 : -1])
        return min((known.get(second, 0) for second in range(newest - seconds, newest)), default=0)

    def _moved_on(self, second: int, seconds: int) -> Pace:
        """The window when its newest call is in a second that is new."""
        calls, start = self.calls + 1, _FIRST
        while start < len(self):
            oldest, count = self._row(start)
            if oldest > second - seconds:
                break
            calls -= count
            start += _SIZE
        return Pace(_CALLS.pack(calls) + self[start:] + _ROW.pack(second, 1))

    def _row(self, at: int) -> tuple[int, int]:
        second, count = _ROW.unpack_from(self, at)
        return second, count
