"""Chanting: a model that lost its thread, and all that repeats for good reasons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.fingerprints.chant import LEAST, chant

SENTENCE = "I will now check the results once more before I go on. "
PROSE = " ".join(f"In chapter {word} the traveller meets {word} strangers at an inn." for word in (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
))  # fmt: skip


def test_one_sentence_again_and_again_is_a_chant() -> None:
    assert chant(SENTENCE * 40) == 40


def test_it_may_begin_late() -> None:
    assert chant(PROSE * 3 + SENTENCE * 30) >= 10


def test_two_sentences_that_take_turns_are_one_chant() -> None:
    assert chant((SENTENCE + "Nothing has changed so far, I am afraid to say. ") * 15) >= 10


def test_scripts_without_spaces_chant_too() -> None:
    assert chant("我会继续等待您的回复。" * 80) >= 10


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        SENTENCE * 8,
        "".join(f"def f_{number}(x):\n    return x + 1\n\n\n" for number in range(100)),
        "def same(x):\n    return x + 1\n\n\n" * 60,
        "Here:\n```\n" + "a line of a program as good as any other\n" * 40 + "```\n",
        "- the same item in a list of many items here\n" * 40,
        "1. the same step once again, as in the manual\n" * 40,
        "| a cell | another cell | and a third one |\n" * 40,
        "> as somebody said before, and will say again\n" * 40,
        "\u2500" * 60 + "\n" + "\u2500" * 3_000,
        "A" * 3_000,
        ". . . . . . " * 200,
        '{"status": "ok", "value": null}, ' * 80,
        "NULL,NULL,NULL,NULL\n" * 80,
        "<tr><td>none</td><td>none</td></tr>\n" * 80,
        "Flight 12 leaves at 10:40 and has 7 seats left.\n" * 80,
    ],
)
def test_what_repeats_for_a_good_reason_is_none(text: str) -> None:
    assert chant(text) == 0


def test_pieces_far_from_one_another_are_none() -> None:
    far = "".join(SENTENCE + f"{word * 200} " for word in "abcdefghijklmnop")

    assert chant(far) == 0


def test_a_short_text_is_not_looked_at() -> None:
    assert chant("ha ha " * (LEAST // 6)) == 0


@given(st.text(max_size=30), st.integers(1, 60))
def test_no_text_makes_it_fail(piece: str, times: int) -> None:
    assert chant(piece * times) in range(len(piece) * times + 1)
