"""When to try again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.wire.backoff import Backoff, Patience

PATIENCE = Patience(first=0.5, quick=1.0, quick_for=60.0, longest=30.0)


def ceilings(instants: list[float]) -> list[float]:
    backoff = Backoff(PATIENCE)
    return [backoff.delay(now, roll=1.0) for now in instants]


def test_the_first_minute_is_quick() -> None:
    assert ceilings([0.0, 0.5, 1.5, 30.0, 59.9]) == [0.5, 1.0, 1.0, 1.0, 1.0]


def test_after_a_minute_the_ceiling_doubles_up_to_the_longest() -> None:
    assert ceilings([0.0, 1.0, 60.0, 62.0, 66.0, 74.0, 90.0, 120.0, 9000.0]) == [
        0.5,
        1.0,
        2.0,
        4.0,
        8.0,
        16.0,
        30.0,
        30.0,
        30.0,
    ]


def test_a_delay_is_a_random_part_of_the_ceiling() -> None:
    assert Backoff(PATIENCE).delay(0.0, roll=0.0) == 0.0
    assert Backoff(PATIENCE).delay(0.0, roll=0.25) == 0.125


def test_an_outage_that_is_over_starts_again_at_the_first_ceiling() -> None:
    backoff = Backoff(PATIENCE)
    for now in (0.0, 100.0, 200.0, 300.0):
        backoff.delay(now, roll=1.0)
    backoff.reset()

    assert backoff.delay(1000.0, roll=1.0) == 0.5


@given(st.lists(st.tuples(st.floats(0, 600), st.floats(0, 1, exclude_max=True)), max_size=50))
def test_delays_are_never_negative_nor_longer_than_the_longest(steps: list[tuple[float, float]]) -> None:
    backoff, now = Backoff(PATIENCE), 0.0
    for pause, roll in steps:
        now += pause
        assert 0.0 <= backoff.delay(now, roll) <= PATIENCE.longest
