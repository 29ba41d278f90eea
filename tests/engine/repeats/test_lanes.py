"""Lanes: which calls follow one another."""

from __future__ import annotations

from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.repeats.lanes import MAX_ANSWERS, MAX_LANES, MAX_PLACES, Lane, Lanes


def lane(
    lanes: Lanes, start: float, end: float, parent: int = 1, agents: tuple[str, ...] = ("main",)
) -> Lane:
    """The lane of a call below span `parent`, from `start` to `end` in seconds."""
    event = ended(900, parent, started_ns=int(start * SECOND), ended_ns=int(end * SECOND))
    return lanes.of(Call(event, "run", 1, 0, 0, agents, True), event.ended_ns)


def test_calls_below_one_span_are_in_one_lane() -> None:
    lanes = Lanes(12)

    assert lane(lanes, 0, 5) is lane(lanes, 1, 2)


def test_a_fresh_span_above_each_step_is_still_one_agent() -> None:
    lanes = Lanes(12)

    assert lane(lanes, 0, 1, parent=1) is lane(lanes, 2, 3, parent=2) is lane(lanes, 3, 4, parent=3)


def test_helpers_that_work_side_by_side_have_a_lane_each() -> None:
    lanes = Lanes(12)

    assert lane(lanes, 0, 2, parent=1) is not lane(lanes, 1, 3, parent=2)


def test_helpers_that_follow_one_another_share_a_lane() -> None:
    lanes = Lanes(12)
    lane(lanes, 0, 2, parent=1)
    second = lane(lanes, 1, 3, parent=2)

    assert lane(lanes, 4, 5, parent=3) is second


def test_agents_of_different_names_never_share_a_lane() -> None:
    lanes = Lanes(12)

    assert lane(lanes, 0, 1, 1, ("main", "a")) is not lane(lanes, 2, 3, 2, ("main", "b"))


def test_without_a_span_above_the_agent_tells_lanes_apart() -> None:
    lanes = Lanes(12)

    assert lane(lanes, 0, 1, 0, ("a",)) is lane(lanes, 2, 3, 0, ("a",))
    assert lane(lanes, 0, 1, 0, ("a",)) is not lane(lanes, 2, 3, 0, ("b",))


def test_clearing_forgets_all() -> None:
    lanes = Lanes(12)
    before = lane(lanes, 0, 1)

    lanes.clear()

    assert lane(lanes, 2, 3) is not before


def test_a_person_begins_a_lane_anew_and_a_program_does_not() -> None:
    at = Lane("main", 12)
    first = at.begin_tools()

    at.hear("question 1")
    second = at.begin_tools()
    at.hear("question 1")
    at.working = True
    at.hear("observation")

    assert first is not second
    assert at.tools is second


def test_another_item_of_a_program_begins_a_lane_anew_when_its_answer_is_new() -> None:
    at = Lane("main", 12)
    at.working = True

    kept = at.begin_tools()
    at.hear("ticket 1", fresh=True, told="dear a")
    assert at.tools is None

    kept = at.begin_tools()
    at.hear("ticket 2", fresh=True, told="dear a")
    assert at.tools is kept

    at.hear("ticket 2", fresh=True, told="dear b")
    assert at.tools is kept

    at.hear("ticket 3", fresh=True, told="")
    assert at.tools is kept


def test_lanes_and_the_spans_above_them_are_bounded() -> None:
    lanes = Lanes(12)

    for parent in range(1, 2 * MAX_PLACES):
        lane(lanes, 0, 1_000, parent)

    assert len(lanes._lanes) == MAX_LANES
    assert lanes._places is not None and len(lanes._places) == MAX_PLACES


class TestTurns:
    def test_calls_between_two_answers_are_of_one_turn(self) -> None:
        at = Lane("main", 12)
        at.answered(10)
        at.answered(20)

        assert at.same_turn(11, 19)
        assert not at.same_turn(11, 21)
        assert at.same_turn(21, 99)

    def test_without_an_answer_before_it_no_turn_is_known(self) -> None:
        at = Lane("main", 12)

        assert not at.same_turn(1, 2)
        at.answered(10)
        assert not at.same_turn(1, 2)

    def test_answers_may_arrive_in_any_order(self) -> None:
        at = Lane("main", 12)
        for time in (30, 10, 20):
            at.answered(time)

        assert not at.same_turn(15, 25)
        assert at.same_turn(21, 29)

    def test_a_time_before_all_that_is_remembered_is_of_no_known_turn(self) -> None:
        at = Lane("main", 12)
        for time in range(2 * MAX_ANSWERS):
            at.answered(time)

        assert not at.same_turn(1, 1)
