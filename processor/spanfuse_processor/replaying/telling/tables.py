"""Tables in plain text: columns as wide as they need to be, and lines no wider than asked for.

Rule 1: a column that is empty in every line is left out. Rule 2: where lines are too wide, columns that may
shrink do, the widest first, and cells are cut. It does not know what is in the cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spanfuse_processor.terminal import columns, cut

GAP: Final = 2


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `least`: how far it may shrink, 0 for not at all; `keep_end`: cells are cut in front."""

    title: str
    right: bool = False
    least: int = 0
    keep_end: bool = False


def table(head: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """The lines of a table, the titles first.

    >>> for line in table([Column("run"), Column("calls", right=True)], [("a", "7"), ("bc", "12")], 80):
    ...     print(line)
    run  calls
    a        7
    bc      12
    """
    shown = [at for at in range(len(head)) if any(row[at] for row in rows)]
    head = [head[at] for at in shown]
    lines = [[column.title for column in head], *([row[at] for at in shown] for row in rows)]
    widths = _fit(head, [max(columns(line[at]) for line in lines) for at in range(len(head))], width)
    return [_line(head, line, widths) for line in lines]


def _fit(head: Sequence[Column], widths: list[int], width: int) -> list[int]:
    excess = sum(widths) + GAP * (len(widths) - 1) - width
    while excess > 0:
        room = [(wide, at) for at, wide in enumerate(widths) if 0 < head[at].least < wide]
        if not room:
            break
        widest = max(room)[1]
        widths[widest] -= 1
        excess -= 1
    return widths


def _line(head: Sequence[Column], cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (_cell(*each) for each in zip(head, cells, widths, strict=True))
    return (" " * GAP).join(padded).rstrip()


def _cell(column: Column, text: str, width: int) -> str:
    text = cut(text, width, column.keep_end)
    padding = " " * (width - columns(text))
    return padding + text if column.right else text + padding
