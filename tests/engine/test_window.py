"""The sliding window, against a naive recount."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.making import SECOND

from spanfuse_processor.engine.window import CELLS, Window

calls = st.tuples(
    st.integers(0, 300 * SECOND), st.integers(0, 1_000), st.integers(0, 1_000), st.integers(0, 10 * SECOND)
)


@given(st.lists(calls, max_size=60), st.integers(1, 90))
def test_the_sums_equal_a_naive_recount_whatever_the_order(told: list[tuple[int, ...]], seconds: int) -> None:
    window = Window(seconds)
    kept: list[tuple[int, ...]] = []
    newest = -1
    for call in told:
        second = call[0] // SECOND
        newest = max(newest, second)
        assert window.add(*call) == (second > newest - seconds)
        kept.append(call)

    # A call that was late when it came is late for good: the window only moves on.
    inside = [call for call in kept if newest - seconds < call[0] // SECOND]
    assert window.calls == len(inside)
    assert window.tokens == sum(call[1] for call in inside)
    assert window.cost == sum(call[2] for call in inside)
    assert window.mean_seconds == pytest.approx(
        sum(call[3] for call in inside) / len(inside) / SECOND if inside else 0.0
    )


def test_recent_pace_is_not_mixed_with_old_totals() -> None:
    window = Window(60)
    for _ in range(100):
        window.add(0, tokens=1_000)

    window.add(61 * SECOND, tokens=1)

    assert (window.calls, window.tokens) == (1, 1)


def test_a_late_call_goes_to_its_second() -> None:
    window = Window(60)
    window.add(50 * SECOND)

    assert window.add(10 * SECOND)
    assert window.add(49 * SECOND)
    assert window.calls == 3


def test_a_call_from_before_the_window_is_counted_as_late() -> None:
    window = Window(60)
    window.add(100 * SECOND)

    assert not window.add(40 * SECOND)
    assert (window.calls, window.late) == (1, 1)


def test_a_year_without_a_call_costs_no_year() -> None:
    window = Window(60)
    window.add(0)

    window.add(365 * 86_400 * SECOND)

    assert window.calls == 1


def test_memory_is_bounded_by_the_seconds() -> None:
    window = Window(10)
    for second in range(1_000):
        window.add(second * SECOND)

    assert len(window._rows) == 10 * CELLS


def test_an_empty_window_has_no_mean() -> None:
    assert Window(60).mean_seconds == 0.0
