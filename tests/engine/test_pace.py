"""The pace of calls, against a window that does the same with more memory, and a naive recount."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.making import SECOND

from spanfuse_processor.engine.pace import Pace
from spanfuse_processor.engine.window import Window

moments = st.one_of(st.lists(st.integers(0, seconds * SECOND), max_size=60) for seconds in (3, 12, 300))


@given(moments, st.integers(1, 90))
def test_it_counts_what_a_window_counts_whatever_the_order(told: list[int], seconds: int) -> None:
    pace, window = Pace(), Window(seconds)

    for at in told:
        pace = pace.add(at, seconds)
        window.add(at)
        assert pace.calls == window.calls


@given(moments, st.integers(1, 20))
def test_the_slowest_of_the_whole_seconds_equals_a_naive_recount(told: list[int], seconds: int) -> None:
    pace = Pace()
    for at in told:
        pace = pace.add(at, 60)

    newest = max((at // SECOND for at in told), default=-1)
    in_second = Counter(at // SECOND for at in told)
    assert pace.slowest(seconds) == min(in_second[second] for second in range(newest - seconds, newest))


def test_no_seconds_at_all_have_no_slowest() -> None:
    assert Pace().add(0, 60).slowest(0) == 0


def test_a_thousand_calls_in_one_second_take_no_more_than_one() -> None:
    pace = Pace()
    for _ in range(1_000):
        pace = pace.add(5 * SECOND, 60)

    assert (pace.calls, len(pace)) == (1_000, len(Pace().add(0, 60)))


def test_what_is_older_than_the_window_is_not_counted() -> None:
    pace = Pace().add(100 * SECOND, 60)

    assert pace.add(40 * SECOND, 60) is pace
    assert pace.add(41 * SECOND, 60).calls == 2
