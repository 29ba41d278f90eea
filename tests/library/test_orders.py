"""Which orders are obeyed, and why others are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spanfuse.orders import REFUSING, SPARING, SUPPORTED, objection, pace_of, rank
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Degrading, Reach
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

PLAIN = Directive("x", 1, BreakerKey(Level.FEATURE, "chat"))
BUDGET = BreakerKey(Level.BUDGET, "daily")
HALF = (("calls_per_second", 0.5),)


def order(**more: Any) -> Directive:
    return replace(PLAIN, **more)


@pytest.mark.parametrize(
    "directive",
    [
        PLAIN,
        order(action=Action.BLOCK_TOOL),
        order(key=BUDGET, reach=Reach()),
        order(action=Action.THROTTLE, params=HALF),
        order(action=Action.THROTTLE, params=(*HALF, ("burst", 3.0))),
        order(action=Action.DEGRADE, degrading=Degrading()),
    ],
)
def test_what_can_be_carried_out_is_not_objected_to(directive: Directive) -> None:
    assert objection(directive) == ""


@pytest.mark.parametrize(
    ("directive", "says"),
    [
        (order(action=Action.PAUSE), "cannot carry out pause"),
        (order(key=BUDGET), "which calls it reaches"),
        (order(reach=Reach()), "which calls it reaches"),
        (order(action=Action.DEGRADE), "what is to be given up"),
        (order(action=Action.THROTTLE), "how many calls a second"),
        (order(action=Action.THROTTLE, params=(("calls_per_second", 0.0),)), "how many calls a second"),
        (order(action=Action.THROTTLE, params=(("calls_per_second", float("nan")),)), "how many calls"),
        (order(action=Action.THROTTLE, params=(*HALF, ("max_in_flight", 2.0))), "throttle by max_in_flight"),
    ],
)
def test_what_cannot_be_carried_out_to_the_letter_is_objected_to(directive: Directive, says: str) -> None:
    assert says in objection(directive)


def test_a_stop_goes_before_all_and_a_mode_before_an_action() -> None:
    ladder = [
        order(priority=1),
        order(),
        order(action=Action.BLOCK_TOOL),
        order(action=Action.THROTTLE),
        order(action=Action.DEGRADE),
        order(mode=Mode.WARN),
        order(mode=Mode.SHADOW),
    ]

    assert sorted(reversed(ladder), key=rank) == ladder


def test_every_action_that_is_supported_has_a_rank() -> None:
    assert SUPPORTED == REFUSING | SPARING | {Action.REQUIRE_LEASE}
    assert len({rank(order(action=action)) for action in SUPPORTED}) == len(SUPPORTED)


def test_a_throttle_lets_one_through_at_a_time_unless_it_says_otherwise() -> None:
    assert pace_of(order(params=HALF)) == (0.5, 1)
    assert pace_of(order(params=(*HALF, ("burst", 4.0)))) == (0.5, 4)
