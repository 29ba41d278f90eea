"""The pace of a throttle: who passes when."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanfuse.pace import Pace


def test_the_first_passes_at_once_and_the_others_one_gap_apart() -> None:
    pace = Pace(0.5)

    assert [pace.place(10.0).due for _ in range(3)] == [10.0, 12.0, 14.0]


def test_after_a_pause_as_many_pass_at_once_as_a_burst_has() -> None:
    pace = Pace(1.0, burst=3)
    first = [pace.place(0.0).due for _ in range(4)]

    later = [pace.place(1_000.0).due for _ in range(5)]

    assert first == [0.0, 0.0, 0.0, 1.0]
    assert later == [1_000.0, 1_000.0, 1_000.0, 1_001.0, 1_002.0]


def test_a_place_that_is_given_up_goes_to_those_behind_it() -> None:
    pace = Pace(1.0)
    _, second, third, fourth = (pace.place(0.0) for _ in range(4))

    pace.give_up(third)

    assert (second.due, fourth.due) == (1.0, 2.0)
    assert pace.place(0.0).due == 3.0


def test_a_place_is_given_up_once_and_not_after_it_was_used() -> None:
    pace = Pace(1.0)
    first, second = pace.place(0.0), pace.place(0.0)
    pace.passed(first)
    pace.give_up(first)
    pace.give_up(second)
    pace.give_up(second)

    assert pace.place(0.0).due == 1.0


def test_a_pace_that_is_all_but_nothing_is_still_a_time() -> None:
    pace = Pace(1e-320)
    pace.place(0.0)

    assert pace.place(0.0).due < float("inf")


@given(
    st.floats(0.1, 100.0),
    st.integers(1, 5),
    st.lists(st.floats(0.0, 3.0), min_size=1, max_size=60),
    st.sets(st.integers(0, 59)),
)
def test_never_more_pass_than_a_burst_and_the_rate_allow(
    rate: float, burst: int, gaps: list[float], quitters: set[int]
) -> None:
    """Whoever comes and whoever goes: in any stretch of time at most burst + rate * length pass."""
    pace, now, places = Pace(rate, burst), 0.0, []
    for number, gap in enumerate(gaps):
        now += gap
        place = pace.place(now)
        if number in quitters and place.due > now:
            pace.give_up(place)
        else:
            places.append(place)
    due = sorted(place.due for place in places)

    for first in range(len(due)):
        for last in range(first, len(due)):
            assert last - first + 1 <= burst + rate * (due[last] - due[first]) + 1e-6
