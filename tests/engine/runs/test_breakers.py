"""All breakers of an engine: what never moved is closed, and deadlines come in order."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine.breaker import OrderError, Signal
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.orders import OrderKind
from spanfuse_processor.engine.policy import BreakerLimits
from spanfuse_processor.engine.runs.breakers import Breakers
from spanfuse_processor.engine.verdicts import BreakerState, Transition

CHAT, MAIL = BreakerKey(Level.FEATURE, "chat"), BreakerKey(Level.FEATURE, "mail")
RUN = BreakerKey(Level.RUN, "r1")


def breakers() -> Breakers:
    return Breakers(BreakerLimits())


def test_what_never_moved_is_closed() -> None:
    made = breakers()

    assert (made.state(CHAT), made.get(CHAT), made.next_deadline()) == (BreakerState.CLOSED, None, None)


def test_time_moves_breakers_in_the_order_in_which_they_are_due() -> None:
    made = breakers()
    made.apply(MAIL, Signal.TRIP, 5.0)
    made.apply(CHAT, Signal.TRIP, 1.0)

    deadline = made.next_deadline()
    moved = made.advance(100.0)

    assert deadline == 31.0
    assert [move.key for move in moved if isinstance(move, Transition)] == [CHAT, MAIL]
    assert made.half_open == 2


def test_a_deadline_that_no_longer_holds_moves_nothing() -> None:
    made = breakers()
    made.apply(CHAT, Signal.TRIP, 0.0)
    made.order(CHAT, OrderKind.RELEASE, 1.0)

    assert made.advance(100.0) == []
    assert made.state(CHAT) is BreakerState.CLOSED


def test_a_runs_stop_is_forgotten_at_the_end_of_its_life() -> None:
    made = breakers()
    made.apply(RUN, Signal.TRIP, 0.0)

    assert made.advance(86_400.0) == [RUN]
    assert made.get(RUN) is None


def test_an_order_without_a_row_raises_and_leaves_no_breaker_behind() -> None:
    made = breakers()

    with pytest.raises(OrderError):
        made.order(CHAT, OrderKind.RELEASE, 0.0)

    assert made.get(CHAT) is None


def test_probes_close_what_is_half_open() -> None:
    made = breakers()
    made.apply(CHAT, Signal.TRIP, 0.0)
    made.advance(30.0)

    moves = [made.probed(CHAT, True, 31.0) for _ in range(5)]

    assert moves[-1] is not None
    assert made.half_open == 0


def test_a_probe_that_hangs_has_a_deadline() -> None:
    made = breakers()
    made.apply(CHAT, Signal.TRIP, 0.0)
    made.advance(30.0)

    made.probe(CHAT, 40.0)

    assert made.next_deadline() == 70.0
    assert [move.after for move in made.advance(70.0) if isinstance(move, Transition)] == [BreakerState.OPEN]


def test_forgetting_a_half_open_breaker_keeps_the_count_right() -> None:
    made = breakers()
    made.apply(CHAT, Signal.TRIP, 0.0)
    made.advance(30.0)

    made.forget(CHAT)
    made.forget(CHAT)

    assert made.half_open == 0
