"""Where to go on: what is left out of a scope, and what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.fingerprints.positions import without_positions

POSITIONS: list[dict[str, Any]] = [
    {"offset": 200}, {"cursor": "eyJpZCI6"}, {"page_token": "x"}, {"nextToken": "x"}, {"token": "abc"},
    {"start_line": 1, "endLine": 9}, {"view_range": [1, 100]}, {"page": 3}, {"page": "3"}, {"from": 40},
    {"start": 1, "end": "200"}, {"line": 7}, {"skip": 10}, {"range": "1-100"}, {"lines": [1, 40]},
]  # fmt: skip
OTHERS: list[dict[str, Any]] = [
    {"from": "LHR", "to": "JFK"}, {"page": "Albert Einstein"}, {"start": "10 Downing Street"},
    {"skip": True}, {"position": "engineer"}, {"limit": 10}, {"page_size": 50}, {"range": "A1:B7"},
    {"lines": []}, {"index": 4}, {"page": None}, {"view": [1, 2]}, {"start": "2026-05-01"},
    {"since": "2026-05-01T07:00:00Z"}, {"until": "07:30:00"}, {"start": "09:30"},
]  # fmt: skip


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_position_is_left_out(positions: dict[str, Any]) -> None:
    assert without_positions({"path": "a.py", **positions}) == {"path": "a.py"}


@pytest.mark.parametrize("others", OTHERS)
def test_what_says_which_thing_or_how_much_of_it_stays(others: dict[str, Any]) -> None:
    assert without_positions({"path": "a.py", **others}) == {"path": "a.py", **others}


def test_nested_arguments_are_looked_at_too() -> None:
    given_ = {"request": {"path": "a.py", "offset": 9}, "dry": True}

    assert without_positions(given_) == {"request": {"path": "a.py"}, "dry": True}


def test_positions_may_be_all_that_there_is() -> None:
    assert without_positions({"page": 3}) == {}


@pytest.mark.parametrize("arguments", ["page=3", ["page", 3], 7, None, {}, {7: "x"}])
def test_without_a_position_it_is_the_same_object(arguments: Any) -> None:
    assert without_positions(arguments) is arguments


fields = st.sampled_from(["page", "offset", "start", "q", "in"])
values = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=3),
)


@given(values)
def test_twice_is_once(arguments: Any) -> None:
    once = without_positions(arguments)

    assert without_positions(once) is once
