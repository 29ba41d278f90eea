"""The breaker: the table, the clock that is an argument, the generations."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from spanfuse_processor.engine.breaker import (
    ORDERS,
    TRANSITIONS,
    Breaker,
    OrderError,
    Signal,
    transitions_diagram,
)
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.policy import BreakerLimits
from spanfuse_processor.engine.verdicts import BreakerState

ROOT = Path(__file__).parents[2]
CLOSED, OPEN, HALF_OPEN = BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN
FEATURE = BreakerKey(Level.FEATURE, "chat")
RUN = BreakerKey(Level.RUN, "r1")


def breaker(key: BreakerKey = FEATURE) -> Breaker:
    return Breaker(key, BreakerLimits())


def tripped(key: BreakerKey = FEATURE) -> Breaker:
    made = breaker(key)
    made.apply(Signal.TRIP, 0.0)
    return made


def half_open() -> Breaker:
    made = tripped()
    made.advance(30.0)
    return made


@pytest.mark.parametrize(("state", "signal"), list(itertools.product(BreakerState, Signal)))
def test_a_breaker_moves_as_the_table_says_and_not_otherwise(state: BreakerState, signal: Signal) -> None:
    made = breaker()
    made.state = state
    after = TRANSITIONS.get((state, signal))

    if after is None and signal in ORDERS:
        with pytest.raises(OrderError):
            made.apply(signal, 0.0)
    else:
        made.apply(signal, 0.0)

    assert made.state is (after or state)
    assert made.generation == (after is not None)


def test_evidence_of_an_older_generation_is_dropped() -> None:
    made = half_open()

    moved = made.apply(Signal.TRIP, 31.0, generation=made.generation - 1)

    assert moved is None
    assert made.state is HALF_OPEN


def test_cooling_doubles_with_each_trip_up_to_ten_minutes() -> None:
    made, now, waits = tripped(), 0.0, []

    for _ in range(7):
        waits.append(made.cool_down)
        now += made.cool_down
        made.advance(now)
        made.apply(Signal.TRIP, now)

    assert waits == [30, 60, 120, 240, 480, 600, 600]


def test_a_return_to_normal_forgets_how_often_it_tripped() -> None:
    made = half_open()
    for _ in range(5):
        made.probed(True, 31.0)

    made.apply(Signal.TRIP, 40.0)

    assert made.cool_down == 30.0


def test_an_open_breaker_does_not_cool_before_its_time() -> None:
    made = tripped()

    assert made.advance(29.9) is None
    assert made.state is OPEN


def test_two_probes_at_once_are_let_through_and_no_third() -> None:
    made = half_open()

    assert [made.probe(31.0), made.probe(31.0), made.probe(31.0)] == [2, 2, None]


def test_five_clean_probes_in_a_row_close_it() -> None:
    made = half_open()

    moves = [made.probed(True, 31.0) for _ in range(5)]

    assert moves[:4] == [None] * 4
    assert moves[4] is not None
    assert moves[4].after is CLOSED


def test_one_failed_probe_reopens_it_and_the_count_starts_anew() -> None:
    made = half_open()
    for _ in range(4):
        made.probed(True, 31.0)

    made.probed(False, 32.0)
    made.advance(32.0 + made.cool_down)

    assert made.state is HALF_OPEN
    assert made.clean == 0


def test_a_probe_without_an_answer_in_thirty_seconds_reopens_it() -> None:
    made = half_open()
    made.probe(31.0)

    deadline = made.deadline
    early, moved = made.advance(60.9), made.advance(61.0)

    assert deadline == 61.0
    assert early is None
    assert moved is not None
    assert moved.after is OPEN


def test_half_open_waits_for_probes_as_long_as_it_takes() -> None:
    made = half_open()

    assert made.deadline is None
    assert made.advance(10_000.0) is None


def test_the_answer_to_a_probe_of_an_older_generation_is_dropped() -> None:
    made = half_open()
    leave = made.probe(31.0)
    made.probed(False, 32.0)
    made.advance(32.0 + made.cool_down)

    moved = made.probed(False, 100.0, generation=leave)

    assert moved is None
    assert made.state is HALF_OPEN


def test_a_run_stays_open_for_its_life() -> None:
    made = tripped(RUN)

    assert made.advance(1e9) is None
    assert made.state is OPEN
    assert made.deadline == BreakerLimits().run_ttl


def test_an_operators_stop_does_not_cool() -> None:
    made = breaker()

    made.apply(Signal.KILL, 0.0)

    assert made.advance(1e9) is None
    assert made.state is BreakerState.FORCED_OPEN


def test_a_disabled_breaker_cannot_be_tripped() -> None:
    made = breaker()
    made.apply(Signal.DISABLE, 0.0)

    assert made.apply(Signal.TRIP, 1.0) is None
    assert made.state is BreakerState.DISABLED


def test_an_order_that_holds_already_says_so() -> None:
    made = breaker()

    with pytest.raises(OrderError, match="feature/chat is closed: cannot release"):
        made.apply(Signal.RELEASE, 0.0)


def test_every_row_of_the_table_is_in_the_diagram() -> None:
    diagram = transitions_diagram()

    for (before, signal), after in TRANSITIONS.items():
        arrow = next(line for line in diagram.splitlines() if f"{before.name} --> {after.name}:" in line)
        assert signal.value in arrow


def test_the_page_about_the_breaker_is_made_from_the_table() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/breaker_page.py", "--check"], cwd=ROOT, timeout=60, check=False
    )

    assert done.returncode == 0, "stale: run scripts/breaker_page.py"
