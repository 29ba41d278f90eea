"""How far a long reading is, on one line of a terminal that is written over.

Rule 1: nothing where nobody looks: not without a terminal, not in the first half second. Rule 2: whoever else
writes on the terminal wipes the line before. It does not know what is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TextIO

from spanfuse_processor.terminal import LEAST

PATIENCE: Final = 0.5
"""Seconds before the line appears."""

PACE: Final = 0.1
"""Seconds between two of its pictures."""

_BAR: Final = 24
_MEGABYTE: Final = 1_000_000
_WIPE: Final = "\r" + " " * (LEAST + _BAR) + "\r"


class Progress:
    """Told how much is done; `clock` gives seconds that never go back."""

    def __init__(self, out: TextIO, clock: Callable[[], float]) -> None:
        self._out = out
        self._clock = clock
        self._what = ""
        self._began = self._due = clock() + PATIENCE
        self._visible = out.isatty()
        self._shown = False

    def watch(self, what: str, done: int, total: int) -> None:
        """So much of `total` is done; 0: nobody knows how much there is."""
        if not self._visible:
            return
        now = self._clock()
        if what != self._what:
            self._what, self._began = what, now
        if now < self._due:
            return
        self._due = now + PACE
        self._draw(_picture(what, done, total, now - self._began))

    def wipe(self) -> None:
        """The line is gone, for somebody else to write, or for good."""
        if self._shown:
            self._out.write(_WIPE)
            self._out.flush()
            self._shown = False

    def _draw(self, picture: str) -> None:
        self._out.write("\r" + picture.ljust(LEAST + _BAR - 1))
        self._out.flush()
        self._shown = True


def _picture(what: str, done: int, total: int, seconds: float) -> str:
    """One line.

    >>> _picture("reading", 50_000_000, 200_000_000, 4.0)
    'reading [######                  ]  25 %  12 s left'
    >>> _picture("reading", 3_500_000, 0, 4.0)
    'reading 3.5 MB'
    """
    if not total:
        return f"{what} {done / _MEGABYTE:.1f} MB"
    share = min(1.0, done / total)
    left = f"  {seconds / share * (1 - share):.0f} s left" if share > 0 else ""
    return f"{what} [{'#' * int(share * _BAR):<{_BAR}}] {share:4.0%}{left}".replace("%", " %")
