"""Marks against a dictionary that does the same with more memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.marks import Marks, join, meet


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans())))
def test_within_the_limit_they_answer_as_a_dictionary_does(said: list[tuple[int, bool]]) -> None:
    marks, known = Marks(32), dict[int, bool]()

    for thing, flag in said:
        assert marks.meet(thing, flag) == known.get(thing)
        known[thing] = known.get(thing, False) or flag


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans())))
def test_a_few_are_a_value_and_answer_as_marks_do(said: list[tuple[int, bool]]) -> None:
    few, marks = b"", Marks(64)

    for thing, flag in said:
        few, known = meet(few, thing, flag, 64)
        assert known == marks.meet(thing, flag)

    assert len(few) == 8 * len({thing for thing, _ in said})


def test_of_a_few_that_came_elsewhere_the_latest_are_known_too() -> None:
    here, there = meet(meet(b"", "a", False, 2)[0], "b", False, 2)[0], meet(b"", "c", True, 2)[0]

    both = join(here, there, 2)

    assert [meet(both, each, False, 2)[1] for each in "abc"] == [None, False, True]


@given(st.lists(st.integers(0, 20)), st.integers(0, 20))
def test_to_look_for_a_thing_does_not_remember_it(met: list[int], thing: int) -> None:
    marks = Marks(32)
    for each in met:
        marks.meet(each)

    assert (thing in marks) is (thing in met)
    assert (thing in marks) is (thing in met)


def test_the_oldest_is_forgotten_first() -> None:
    marks = Marks(2)
    for thing in "abc":
        marks.meet(thing, True)

    assert marks.meet("b") == 1
    assert marks.meet("a", False) is None
    assert len(marks) == 2


def test_what_lies_across_two_marks_is_none() -> None:
    marks = Marks(4)
    marks._few = bytes(range(16))
    across = int.from_bytes(bytes(range(1, 8)), "little")

    assert across not in marks
    assert marks.meet(across, True) is None


def test_what_came_elsewhere_is_known_too() -> None:
    here, there = Marks(2), Marks(2)
    here.meet("a", False)
    there.meet("b", True)

    here.absorb(there)

    assert (here.meet("a", False), here.meet("b", False)) == (False, True)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 3)), max_size=600))
def test_flags_are_kept_apart_and_stay_however_many_there_are(said: list[tuple[int, int]]) -> None:
    marks, known = Marks(2_048), dict[int, int]()

    for thing, flags in said:
        assert marks.flags(thing) == known.get(thing)
        assert marks.meet(thing, flags) == known.get(thing)
        known[thing] = known.get(thing, 0) | flags


def test_what_has_several_flags_counts_as_so_many() -> None:
    marks = Marks(1_000)
    for number in range(1_000):
        marks.meet(number, 3)
    assert len(marks) == 500

    marks.meet("one flag", 1)
    marks.meet(999, 7)

    assert (500 in marks, 501 in marks, len(marks)) == (False, True, 501)


def test_of_many_the_latest_are_kept() -> None:
    marks = Marks(2_048)
    for number in range(10_000):
        assert marks.meet(("thing", number), number % 2 == 0) is None

    assert [number for number in range(10_000) if ("thing", number) in marks] == [
        *range(10_000 - 2_048, 10_000)
    ]
    assert [marks.meet(("thing", number), False) for number in (9_998, 9_999)] == [True, False]
    assert len(marks) == 2_048


@pytest.mark.parametrize("already", [1, 300])
def test_of_many_that_came_elsewhere_the_latest_are_known_too(already: int) -> None:
    here, there = Marks(600), Marks(600)
    for number in range(already):
        here.meet(("mine", number), False)
    for number in range(500):
        there.meet(("thing", number), True)

    here.absorb(there)

    assert all(here.meet(("thing", number), False) for number in range(500))
    kept = [number for number in range(already) if ("mine", number) in here]
    assert kept == [*range(max(0, already - 100), already)]
