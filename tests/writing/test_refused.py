"""One bad row does not cost the others of its batch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.stores.making import call

from spanfuse_processor.store import LedgerGap, RowsRefused, StepRow, StoreError
from spanfuse_processor.writing.refused import is_away, keep


class Table:
    """A table that takes no features called "bad", and no NUL."""

    def __init__(self) -> None:
        self.rows: list[StepRow] = []
        self.asked = 0

    def append(self, rows: Sequence[StepRow]) -> None:
        self.asked += 1
        if any(row.feature.startswith("bad") or "\x00" in row.feature for row in rows):
            raise RowsRefused("bad")
        self.rows += rows


@pytest.fixture
def table() -> Table:
    return Table()


def test_good_rows_are_kept_at_once(table: Table) -> None:
    assert keep(table.append, [call(number) for number in range(100)], print) == 100
    assert table.asked == 1


def test_bad_rows_are_found_by_halving(table: Table) -> None:
    rows = [call(number, feature="bad" if number in (3, 90) else "") for number in range(100)]
    refused: list[Exception] = []

    assert keep(table.append, rows, refused.append) == 98
    assert sorted(row.span_id for row in table.rows) == [row.span_id for row in rows if not row.feature]
    assert len(refused) == 2
    assert table.asked < 40


def test_what_can_be_mended_is_mended_first(table: Table) -> None:
    refused: list[Exception] = []

    assert keep(table.append, [call(1, feature="a\x00"), call(2)], refused.append) == 2
    assert [row.feature for row in table.rows] == ["a?", ""]
    assert refused == []


def test_a_store_that_is_away_refuses_nothing(table: Table) -> None:
    def away(_: Sequence[StepRow]) -> None:
        raise StoreError("away")

    with pytest.raises(StoreError, match="away"):
        keep(away, [call(1), call(2)], print)


@pytest.mark.parametrize(
    ("error", "away"),
    [(StoreError(), True), (LedgerGap(), True), (RowsRefused(), False), (TypeError(), False)],
)
def test_only_a_store_can_be_away(error: Exception, away: bool) -> None:
    assert is_away(error) is away
