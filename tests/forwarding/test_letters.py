"""What waits is bounded in bytes, and counts until it is done with."""

from __future__ import annotations

from spanfuse_processor.forwarding.letters import Letter, Letters
from spanfuse_processor.parcel import Parcel


def letter(size: int, since: float = 0.0) -> Letter:
    return Letter(Parcel(b"x" * size), since)


def test_letters_leave_in_the_order_in_which_they_came() -> None:
    letters = Letters(100)
    for size in (1, 2):
        letters.put(letter(size))

    assert [letters.take(), letters.take(), letters.take()] == [letter(1), letter(2), None]


def test_there_is_room_for_the_capacity_and_no_byte_more() -> None:
    letters = Letters(10)
    letters.put(letter(6))

    assert letters.has_room(4)
    assert not letters.has_room(5)


def test_a_single_letter_has_room_however_large() -> None:
    letters = Letters(10)

    assert letters.has_room(11)


def test_what_is_under_way_still_takes_room() -> None:
    letters = Letters(10)
    letters.put(letter(6))
    taken = letters.take()
    assert taken is not None

    assert not letters.has_room(5)
    letters.done(taken)
    assert letters.has_room(5)
    assert letters.waiting == 0


def test_those_in_line_can_be_given_up_and_those_under_way_not() -> None:
    letters = Letters(10)
    for size in (1, 2, 3):
        letters.put(letter(size))
    letters.take()

    assert letters.give_up() == [letter(2), letter(3)]
    assert (len(letters), letters.waiting) == (0, 1)


def test_one_that_comes_back_stands_before_the_others_or_behind_them() -> None:
    for last, order in ((False, [1, 2, 3]), (True, [2, 3, 1])):
        letters = Letters(10)
        for size in (1, 2, 3):
            letters.put(letter(size))
        taken = letters.take()
        assert taken is not None

        letters.put_back(taken, last=last)

        assert letters.waiting == 6
        assert [each.size for each in letters.give_up()] == order
