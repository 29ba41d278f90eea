"""What the times of steps tell: pauses, idleness, patience."""

from __future__ import annotations

import pytest
from tests.engine.lanes.feeding import call, feed
from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.lanes.history import History
from spanfuse_processor.engine.lanes.timing import grow
from spanfuse_processor.engine.nouns import Fingerprints


def test_a_pause_is_the_median_gap() -> None:
    history = History()
    for at in (0, 1, 2, 103):
        feed(history, call("A", at))

    assert history.pause(4) == 1.0
    assert history.pause(1) == 0.0


def test_idle_time_is_what_was_added_from_one_step_to_the_next() -> None:
    history = History()
    for number, idle in enumerate((0, 40, 80, 81), 1):
        feed(history, call("A", number), idle_ns=idle * SECOND)

    assert history.idle(3) == 20.5
    assert history.idle(4) == 40.0


def test_what_calls_took_is_the_median_of_the_latest() -> None:
    history = History()
    for number, seconds in enumerate((90, 40, 41, 2), 1):
        start = number * 100 * SECOND
        prints = Fingerprints("a", "a", "r", "r")
        feed(history, ended(number, prints=prints, started_ns=start, ended_ns=start + seconds * SECOND))

    assert history.took(3) == 40.0
    assert history.took(4) == 40.5
    assert History().took(3) == 0.0


def test_growing_gaps_are_a_back_off() -> None:
    patient, even = History(), History()
    for at in (0, 1, 3, 7):
        feed(patient, call("A", at, error="e"))
    for at in (0, 2, 4, 6):
        feed(even, call("A", at, error="e"))

    assert patient.backs_off(4)
    assert not even.backs_off(4)
    assert not patient.backs_off(2)


@pytest.mark.parametrize(
    ("gaps", "grows"), [([], False), ([1], False), ([0, 1], False), ([2, 3, 4], False), ([2, 3, 5], True)]
)
def test_each_gap_must_be_plainly_longer(gaps: list[int], grows: bool) -> None:
    assert grow(gaps) is grows
