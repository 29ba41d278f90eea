"""Lanes: which calls follow one another, and what is known of each."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.making import SECOND, ended, started

from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.lanes.lane import Lane
from spanfuse_processor.engine.lanes.lanes import Lanes
from spanfuse_processor.engine.lanes.places import MAX_LANES, MAX_PLACES, Many
from spanfuse_processor.engine.nouns import Fingerprints, Kind
from spanfuse_processor.engine.policy import Effect, ToolRule


def lane(
    lanes: Lanes, start: float, end: float, parent: int = 1, agents: tuple[str, ...] = ("main",)
) -> Lane:
    """The lane of a call below span `parent`, from `start` to `end` in seconds."""
    event = ended(900, parent, started_ns=int(start * SECOND), ended_ns=int(end * SECOND))
    found = lanes.place(Call(event, "run", 1, 0, 0, agents, True))
    assert found is not None
    return found


def placed(lanes: Lanes, kind: Kind = Kind.TOOL, cost: int | None = None, **more: Any) -> Call:
    """A call of the main agent, as it is after it was placed."""
    more = {"prints": Fingerprints("a", "a", "r", "r")} | more
    call = Call(ended(900, 1, kind, **more), "run", 1, 0, 0, ("main",), True, cost=cost)
    lanes.place(call)
    return call


class TestWhoseCallsFollow:
    def test_calls_below_one_span_are_in_one_lane(self) -> None:
        lanes = Lanes({})

        assert lane(lanes, 0, 5) is lane(lanes, 1, 2)

    def test_a_fresh_span_above_each_step_is_still_one_agent(self) -> None:
        lanes = Lanes({})

        assert lane(lanes, 0, 1, parent=1) is lane(lanes, 2, 3, parent=2) is lane(lanes, 3, 4, parent=3)

    def test_helpers_that_work_side_by_side_have_a_lane_each(self) -> None:
        lanes = Lanes({})

        assert lane(lanes, 0, 2, parent=1) is not lane(lanes, 1, 3, parent=2)

    def test_helpers_that_follow_one_another_share_a_lane(self) -> None:
        lanes = Lanes({})
        lane(lanes, 0, 2, parent=1)
        second = lane(lanes, 1, 3, parent=2)

        assert lane(lanes, 4, 5, parent=3) is second

    def test_a_place_keeps_its_lane_though_others_were_turned_to(self) -> None:
        lanes = Lanes({})
        first, second = lane(lanes, 0, 2, parent=1), lane(lanes, 1, 3, parent=2)

        assert lane(lanes, 4, 5, parent=1) is first
        assert lane(lanes, 4, 5, parent=2) is second

    def test_agents_of_different_names_never_share_a_lane(self) -> None:
        lanes = Lanes({})

        assert lane(lanes, 0, 1, 1, ("main", "a")) is not lane(lanes, 2, 3, 2, ("main", "b"))

    def test_without_a_span_above_the_agent_tells_lanes_apart(self) -> None:
        lanes = Lanes({})

        assert lane(lanes, 0, 1, 0, ("a",)) is lane(lanes, 2, 3, 0, ("a",))
        assert lane(lanes, 0, 1, 0, ("a",)) is not lane(lanes, 2, 3, 0, ("b",))

    def test_clearing_forgets_all(self) -> None:
        lanes = Lanes({})
        before = lane(lanes, 0, 1)

        lanes.clear()

        assert lane(lanes, 2, 3) is not before

    def test_lanes_and_the_spans_above_them_are_bounded(self) -> None:
        lanes = Lanes({})

        for parent in range(1, 2 * MAX_PLACES):
            lane(lanes, 0, 1_000, parent)

        assert isinstance(lanes._places, Many)
        assert (len(lanes._places.lanes), len(lanes._places.by_place)) == (MAX_LANES, MAX_PLACES)


class TestWhatHasNone:
    @pytest.mark.parametrize("kind", [Kind.EMBEDDINGS, Kind.WORKFLOW, Kind.OTHER])
    def test_what_no_agent_does(self, kind: Kind) -> None:
        assert placed(Lanes({}), kind).lane is None

    def test_what_has_only_begun(self) -> None:
        assert Lanes({}).place(Call(started(1), "run", 1, 0, 0, ("main",), False)) is None

    @pytest.mark.parametrize("tool", ["think", "sequential_thinking"])
    def test_a_thought_that_is_taken_down(self, tool: str) -> None:
        assert placed(Lanes({}), name=tool).lane is None

    @pytest.mark.parametrize("kind", [Kind.AGENT, Kind.WORKFLOW, Kind.OTHER])
    def test_what_a_person_says_to_the_outermost_agent_which_clears_all(self, kind: Kind) -> None:
        lanes = Lanes({})
        before = lane(lanes, 0, 1)

        said = Call(ended(5, kind=kind, user_turn=True), "run", 1, 0, 0, (), True)

        assert lanes.place(said) is None
        assert lane(lanes, 2, 3) is not before

    def test_what_is_said_to_an_inner_agent_clears_nothing(self) -> None:
        lanes = Lanes({})
        before = lane(lanes, 0, 1)

        lanes.place(Call(ended(5, kind=Kind.AGENT, user_turn=True), "run", 1, 1, 0, ("main",), True))

        assert lane(lanes, 2, 3) is before


class TestWhatACallIsTold:
    def test_whether_it_brought_something_new(self) -> None:
        lanes = Lanes({})

        said = [placed(lanes, started_ns=at * SECOND, ended_ns=at * SECOND).news for at in (1, 2)]

        assert said == [News.NEW, News.KNOWN]

    @pytest.mark.parametrize("prints", [None, Fingerprints("a", "a"), Fingerprints(result="r")])
    def test_that_nobody_knows(self, prints: Fingerprints | None) -> None:
        lanes = Lanes({})

        assert {placed(lanes, prints=prints).news for _ in range(3)} == {News.UNKNOWN}

    def test_the_effect_that_policy_says_before_the_one_declared_before_the_one_of_its_name(self) -> None:
        rules = {"push": ToolRule(effect=Effect.SEND)}

        assert placed(Lanes(rules), name="push", effect="exec").effect == "send"
        assert placed(Lanes({}), name="read", effect="exec").effect == "exec"
        assert placed(Lanes({}), name="read").effect == "read"
        assert placed(Lanes({}), Kind.AGENT, name="read").effect == "spawn"
        assert placed(Lanes({}), Kind.MODEL, name="read").effect == ""

    def test_that_it_may_repeat(self) -> None:
        lanes = Lanes({"ping": ToolRule(repeatable=True)})

        first, again = placed(lanes, name="ping"), placed(lanes, name="ping")

        assert (first.repeatable, first.news) == (True, News.NEW)
        assert (again.repeatable, again.news) == (True, News.FORGIVEN)

    def test_what_the_models_of_its_lane_have_cost(self) -> None:
        lanes = Lanes({})
        for kind in (Kind.MODEL, Kind.TOOL, Kind.MODEL):
            call = placed(lanes, kind, cost=7)

        assert call.lane.cost == 14


class TestWhatOthersDo:
    """Two agents in one run: a supervisor, below span 7, and the coder that it hands over to, below 8."""

    def call(self, lanes: Lanes, at: int, who: str, name: str, result: str, kind: Kind = Kind.TOOL) -> Call:
        event = ended(
            at, 7 if who == "supervisor" else 8, kind, name=name,
            started_ns=at * SECOND, ended_ns=at * SECOND, prints=Fingerprints("a", "a", result, result),
        )  # fmt: skip
        call = Call(event, "run", at, 0, 0, (who,), True)
        lanes.place(call)
        return call

    def supervised(self, results: list[str], coder: str = "coder") -> list[News]:
        """What each hand-over brought, each followed by one look of the coder at something."""
        lanes, news = Lanes({}), []
        for at, result in enumerate(results):
            news.append(self.call(lanes, 10 * at + 1, "supervisor", "transfer_to_coder", "done").news)
            self.call(lanes, 10 * at + 2, coder, "read", result)
        return news

    def test_a_hand_over_is_new_while_it_brings_new_results(self) -> None:
        assert self.supervised([f"r{n}" for n in range(30)]) == [News.NEW] * 30

    @pytest.mark.parametrize("coder", ["coder", "supervisor"])
    def test_without_them_it_is_known_after_one_more(self, coder: str) -> None:
        """Not even where both are in one lane, and each call follows a hand-over or is one."""
        assert self.supervised(["r"] * 9, coder) == [News.NEW, News.NEW, *[News.KNOWN] * 7]

    def test_an_answer_that_another_agent_had_not_given_before_breaks_a_silence(self) -> None:
        silent = []
        for drafts in (["a", "b", "c", "d"], ["a", "a", "a", "a"]):
            lanes = Lanes({})
            for at, draft in enumerate(drafts):
                self.call(lanes, 10 * at + 1, "writer", "gpt", draft, Kind.MODEL)
                critic = self.call(lanes, 10 * at + 2, "supervisor", "gpt", "REVISE", Kind.MODEL)
            silent.append(critic.lane.silent)

        assert silent == [1, 4]

    def test_an_agents_own_answers_do_not(self) -> None:
        lanes = Lanes({})

        calls = [self.call(lanes, at, "writer", "gpt", f"{at}", Kind.MODEL) for at in range(1, 9)]

        assert calls[-1].lane.silent == 8


class TestIdleTime:
    def test_it_is_the_time_without_an_open_call(self) -> None:
        lanes = Lanes({})
        lane(lanes, 10, 12)
        lane(lanes, 15, 16)
        lane(lanes, 11, 13)  # it came late, and was no pause

        assert lane(lanes, 18, 19).idle_ns == 5 * SECOND

    def test_before_the_first_call_there_is_none(self) -> None:
        assert lane(Lanes({}), 10, 12).idle_ns == 0
