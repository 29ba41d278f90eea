"""The pace of calls, against a window that does the same with more memory, and a naive recount."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.making import SECOND

from spanfuse_processor.engine.pace import STILL, add, calls, slowest
from spanfuse_processor.engine.window import Window

moments = st.one_of(st.lists(st.integers(0, seconds * SECOND), max_size=60) for seconds in (3, 12, 300))


@given(moments, st.integers(1, 90))
def test_it_counts_what_a_window_counts_whatever_the_order(told: list[int], seconds: int) -> None:
    pace, window = STILL, Window(seconds)

    for at in told:
        pace = add(pace, at, seconds)
        window.add(at)
        assert calls(pace) == window.calls


@given(moments, st.integers(1, 20))
def test_the_slowest_of_the_whole_seconds_equals_a_naive_recount(told: list[int], seconds: int) -> None:
    pace = STILL
    for at in told:
        pace = add(pace, at, 60)

    newest = max((at // SECOND for at in told), default=-1)
    in_second = Counter(at // SECOND for at in told)
    assert slowest(pace, seconds) == min(in_second[second] for second in range(newest - seconds, newest))


def test_no_seconds_at_all_have_no_slowest() -> None:
    assert slowest(add(STILL, 0, 60), 0) == 0


def test_a_thousand_calls_in_one_second_take_no_more_than_one() -> None:
    pace = STILL
    for _ in range(1_000):
        pace = add(pace, 5 * SECOND, 60)

    assert (calls(pace), len(pace)) == (1_000, len(add(STILL, 0, 60)))


def test_what_is_older_than_the_window_is_not_counted() -> None:
    pace = add(STILL, 100 * SECOND, 60)

    assert add(pace, 40 * SECOND, 60) == pace
    assert calls(add(pace, 41 * SECOND, 60)) == 2
