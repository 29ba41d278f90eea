"""Folding: what repeats is told once, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from spanfuse_processor.replaying.telling.folding import fold


def folded(text: str) -> str:
    """A sequence of letters with its blocks as `(ab)3`."""
    blocks = ((text[each.start : each.start + each.period], each.times) for each in fold(text))
    return " ".join(letters if times == 1 else f"({letters}){times}" for letters, times in blocks)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ""),
        ("abc", "a b c"),
        ("aaaa", "(a)4"),
        ("ababab", "(ab)3"),
        ("xabcabcabcy", "x (abc)3 y"),
        ("aabaab", "(aab)2"),
        ("ababa", "(ab)2 a"),
        ("abcdefghijklm" * 2, "a b c d e f g h i j k l m a b c d e f g h i j k l m"),
    ],
)
def test_blocks_are_told_once(text: str, told: str) -> None:
    assert folded(text) == told


@given(some.text(alphabet="abc", max_size=60))
def test_the_blocks_unfolded_are_the_sequence(text: str) -> None:
    unfolded = "".join(text[block.start : block.start + block.period] * block.times for block in fold(text))

    assert unfolded == text


def test_a_long_loop_is_one_block() -> None:
    assert [tuple(block) for block in fold("abc" * 10_000)] == [(0, 3, 10_000)]
