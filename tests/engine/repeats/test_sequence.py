"""Sequences: what repeats, counted against a dumb twin, and what is new in one look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.repeats.sequence import SAME_RESULT, Sequence


def call(letter: str, number: int = 1, *, result: str = "r", error: str = "", gap: float = 1.0) -> CallEnded:
    """A call of tool `letter`. A `~` in the result is noise."""
    prints = Fingerprints(letter, letter, result, result.rstrip("~"), error)
    at = int(number * gap * SECOND)
    return ended(number, name=letter, prints=prints, started_ns=at, ended_ns=at)


def fed(letters: str, period: int = 12) -> Sequence:
    """A sequence that was told one call for each letter."""
    sequence = Sequence(period)
    for number, letter in enumerate(letters, 1):
        feed(sequence, call(letter, number))
    return sequence


def feed(sequence: Sequence, event: CallEnded) -> None:
    prints = event.prints
    assert prints is not None
    if sequence.pass_by(event, prints):
        return
    sequence.count_end(event, prints)
    sequence.add(event, prints, sequence.latest(event, prints) is not None)


def recount(letters: str, period: int) -> int:
    """Letters at the end that equal the one a period before them, and that period; the dumb way."""
    count = 0
    while len(letters) - count > period and letters[-1 - count] == letters[-1 - count - period]:
        count += 1
    return count + period if count else 0


@given(st.text("ABC", min_size=1, max_size=60), st.integers(1, 12))
def test_runs_are_those_of_a_recount(letters: str, period: int) -> None:
    assert fed(letters).run(period) == recount(letters, period)


def test_equal_calls_in_a_row_are_a_run_of_period_one() -> None:
    assert fed("AAAAA").run(1) == 5
    assert fed("AAAAA").cycles() == []


def test_a_cycle_is_found_by_its_period() -> None:
    assert fed("ABABABAB").cycles()[0] == (2, 8)
    assert fed("ABCABCABC").cycles()[0] == (3, 9)
    assert dict(fed("ABCDEFGABCDEFGABCDEFG").cycles())[7] == 21


def test_one_return_alone_is_no_cycle() -> None:
    assert fed("ABA").cycles() == []


def test_equal_steps_far_apart_are_no_repeat() -> None:
    assert fed("ABCDEFGHIJKLMA").stale == 0


def test_what_is_new_begins_anew() -> None:
    sequence = fed("AAAA")
    sequence.told = 1

    feed(sequence, call("B", 5))

    assert (sequence.run(1), sequence.stale, sequence.told) == (0, 0, 0)


def test_noise_in_results_is_counted_apart() -> None:
    sequence = Sequence(12)
    for number in range(1, 5):
        feed(sequence, call("A", number, result="r" + "~" * number))

    assert sequence.run(1) == 4
    assert sequence.run(1, SAME_RESULT) == 0


def test_noise_is_never_taken_out_of_both_sides_at_once() -> None:
    sequence = Sequence(12)
    for number in range(1, 5):
        prints = Fingerprints(f"a{number}", "a", f"r{number}", "r")
        feed(sequence, ended(number, name="A", prints=prints))

    assert sequence.run(1) == 0


@pytest.mark.parametrize(
    "noisy",
    [
        Fingerprints("a1", "a", "r", "r"),
        Fingerprints("a", "a", "r1", "r"),
        Fingerprints("a1", "a", "", "", "e"),
    ],
)
def test_noise_may_come_and_go(noisy: Fingerprints) -> None:
    quiet = Fingerprints("a", "a", "" if noisy.error else "r", "" if noisy.error else "r", noisy.error)
    sequence = Sequence(12)
    for number, prints in enumerate((quiet, noisy, quiet), 1):
        feed(sequence, ended(number, name="A", prints=prints))

    assert sequence.run(1) == 3


def test_results_that_change_never_repeat() -> None:
    sequence = Sequence(12)
    for number in range(1, 40):
        assert sequence.pass_by(*said(call("A", number, result=f"r{number}")))

    assert sequence.stale == 0


def said(event: CallEnded) -> tuple[CallEnded, Fingerprints]:
    assert event.prints is not None
    return event, event.prints


def test_ends_alike_are_counted_whatever_was_asked() -> None:
    sequence = Sequence(12)
    for number in range(1, 6):
        prints = Fingerprints(f"a{number}", f"a{number}", error="e")
        feed(sequence, ended(number, name="A", prints=prints))

    assert sequence.ends == 5
    assert sequence.stale == 0


def test_a_call_whose_end_is_unknown_says_nothing() -> None:
    sequence = Sequence(12)

    assert sequence.pass_by(*said(ended(1, prints=Fingerprints("a", "a"))))
    assert sequence.steps == []


def test_a_failure_whose_arguments_are_unknown_is_counted_by_its_end_only() -> None:
    sequence = Sequence(12)
    event, prints = said(ended(1, prints=Fingerprints(error="e")))

    assert sequence.pass_by(event, prints)
    assert not sequence.pass_by(event, prints)
    assert sequence.count_end(event, prints) == 2


def test_a_pause_is_the_median_gap() -> None:
    sequence = Sequence(12)
    for at in (0, 1, 2, 103):
        feed(sequence, call("A", at))

    assert sequence.pause(4) == 1.0
    assert sequence.pause(1) == 0.0


def test_growing_gaps_are_a_back_off() -> None:
    patient, even = Sequence(12), Sequence(12)
    for at in (0, 1, 3, 7):
        feed(patient, call("A", at, error="e"))
    for at in (0, 2, 4, 6):
        feed(even, call("A", at, error="e"))

    assert patient.backs_off(4)
    assert not even.backs_off(4)
    assert not patient.backs_off(2)


def test_memory_is_bounded_by_the_longest_period() -> None:
    assert len(fed("ABCDE" * 100).steps) == 12
    assert fed("AB" * 10, period=1).run(1) == 0
