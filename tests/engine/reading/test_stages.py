"""Stages on a span: what is written is read again, and nothing else ever raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.reading.stages import MAX_NAME, MAX_STAGES, Stage, pack, unpack

names = st.text(max_size=MAX_NAME).filter(lambda name: "/" not in name)
stages = st.builds(
    Stage,
    id=st.text("0123456789abcdef", min_size=1, max_size=16),
    name=names,
    budget=st.none() | st.integers(0, 2**53),
    timeout=st.none() | st.floats(0, 1e9),
)


@given(st.lists(stages, max_size=MAX_STAGES))
def test_what_is_written_is_read_again(written: list[Stage]) -> None:
    assert unpack(pack(written)) == tuple(written)


@given(st.text())
def test_no_text_raises(text: str) -> None:
    assert isinstance(unpack(text), tuple)


@pytest.mark.parametrize(
    "text", ["", "1", "1/", "2/a:::b", "1/a", "1/:::b", "1/a:-1::b", "1/a::nan:b", "1/a:1.5::b", "1/a:::b/"]
)
def test_a_text_that_cannot_be_read_says_nothing(text: str) -> None:
    assert unpack(text) == ()


def test_too_many_and_too_long_ones_are_cut() -> None:
    cut = unpack(pack([Stage(str(number), "n" * 100) for number in range(1, 20)]))

    assert [stage.id for stage in cut] == [str(number) for number in range(1, MAX_STAGES + 1)]
    assert {stage.name for stage in cut} == {"n" * MAX_NAME}
