"""The treasury at the limit: a budget that is spent says so, and nothing that was forecast any more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engine.budgets.days import HOURLY, Day

from spanfuse_processor.engine.budget import Forecasting, Mark, Reaction
from spanfuse_processor.engine.budgets import orders
from spanfuse_processor.engine.reach import Degrading
from spanfuse_processor.engine.verdicts import Action, Directive

FORESEEN = replace(
    HOURLY,
    limit=1_000_000,
    forecast=Forecasting(react=Reaction.DEGRADE),
    degrading=Degrading(models=(("*", "small"),)),
)
FORECAST = {"imminent", "runaway", "likely"}


def fast(day: Day) -> None:
    """Nothing much for a while, and then all of it."""
    for _ in range(120):
        day.spend(0.0005, after=5.0)
    while day.treasury.views(day.wall)[0].balance.left:
        day.spend(0.05)


def the_stop(day: Day) -> Directive:
    (stop,) = [
        note.directive for note in day.notes if note.directive and note.directive.action is Action.STOP
    ]
    return stop


def test_the_order_at_the_limit_says_that_it_is_reached_in_the_units_of_people() -> None:
    day = Day(FORESEEN)
    fast(day)

    stop = the_stop(day)
    assert "has reached its limit" in stop.message
    assert "as soon as the limit is raised" in stop.message
    assert stop.evidence.rule == "mark"
    assert "Rule budget.mark: 1.01 USD, limit 1.00 USD." in stop.evidence.words()


def test_when_all_comes_in_one_look_the_gravest_is_the_reason() -> None:
    day = Day(FORESEEN)
    for _ in range(120):
        day.spend(0.0005, after=5.0)
    day.spend(1.0)

    assert day.told == [("mark", 0.5), ("mark", 0.8), ("mark", 1.0)]
    assert "has reached its limit" in the_stop(day).message
    assert day.orders == ["stop"]


def test_nothing_is_foretold_of_a_budget_that_is_spent_already() -> None:
    day = Day(FORESEEN)
    fast(day)
    before = len(day.told)
    for _ in range(60):
        day.spend(0.01)
        day.wait(5.0)

    assert not FORECAST & {said for said, _ in day.told[before:]}


@pytest.mark.parametrize("marks", [(), (Mark(0.5),)])
def test_nor_of_one_that_nothing_stops_and_what_was_ordered_stands(marks: tuple[Mark, ...]) -> None:
    day = Day(replace(FORESEEN, marks=marks))
    for _ in range(120):
        day.spend(0.0005, after=5.0)
    for _ in range(30):
        day.spend(1.2, after=0.5)

    assert day.told == [("mark", mark.at) for mark in marks]
    assert day.orders == ["degrade"]
    (order,) = [note.directive for note in day.notes if note.directive]
    assert "has reached its limit" in order.message


def test_what_gives_way_to_a_stop_is_not_said_to_be_lifted_for_calm() -> None:
    day = Day(
        replace(FORESEEN, marks=(Mark(0.3, Reaction.THROTTLE), Mark(1.0, Reaction.STOP)), block_after=0.0)
    )
    fast(day)

    lifted = {note.removal.id.rpartition("/")[2]: note.removal.reason for note in day.notes if note.removal}
    assert lifted.pop("throttle") == orders.STOPPED
    assert set(lifted.values()) <= {orders.STOPPED}
