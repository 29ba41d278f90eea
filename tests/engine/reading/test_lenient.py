"""Attribute values as emitters send them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.reading import lenient

anything = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.lists(st.integers())
)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (12, 12), ("12", 12), (" 12 ", 12), (b"12", 12), (12.0, 12), ("12.9", 12), (0, 0), ("0", 0),
        (None, None), (True, None), (False, None), (-1, None), ("-1", None), (float("nan"), None),
        ("nan", None), (float("inf"), None), ("1e400", None), ("many", None), ("", None), ([12], None),
        (10**30, None),
    ],
)  # fmt: skip
def test_a_count_is_read_or_unknown(value: object, count: int | None) -> None:
    assert lenient.count(value) == count


@pytest.mark.parametrize(
    ("reasons", "cut"),
    [
        (["length"], True), (("max_tokens",), True), (["stop", "length"], True), ("MAX_TOKENS", True),
        ('["length"]', True), (["max_output_tokens"], True), (["stop"], False), (["tool_calls"], False),
        ("[]", False), ([], False), (None, False), ([7, None], False), ({"length": 1}, False),
    ],
)  # fmt: skip
def test_an_answer_was_cut_when_its_finish_reason_says_so(reasons: object, cut: bool) -> None:
    assert lenient.was_cut(reasons) is cut


@pytest.mark.parametrize(
    ("reasons", "asks"),
    [
        (["tool_calls"], True), (("tool_use",), True), ("TOOL_CALL", True), ('["function_call"]', True),
        (["stop"], False), (["length"], False), ([], False), (None, False), ([7], False),
        ({"tool_use": 1}, False),
    ],
)  # fmt: skip
def test_an_answer_asks_for_tools_when_its_finish_reason_says_so(reasons: object, asks: bool) -> None:
    assert lenient.asks_for_tools(reasons) is asks


@given(anything)
def test_nothing_raises(value: Any) -> None:
    assert isinstance(lenient.was_cut(value), bool)
    assert isinstance(lenient.asks_for_tools(value), bool)
    assert isinstance(lenient.text(value), str)
    assert isinstance(lenient.truth(value), bool)
    counted = lenient.count(value)
    assert counted is None or counted >= 0
    assert lenient.micro_usd(value) is None or lenient.number(value) is not None


@pytest.mark.parametrize(
    ("value", "micro"),
    [(0.0025, 2_500), ("0.0025", 2_500), (1, 1_000_000), ("free", None), (1e6, 10**12), (1e7, None)],
)
def test_dollars_become_micro_dollars(value: object, micro: int | None) -> None:
    assert lenient.micro_usd(value) == micro
