"""Rows that a store refuses: what is wrong with them is mended, and what cannot be mended is left out.

Rule 1: one bad row does not cost the others of its batch. Rule 2: a store that is away is not a row that is
refused: that failure goes through. It does not know what rows mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from spanfuse_processor.store import EventRow, RowsRefused, SnapshotRow, StepRow, StoreError

Row = TypeVar("Row", StepRow, EventRow, SnapshotRow)


def keep(
    append: Callable[[Sequence[Row]], None], rows: Sequence[Row], refuse: Callable[[Exception], object]
) -> int:
    """Appends rows, all but those that cannot be kept; of each of these `refuse` is told why.

    Returns how many were kept. What was kept before a failure is kept again when the rows come again.

    Raises:
        StoreError: the store is away.
    """
    try:
        append(rows)
        return len(rows)
    except Exception as error:
        if is_away(error):
            raise
        mended = [cleaned(row) for row in rows]
        if mended != list(rows):
            return keep(append, mended, refuse)
        if len(rows) == 1:
            refuse(error)
            return 0
    middle = len(rows) // 2
    return keep(append, rows[:middle], refuse) + keep(append, rows[middle:], refuse)


def cleaned(row: Row) -> Row:
    r"""The row, without characters that no database takes: NUL, and halves of surrogate pairs.

    >>> cleaned(StepRow("t", "s", 0.0, feature="a\x00b\ud800")).feature
    'a?b?'
    """
    texts: dict[str, Any] = {
        name: value.encode("utf-8", "replace").decode().replace("\x00", "?")
        for name, value in zip(row._fields, row, strict=True)
        if isinstance(value, str)
    }
    return row._replace(**texts)


def is_away(error: Exception) -> bool:
    """Whether it is the store that failed, not the rows: the same again may succeed later."""
    return isinstance(error, StoreError) and not isinstance(error, RowsRefused)
