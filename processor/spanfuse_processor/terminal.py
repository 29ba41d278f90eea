"""What a person reads in a terminal, or in a file that a terminal's output went to.

Rule 1: colour only where somebody looks at it, and NO_COLOR (no-color.org) is obeyed. Rule 2: names come
from applications: nothing in them moves a terminal, and what it cannot show is escaped. Rule 3: lines fit the
width of a terminal, and that of a page elsewhere. It does not know what is said.
"""

from __future__ import annotations

import os
import shutil
import textwrap
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Final, TextIO

PAGE: Final = 110
"""Columns where there is no terminal to ask; COLUMNS says otherwise."""

LEAST: Final = 40

_DOTS: Final = ".."


class Style(StrEnum):
    """How a line looks, as ANSI codes."""

    PLAIN = ""
    BOLD = "1"
    DIM = "2"
    RED = "31"
    YELLOW = "33"


class Screen:
    """Where lines are written. `width` is in columns."""

    def __init__(self, out: TextIO, width: int = PAGE, colour: bool = False) -> None:
        self.width: Final = max(width, LEAST)
        self._out = out
        self._colour = colour

    @classmethod
    def of(cls, out: TextIO, environment: Mapping[str, str] | None = None) -> Screen:
        """The screen behind a stream."""
        env = os.environ if environment is None else environment
        colour = out.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
        return cls(out, shutil.get_terminal_size((PAGE, 24)).columns, colour)

    def say(self, line: str = "", style: Style = Style.PLAIN) -> None:
        """Writes one line."""
        if not line.isascii():
            encoding = getattr(self._out, "encoding", None) or "utf-8"
            line = line.encode(encoding, "backslashreplace").decode(encoding)
        if style and self._colour and line:
            line = f"\x1b[{style.value}m{line}\x1b[0m"
        self._out.write(line + "\n")

    def wrap(self, text: str, first: str = "", indent: str = "", style: Style = Style.PLAIN) -> None:
        """Writes text over as many lines as it needs; the first begins with `first`, others are indented."""
        lines = textwrap.wrap(
            text, self.width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
        )
        for line in lines or [first.rstrip()]:
            self.say(line, style)


def printable(text: str) -> str:
    r"""The text, with whatever moves a terminal escaped.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def columns(text: str) -> int:
    """How many columns a text takes: two for a wide character, none for one that combines.

    >>> columns("ab"), columns("日本")
    (2, 4)
    """
    if text.isascii():
        return len(text)
    return sum(not unicodedata.combining(each) and 1 + _is_wide(each) for each in text)


def table(lines: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Lines of cells as lines of text: columns two blanks apart, those in `right` flush to the right.

    >>> table([("run", "USD"), ("a", "10")], right={1})
    ['run  USD', 'a     10']
    """
    widths = [max(map(columns, column)) for column in zip(*lines, strict=True)]
    rows = []
    for line in lines:
        blanks = [" " * (width - columns(cell)) for cell, width in zip(line, widths, strict=True)]
        cells = [
            b + cell if at in right else cell + b
            for at, (cell, b) in enumerate(zip(line, blanks, strict=True))
        ]
        rows.append("  ".join(cells).rstrip())
    return rows


def cut(text: str, width: int, keep_end: bool = False) -> str:
    """The text in at most `width` columns, with dots where something is left out.

    >>> cut("execute_tool", 8), cut("a/long/path.jsonl", 12, keep_end=True)
    ('execut..', '..path.jsonl')
    """
    if columns(text) <= width:
        return text
    if keep_end:
        return cut(text[::-1], width)[::-1]
    while columns(text) > width - len(_DOTS):
        text = text[:-1]
    return text + _DOTS


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"
