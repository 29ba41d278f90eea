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


def test_the_old_are_given_up_and_the_young_stay() -> None:
    letters = Letters(10)
    for since in (1.0, 2.0, 3.0):
        letters.put(letter(1, since))

    assert [each.since for each in letters.give_up(before=3.0)] == [1.0, 2.0]
    assert (len(letters), letters.waiting) == (1, 1)
    assert [each.since for each in letters.give_up()] == [3.0]
