"""Tables: columns that fit, cells that are cut where they have to be."""

from __future__ import annotations

import pytest

from spanfuse_processor.replaying.telling.tables import Column, table
from spanfuse_processor.terminal import columns

HEAD = (Column("name", least=4), Column("calls", right=True), Column("file", least=6, keep_end=True))
ROWS = [("a long name", "7", "folder/a.jsonl"), ("b", "1,200", "b.jsonl")]


def test_columns_are_as_wide_as_they_need_to_be() -> None:
    assert table(HEAD, ROWS, 80) == [
        "name         calls  file",
        "a long name      7  folder/a.jsonl",
        "b            1,200  b.jsonl",
    ]


def test_where_lines_are_too_wide_columns_shrink_and_cells_are_cut() -> None:
    assert table(HEAD, ROWS, 27) == [
        "name       calls  file",
        "a long ..      7  ..a.jsonl",
        "b          1,200  b.jsonl",
    ]


@pytest.mark.parametrize(("width", "widest"), [(1, 19), (19, 19), (25, 25), (34, 34), (99, 34)])
def test_columns_shrink_as_far_as_they_may(width: int, widest: int) -> None:
    assert max(map(columns, table(HEAD, ROWS, width))) == widest


def test_a_column_without_anything_in_it_is_left_out() -> None:
    assert table([Column("a"), Column("b")], [("1", ""), ("2", "")], 80) == ["a", "1", "2"]


def test_wide_characters_take_two_columns() -> None:
    _, first, second = table([Column("name"), Column("n")], [("検索", "1"), ("abcd", "2")], 80)

    assert (first, second) == ("検索  1", "abcd  2")
