"""The breaker under any sequence of signals and waits: no state outside the table, generations only grow."""

from __future__ import annotations

import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.making import Book, detectors, ended

from spanfuse_processor.engine.breaker import ORDERS, TRANSITIONS, Breaker, OrderError, Signal
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Level
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.policy import BreakerLimits, Policy
from spanfuse_processor.engine.verdicts import BreakerState, Directive, Transition

KEYS = st.sampled_from([BreakerKey(Level.RUN, "r"), BreakerKey(Level.FEATURE, "f")])
ACTS = st.sampled_from([Signal.TRIP, *sorted(ORDERS), "advance", "probe", "good", "bad"])
WAITS = st.sampled_from([0.0, 1.0, 29.0, 31.0, 700.0])


def act(on: Breaker, what: object, now: float) -> Transition | None:
    """One thing that may happen to a breaker."""
    if isinstance(what, Signal):
        return on.apply(what, now)
    if what == "probe":
        on.probe(now)
        return None
    return on.advance(now) if what == "advance" else on.probed(what == "good", now)


@given(KEYS, st.lists(st.tuples(ACTS, WAITS), max_size=60))
@settings(max_examples=400, deadline=None)
def test_every_move_is_a_row_of_the_table_and_starts_a_generation(
    key: BreakerKey, steps: list[tuple[object, float]]
) -> None:
    breaker, now = Breaker(key, BreakerLimits()), 0.0
    for what, wait in steps:
        now += wait
        before = breaker.state, breaker.generation
        moved = None
        with contextlib.suppress(OrderError):
            moved = act(breaker, what, now)

        after = breaker.state, breaker.generation
        if moved is None:
            assert after == before
        else:
            assert (moved.before, moved.after, moved.generation) == (before[0], after[0], after[1])
            assert after[1] == before[1] + 1
            assert after[0] in {state for (start, _), state in TRANSITIONS.items() if start is before[0]}
        assert key.level is Level.FEATURE or breaker.state is not BreakerState.HALF_OPEN
        assert breaker.cool_down in (0, 30, 60, 120, 240, 480, 600)


DEEDS = st.sampled_from(["call", "fail", *OrderKind])


@given(st.lists(st.tuples(DEEDS, st.integers(1, 2), WAITS), max_size=60))
@settings(max_examples=200, deadline=None)
def test_an_applications_board_ends_up_with_what_the_breakers_say(
    steps: list[tuple[str, int, float]],
) -> None:
    """Revisions only grow, each directive that is withdrawn stood, and what stands is what is shut."""
    made = Engine(Policy(), Book(), detectors=detectors(run=Unit.RUN, feature=Unit.FEATURE))
    board: dict[BreakerKey, Directive] = {}
    revision, now = 0, 0.0
    keys = [BreakerKey(Level.RUN, "r1"), BreakerKey(Level.RUN, "r2"), BreakerKey(Level.FEATURE, "f")]
    for number, (deed, run, wait) in enumerate(steps, start=1):
        now += wait
        said = made.advance(now)
        if isinstance(deed, OrderKind):
            said += made.command(Order(deed, keys[run]), now)
        else:
            error = "timeout" if deed == "fail" else ""
            event = ended(number, run_id=f"r{run}", identity=Identity(feature="f"), error=error)
            said += made.observe(event, now)
        for verdict in said:
            for item in (verdict.removal, verdict.directive):
                if item is not None:
                    assert item.revision > revision
                    revision = item.revision
            if verdict.removal is not None:
                gone = [key for key, held in board.items() if held.id == verdict.removal.id]
                assert len(gone) == 1
                del board[gone[0]]
            if verdict.directive is not None:
                board[verdict.directive.key] = verdict.directive

        shut = {key for key in keys if made._stops.breakers.state(key).name.endswith("OPEN")}
        half_open = {key for key in keys if made._stops.breakers.state(key) is BreakerState.HALF_OPEN}
        assert set(board) == shut - half_open
