"""A lane: what a person says begins anew, what is asked for twice in one turn is one wish."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.making import ended

from spanfuse_processor.engine.calls import News
from spanfuse_processor.engine.lanes.lane import MAX_ANSWERS, MAX_FORGIVEN, Lane
from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints, Kind

SAME = Fingerprints("a", "a", "r", "r")


def tool(lane: Lane, at: int, until: int | None = None, *, effect: str = "read", **more: Any) -> News:
    """A tool was called from `at` to `until` nanoseconds."""
    event = ended(at, name="read", started_ns=at, ended_ns=at if until is None else until, prints=SAME)
    for name, value in more.items():
        setattr(event, name, value)
    return lane.take(event, effect, event.repeatable)


def model(lane: Lane, at: int = 1, asked: str = "", told: str = "", **more: Any) -> None:
    """A model answered at `at`."""
    prints = Fingerprints(asked, asked, told, told)
    lane.take(ended(at, kind=Kind.MODEL, started_ns=at, ended_ns=at, prints=prints, **more), "", False)


def heard(lane: Lane, asked: str, told: str = "answer", *, working: bool = False, **more: Any) -> None:
    """A user's message came with a request."""
    lane.working = working
    model(lane, asked=asked, told=told, user_turn=True, **more)


class TestAPersonWhoSpeaks:
    def test_begins_a_lane_anew(self) -> None:
        lane = Lane("main")
        lane.watch = object()
        tool(lane, 1)

        heard(lane, "question 1")

        assert (lane.tools, lane.watch, lane.silent) == (None, None, 1)

    def test_by_asking_the_same_again_does_not(self) -> None:
        lane = Lane("main")
        heard(lane, "question 1")
        tool(lane, 2)

        heard(lane, "question 1")

        assert lane.tools is not None

    def test_by_a_message_that_nobody_knows_does(self) -> None:
        lane = Lane("main")
        heard(lane, "")
        tool(lane, 2)

        heard(lane, "")

        assert lane.tools is None

    def test_while_results_are_still_to_be_told_is_a_program(self) -> None:
        lane = Lane("main")
        tool(lane, 1)

        heard(lane, "observation", working=True)

        assert lane.tools is not None

    def test_of_another_item_a_program_may_speak_too_when_its_answer_is_new(self) -> None:
        lane = Lane("main")
        fresh: dict[str, Any] = {"working": True, "fresh": True}

        tool(lane, 1)
        heard(lane, "ticket 1", "dear a", **fresh)
        assert lane.tools is None

        tool(lane, 2)
        heard(lane, "ticket 2", "dear a", **fresh)
        assert lane.tools is not None

        heard(lane, "ticket 2", "dear b", **fresh)
        assert lane.tools is not None

        heard(lane, "ticket 3", "", **fresh)
        assert lane.tools is not None


class TestTurns:
    def test_calls_between_two_answers_are_of_one_turn(self) -> None:
        lane = Lane("main")
        model(lane, 10)
        model(lane, 20)

        assert lane._same_turn(11, 19)
        assert not lane._same_turn(11, 21)
        assert lane._same_turn(21, 99)

    def test_without_an_answer_before_it_no_turn_is_known(self) -> None:
        lane = Lane("main")

        assert not lane._same_turn(1, 2)
        model(lane, 10)
        assert not lane._same_turn(1, 2)

    def test_answers_may_arrive_in_any_order(self) -> None:
        lane = Lane("main")
        for time in (30, 10, 20):
            model(lane, time)

        assert not lane._same_turn(15, 25)
        assert lane._same_turn(21, 29)

    def test_a_time_before_all_that_is_remembered_is_of_no_known_turn(self) -> None:
        lane = Lane("main")
        for time in range(2 * MAX_ANSWERS):
            model(lane, time)

        assert not lane._same_turn(1, 1)


class TestOneWish:
    def test_equal_reads_side_by_side(self) -> None:
        lane = Lane("main")

        assert [tool(lane, at, 100) for at in (1, 2, 3)] == [News.NEW, News.FORGIVEN, News.FORGIVEN]

    def test_reads_that_arrive_in_another_order_are_not_side_by_side(self) -> None:
        lane = Lane("main")

        assert [tool(lane, at, at + 5) for at in (30, 20, 10)] == [News.NEW, News.KNOWN, News.KNOWN]

    def test_equal_reads_of_one_turn_up_to_a_few(self) -> None:
        lane = Lane("main")
        model(lane, 10)

        news = [tool(lane, at) for at in range(11, 18)]

        assert news == [News.NEW, *[News.FORGIVEN] * MAX_FORGIVEN, News.KNOWN, News.KNOWN]

    def test_the_next_turn_is_forgiven_as_much(self) -> None:
        lane = Lane("main")
        news = []
        for turn in (10, 20):
            model(lane, turn)
            news += [tool(lane, turn + step) for step in range(1, 6)]

        assert news == [News.NEW, *[News.FORGIVEN] * 4, News.KNOWN, *[News.FORGIVEN] * 4]

    @pytest.mark.parametrize("effect", ["exec", "write", "send", "spawn"])
    def test_what_acts_is_as_many(self, effect: str) -> None:
        lane = Lane("main")

        assert [tool(lane, at, 100, effect=effect) for at in (1, 2)] == [News.NEW, News.KNOWN]

    def test_what_failed_and_is_tried_again_is_no_wish(self) -> None:
        lane = Lane("main")
        model(lane, 10)
        failed: dict[str, Any] = {"prints": Fingerprints("a", "a", error="e"), "error": "E"}

        assert [tool(lane, at, **failed) for at in (11, 12)] == [News.NEW, News.KNOWN]


class TestSilence:
    def test_it_is_counted_until_something_is_called(self) -> None:
        lane = Lane("main")

        model(lane)
        model(lane)
        assert (lane.silent, lane.working) == (2, False)

        tool(lane, 2)
        assert (lane.silent, lane.working) == (0, True)

    def test_an_answer_that_asks_for_tools_ends_it(self) -> None:
        lane = Lane("main")

        model(lane)
        model(lane, asks=True)

        assert lane.silent == 0

    def test_a_request_that_hands_on_what_a_tool_gave_ends_that_before_it(self) -> None:
        lane = Lane("main")

        model(lane)
        model(lane)
        model(lane, handed=True)

        assert lane.silent == 1

    @pytest.mark.parametrize(("found", "said"), [(1, 0), (0, 1)], ids=["found", "said"])
    def test_what_others_found_or_said_ends_that_before_it(self, found: int, said: int) -> None:
        lane = Lane("main")
        answer = ended(1, kind=Kind.MODEL, prints=SAME)

        lane.take(answer, "", False)
        lane.take(answer, "", False)
        lane.take(answer, "", False, found, said)
        assert lane.silent == 1

        lane.take(answer, "", False, found, said)
        assert lane.silent == 2


class TestWhatOnlyLetsTimePass:
    @pytest.mark.parametrize(
        ("effect", "prints", "waits"),
        [
            ("wait", SAME, True),
            ("read", SAME, False),
            ("wait", Fingerprints("a", "a", error="e", error_class=ErrorClass.PERMANENT), False),
            ("read", Fingerprints("a", "a", error="e", error_class=ErrorClass.TRANSIENT), True),
        ],
        ids=["a wait", "a read", "a wait that fails", "a failure that passes"],
    )
    def test_is_a_wait_or_what_passes_by_itself(self, effect: str, prints: Fingerprints, waits: bool) -> None:
        lane = Lane("main")

        tool(lane, 1, effect=effect, prints=prints)

        assert lane.tools is not None
        assert lane.tools.steps[-1].waits is waits


def test_tools_models_and_agents_are_apart() -> None:
    lane = Lane("main")

    assert lane.history(Kind.TOOL) is lane.tools is lane.history(Kind.TOOL)
    assert lane.history(Kind.MODEL) is lane.models
    assert lane.history(Kind.AGENT) is lane.agents
    assert len({id(lane.tools), id(lane.models), id(lane.agents)}) == 3


def test_of_an_agent_without_a_result_noise_in_its_task_is_not_forgiven() -> None:
    """Each agent of a group is told the whole conversation, of which the user's message is the task."""
    lane = Lane("main")
    prints = [Fingerprints(f"task and {n} messages", "task") for n in (1, 2)]
    events = [ended(n, kind=Kind.AGENT, prints=each) for n, each in enumerate(prints, 1)]

    assert [lane.take(event, "spawn", False) for event in events] == [News.NEW, News.NEW]


def test_an_agent_is_judged_by_what_it_was_asked_alone() -> None:
    lane = Lane("main")
    events = [ended(n, kind=Kind.AGENT, prints=Fingerprints("task", "task")) for n in (1, 2)]

    assert [lane.take(event, "spawn", False) for event in events] == [News.NEW, News.KNOWN]
