"""Lineage: which run a request belongs to, and which tool call is told by whom."""

from __future__ import annotations

import pytest
from tests.library.making import scope

from spanfuse.lineage import REMEMBERED, Asked, Lineage, Trail


def asked(name: str = "c1", tool: str = "search", exact: str = "x", run: str = "r1") -> Asked:
    return Asked(name, tool, exact, (exact, exact), "", 1.0, Trail(scope(run)))


def answered(*calls: Asked, response: str = "") -> Lineage:
    lineage = Lineage()
    for call in calls:
        lineage.answered(response, [call], call.trail)
    return lineage


def test_a_request_with_an_answer_belongs_to_the_run_that_asked() -> None:
    lineage = answered(asked())

    assert lineage.trail_of(["unknown", "c1"], "") == Trail(scope("r1"))
    assert lineage.trail_of(["unknown"], "") is None


def test_a_request_that_continues_a_response_belongs_to_its_run() -> None:
    lineage = answered(asked(), response="resp_1")

    assert lineage.trail_of([], "resp_1") == Trail(scope("r1"))
    assert lineage.trail_of([], "") is None


def test_an_asked_call_is_told_once() -> None:
    lineage = answered(asked())

    assert lineage.tell("c1", "r1") == asked_told()
    assert lineage.tell("c1", "r1") is None


def asked_told() -> Asked:
    call = asked()
    call.told = True
    return call


def test_a_call_that_a_decorated_tool_carries_out_is_not_told_by_its_answer() -> None:
    lineage = answered(asked(exact="x"), asked("c2", exact="y"))

    carried = lineage.carried_out("search", "y", "r1")

    assert carried is not None
    assert carried.id == "c2"
    assert lineage.tell("c2", "r1") is None
    assert lineage.tell("c1", "r1") is not None


def test_within_a_run_the_name_is_enough() -> None:
    """The program may have converted what the model wrote."""
    lineage = answered(asked(exact="x"), asked("c2", exact="y"))

    carried = lineage.carried_out("search", "converted", "r1")

    assert carried is not None
    assert carried.id == "c1"  # the oldest


def test_where_two_runs_wait_for_the_tool_only_equal_arguments_tell_which() -> None:
    lineage = answered(asked(exact="x", run="r1"), asked("c2", exact="y", run="r2"))

    assert lineage.carried_out("search", "neither", "") is None
    found = lineage.carried_out("search", "y", "")
    assert found is not None
    assert found.trail.scope.id == "r2"


def test_a_tool_of_another_run_is_not_taken() -> None:
    assert answered(asked(run="r1")).carried_out("search", "x", "r2") is None


def test_ids_that_a_provider_uses_again_are_new_calls() -> None:
    lineage = answered(asked("call_0"))
    lineage.tell("call_0", "r1")

    lineage.answered("", [asked("call_0", exact="second")], Trail(scope("r1")))

    second = lineage.tell("call_0", "r1")
    assert second is not None
    assert second.exact == "second"


def test_the_same_id_in_two_runs_is_two_calls() -> None:
    lineage = answered(asked("call_0", exact="x", run="r1"), asked("call_0", exact="y", run="r2"))

    first, second = lineage.tell("call_0", "r1"), lineage.tell("call_0", "r2")

    assert first is not None
    assert second is not None
    assert (first.exact, second.exact) == ("x", "y")


def test_what_nobody_waits_for_costs_one_look() -> None:
    lineage = answered(asked())

    assert lineage.expects("search")
    lineage.carried_out("search", "x", "")
    assert not lineage.expects("search")


NOTES = "Answer the question. " * 20
STEP = "Thought: look it up. Action: search. Observation: the same five urls. "


@pytest.mark.parametrize("ending", ["", "What do you do next? Answer with one action."])
def test_notes_that_grow_in_one_text_go_on(ending: str) -> None:
    lineage = Lineage()

    said = [lineage.goes_on("r1", NOTES + STEP * step + ending) for step in range(4)]

    assert said == [False, True, True, True]


def test_items_of_one_template_do_not_go_on() -> None:
    lineage = Lineage()

    said = [
        lineage.goes_on("r1", f"{NOTES} Ticket {number}: {'it is broken ' * (number % 2)}")
        for number in range(6)
    ]

    assert sum(said) <= 3
    assert said[0] is False
    assert [lineage.goes_on("r2", f"ticket {number}") for number in range(9)] == [False] * 9


def test_requests_of_another_run_or_of_more_than_text_do_not_go_on() -> None:
    lineage = Lineage()
    lineage.goes_on("r1", NOTES)

    assert not lineage.goes_on("r2", NOTES + STEP)
    assert not lineage.goes_on("r1", [NOTES, STEP])


def test_it_is_bounded() -> None:
    lineage = Lineage()
    for number in range(REMEMBERED + 100):
        lineage.answered(f"resp_{number}", [asked(f"c{number}", f"tool{number}")], Trail(scope("r1")))

    assert lineage.trail_of(["c0"], "resp_0") is None
    assert not lineage.expects("tool0")
    assert lineage.trail_of([f"c{REMEMBERED + 99}"], "") is not None
    assert len(lineage._waiting) <= REMEMBERED
