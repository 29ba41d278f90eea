"""Figures as Markdown: a cell is a count, a share or a median, and the same figures give the same text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

US: Final = "spanfuse"
NOTHING: Final = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Markdown.

    >>> print(table(("what", "n"), [("a", 1)]))
    | what | n |
    |---|---|
    | a | 1 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "|" + "|".join(cells) + "|" if cells[0] == "---" else f"| {' | '.join(map(str, cells))} |"
        for cells in ([str(cell) for cell in line] for line in lines)
    )


def percent(share: float) -> str:
    """A share, whole."""
    return f"{share:.0%}"


def number(value: float | None) -> str:
    """A median, without needless decimals."""
    return NOTHING if value is None else f"{value:g}"
