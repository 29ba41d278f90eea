"""Bill rows summed by what they have in common, for stores that cannot do it themselves.

Rule: the answer is that of a SELECT with GROUP BY over the same rows. It does not know where rows come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from spanfuse_processor.store import MOST_ROWS, TIMES, SpendRow, StepRow, check_groups


def spend_of(rows: Iterable[StepRow], by: Sequence[str]) -> list[SpendRow]:
    """What each group cost, dearest first, at most MOST_ROWS of them.

    >>> rows = [StepRow("t", number, 0.0, feature="mail", cost=6) for number in "12"]
    >>> [(row.values, row.calls, row.cost) for row in spend_of(rows, ["feature", "day"])]
    [(('mail', '1970-01-01'), 2, 12)]

    Raises:
        ValueError: see `check_groups`.
    """
    fields = check_groups(by)
    sums: dict[tuple[str, ...], list[int]] = {}
    for row in filter(lambda each: each.counts, rows):
        group = tuple(_value(row, field) for field in fields)
        known = sums.setdefault(group, [0] * len(_parts(row)))
        sums[group] = [total + part for total, part in zip(known, _parts(row), strict=True)]
    spent = [SpendRow(group, *total) for group, total in sums.items()]
    return sorted(spent, key=lambda each: (-each.cost, -each.calls, each.values))[:MOST_ROWS]


def _parts(row: StepRow) -> tuple[int, ...]:
    """What one call adds, in the order of SpendRow."""
    guessed = row.cost if row.estimated else 0
    tokens = row.input_tokens, row.output_tokens, row.cached_tokens
    return (1, *tokens, row.cost, guessed, int(row.unpriced))


def _value(row: StepRow, field: str) -> str:
    if field in TIMES:
        return datetime.fromtimestamp(int(row.ended), UTC).strftime(TIMES[field])
    return str(getattr(row, field))
