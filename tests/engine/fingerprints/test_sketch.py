"""Sketches: what they estimate, how well, and what they never do."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.fingerprints.sketch import LENGTH, Sketcher, resemblance

SKETCH = Sketcher(b"secret").of
WORDS = [f"{first}{middle}{last}" for first in "bdfglmnprst" for middle in "aeiou" for last in "klmnrst"]


def likeness(words: list[str], others: list[str]) -> float:
    """Jaccard's, the true one."""
    return len({*words} & {*others}) / len({*words} | {*others})


def estimate(words: list[str], others: list[str]) -> float:
    return resemblance(SKETCH(" ".join(words)), SKETCH(" ".join(others)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("find flights to Rome", "Find FLIGHTS, to: rome!"),
        ("item 12 of 40", "item 13 of 41"),
        ("a b c", "c b a a a"),
        ("get_user_name", "get user-name"),
    ],
)
def test_case_digits_order_number_and_signs_do_not_count(one: str, other: str) -> None:
    assert SKETCH(one) == SKETCH(other) != 0


@pytest.mark.parametrize("text", ["", "   ", "12.5 %", "[{}]", "\n"])
def test_without_a_word_it_is_unknown_and_unlike_everything(text: str) -> None:
    assert SKETCH(text) == 0
    assert resemblance(SKETCH(text), SKETCH(text)) == 0.0


def test_another_key_gives_another_sketch() -> None:
    assert SKETCH("find flights to rome") != Sketcher(b"other").of("find flights to rome")


def test_scripts_without_spaces_have_words_too() -> None:
    one, other = SKETCH("我会继续等待您的回复"), SKETCH("我会继续等待你的回复")

    assert 0.5 < resemblance(one, other) < 1.0


@pytest.mark.parametrize(("count", "worst"), [(8, 0.02), (25, 0.05), (60, 0.12), (110, 0.15)])
def test_what_is_much_alike_is_estimated_closely(count: int, worst: float) -> None:
    draw, errors = random.Random(count), []
    for changed in range(max(1, count // 8)):
        for _ in range(20):
            words = draw.sample(WORDS, count + changed + 1)
            one, other = words[:count], words[changed + 1 : count + changed + 1]
            errors.append(estimate(one, other) - likeness(one, other))

    assert (sum(error * error for error in errors) / len(errors)) ** 0.5 < worst


def test_what_has_little_in_common_is_never_taken_for_alike() -> None:
    draw = random.Random(7)

    for _ in range(500):
        words = draw.sample(WORDS, 70)
        assert estimate(words[:40], words[30:]) < 0.7  # in truth 10 of 70


def test_a_long_text_is_no_more_alike_than_all_of_it() -> None:
    head, tail = " ".join(WORDS[:60]), " ".join(WORDS[60:120])
    one, other = " ".join(WORDS[120:240] * 4), " ".join(WORDS[240:360] * 4)
    assert len(one) > LENGTH

    assert resemblance(SKETCH(f"{head} {one} {tail}"), SKETCH(f"{head} {other} {tail}")) < 0.6


def test_a_longer_text_is_looked_at_closely_when_asked_for() -> None:
    one, other = " ".join(WORDS[:300]), " ".join([*WORDS[:40], "new", *WORDS[41:300]])

    assert SKETCH(one, 2_000) != SKETCH(other, 2_000)
    assert SKETCH(one) == SKETCH(other)


def test_a_long_text_to_which_a_little_is_added_stays_alike() -> None:
    long = " ".join(WORDS[:360] * 2)

    assert resemblance(SKETCH(long), SKETCH(f"{long} {long[:60]}")) > 0.8


@given(st.text(), st.text())
def test_it_is_the_same_both_ways_and_from_nothing_to_one(one: str, other: str) -> None:
    known = resemblance(SKETCH(one), SKETCH(other))

    assert known == resemblance(SKETCH(other), SKETCH(one))
    assert 0.0 <= known <= 1.0
    assert SKETCH(one) < 1 << 64
    assert resemblance(SKETCH(one), SKETCH(one)) == (1.0 if SKETCH(one) else 0.0)


@given(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1))
def test_no_bits_make_it_fail(one: int, other: int) -> None:
    assert 0.0 <= resemblance(one, other) <= 1.0


def test_a_text_without_end_costs_no_more_than_its_ends() -> None:
    text = "word " * 2_000_000
    tracemalloc.start()

    SKETCH(text)

    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()
