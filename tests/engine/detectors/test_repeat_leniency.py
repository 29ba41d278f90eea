"""Repeats that are none: waiting, wishes of one turn, helpers side by side, schedules, the unseen."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, stopped_at
from tests.engine.making import ended, started

from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import ToolRule

SAME: dict[str, Any] = {"arguments": {"q": "x"}, "result": "the same result"}


class TestWaiting:
    def test_a_poll_may_be_answered_alike_for_long(self) -> None:
        watch = Watch()
        for _ in range(29):
            watch.tool("check_status", {"job": 7}, "running")

        assert (watch.warned, watch.stopped) == (12, None)

    def test_a_busy_poll_stops_in_the_end(self) -> None:
        assert stopped_at([{"name": "check_status", **SAME}] * 60, gap=1.0) == 30

    def test_a_patient_poll_never_stops(self) -> None:
        assert stopped_at([{"name": "check_status", **SAME}] * 200, gap=30.0) is None

    @pytest.mark.parametrize("tool", ["job_status", "read_row", "frobnicate"])
    def test_a_poll_with_a_changing_progress_figure_says_nothing(self, tool: str) -> None:
        watch = Watch()
        for n in range(1, 13):
            state = "done" if n == 12 else "running"
            watch.tool(tool, {"job": "export-7"}, {"state": state, "progress": n * 100 // 12})

        assert watch.findings == []

    def test_a_look_and_a_sleep_in_turn_are_waiting(self) -> None:
        calls = [
            {"name": "read_log", "arguments": {}, "result": "nothing yet"},
            {"name": "sleep", "arguments": {}, "result": ""},
        ]

        assert stopped_at(calls * 12, gap=8.0) is None

    def test_what_waits_and_fails_is_failing(self) -> None:
        assert stopped_at([{"name": "check_status", "arguments": {}, "error": "no such job"}] * 9) == 4

    def test_an_effect_by_declaration_goes_before_the_name(self) -> None:
        calls = [{"name": "look", **SAME}] * 20

        assert stopped_at(calls, tools={"look": ToolRule(effect="wait")}) is None
        assert stopped_at(calls, tools={"look": ToolRule(effect="send")}) == 3
        assert stopped_at([{**SAME, "effect": "wait"}] * 20) is None


class TestRepeatable:
    def test_what_was_declared_repeatable_never_stops(self) -> None:
        assert stopped_at([{**SAME, "repeatable": True}] * 99) is None
        assert stopped_at([{"name": "ping", **SAME}] * 99, tools={"ping": ToolRule(repeatable=True)}) is None

    def test_nor_does_it_hide_a_loop_around_it(self) -> None:
        calls = [{"name": "ping", **SAME}, {"name": "read", **SAME}] * 9

        assert stopped_at(calls, tools={"ping": ToolRule(repeatable=True)}) == 10


class TestTurns:
    def test_equal_reads_side_by_side_are_one_wish(self) -> None:
        watch = Watch()
        for n in range(12):
            watch.tool("read", {"path": "cfg"}, "cfg", at=10 + n / 10, took=5.0)

        assert watch.findings == []

    def test_equal_sends_side_by_side_are_as_many(self) -> None:
        watch = Watch()
        for n in range(12):
            watch.tool("send_mail", {"to": "a"}, "sent", at=10 + n / 10, took=5.0)

        assert watch.stopped == 3

    def test_equal_reads_of_one_answer_are_one_wish(self) -> None:
        watch = Watch()
        for turn in range(3):
            watch.model({"turn": turn}, f"answer {turn}")
            for _ in range(5):
                watch.tool("read", {"path": f"cfg{turn}"}, f"cfg {turn}", took=0.1)

        assert watch.findings == []

    def test_but_a_program_that_reads_without_end_is_not_forgiven(self) -> None:
        watch = Watch()
        watch.model({"turn": 1}, "answer")
        for _ in range(30):
            watch.tool("read", {"path": "cfg"}, "cfg", took=0.1)

        assert watch.stopped == 1 + 5 + 4

    def test_equal_reads_in_turns_of_their_own_are_a_loop(self) -> None:
        watch = Watch()
        for turn in range(9):
            watch.model({"turn": turn}, f"answer {turn}")
            watch.tool("read", {"path": "cfg"}, "cfg")

        assert watch.stopped == 10

    def test_whichever_exporter_is_the_faster(self) -> None:
        """All model calls may arrive before the first tool call does."""
        watch = Watch()
        for turn in range(9):
            watch.model({"turn": turn}, f"answer {turn}", at=10.0 * turn)
        for turn in range(9):
            watch.tool("read", {"path": "cfg"}, "cfg", at=10.0 * turn + 5)

        assert watch.stopped == 9 + 5

    def test_model_calls_in_between_do_not_hide_a_loop_of_models(self) -> None:
        watch = Watch()
        for _ in range(9):
            watch.model({"messages": "same"}, "the same answer")
            watch.tool("read", {"path": "cfg"}, "cfg")

        assert watch.stopped == 9  # the fifth equal answer


class TestUserInput:
    def test_it_begins_anew(self) -> None:
        watch = Watch()
        for question in range(9):
            watch.model({"question": question}, f"answer {question}", user_turn=True)
            for step in range(4):
                watch.tool("read", {"path": "cfg"}, "cfg", took=0.1)
                watch.model({"question": question, "step": step}, f"thought {question}.{step}")

        assert watch.stopped is None

    def test_what_a_program_says_in_the_users_name_after_a_tool_does_not(self) -> None:
        watch = Watch()
        for step in range(9):
            watch.model({"observation": step}, f"answer {step}", user_turn=True)
            watch.tool("read", {"path": "cfg"}, "cfg")

        assert watch.stopped == 10

    def test_nor_does_the_same_request_again(self) -> None:
        watch = Watch()
        for _ in range(9):
            watch.model({"prompt": "the same"}, "the same answer", user_turn=True)

        assert watch.stopped == 5

    def test_nor_does_what_an_agent_asks_its_helper(self) -> None:
        watch = Watch()
        for turn in range(9):
            watch.model({"turn": turn}, f"answer {turn}")
            watch.model(
                {"task": turn}, f"found {turn}", user_turn=True, parent=50 + turn, agents=("main", "helper")
            )
            watch.tool("ask_helper", {"task": "x"}, "the same finding")

        assert watch.stopped == 3 * 5

    @pytest.mark.parametrize("begins", [True, False])
    def test_a_turn_of_the_outermost_agent_begins_anew_at_either_end(self, begins: bool) -> None:
        watch = Watch()
        for n in range(30):
            if n % 4 == 0:
                turn(watch, begins)
            watch.tool("read", {"path": "cfg"}, "cfg")

        assert watch.stopped is None

    def test_a_turn_of_an_inner_agent_does_not(self) -> None:
        watch = Watch()
        for _ in range(9):
            turn(watch, True, agents=("main",))
            watch.tool("read", {"path": "cfg"}, "cfg")

        assert watch.stopped == 5


def turn(watch: Watch, begins: bool, agents: tuple[str, ...] = ()) -> None:
    """An agent's span that real user input opened, begins or ends."""
    made = started if begins else ended
    call = Call(made(999, kind=Kind.AGENT, user_turn=True), "run", 1, 0, 0, agents, not begins)
    (watch.detector.started if begins else watch.detector.ended)(call)


class TestHelpers:
    def test_helpers_side_by_side_that_read_the_same_first_are_no_loop(self) -> None:
        watch = Watch()
        for helper in range(12):
            watch.tool("read", {"path": "cfg"}, "cfg", parent=10 + helper, at=1 + helper / 100, took=1.0)

        assert watch.findings == []

    def test_each_helper_that_loops_is_seen_among_the_others(self) -> None:
        watch = Watch()
        for step in range(9):
            for helper in (1, 2, 3):
                same = helper == 2
                text = "same" if same else f"{helper}.{step}"
                watch.tool("read", {"p": text}, text, parent=helper, at=10.0 * step + helper / 10, took=5.0)

        assert watch.stopped == 3 * 4 + 2

    def test_steps_below_spans_of_their_own_are_one_agent(self) -> None:
        assert stopped_at({**SAME, "parent": 10 + step} for step in range(9)) == 5

    def test_agents_of_two_names_are_two(self) -> None:
        calls = ({**SAME, "parent": 0, "agents": ("main", "ab"[n % 2])} for n in range(8))

        assert stopped_at(calls) is None


class TestPauses:
    def test_a_job_on_its_schedule_is_no_loop(self) -> None:
        watch = Watch(gap=300.0)
        for _ in range(24):
            watch.tool("exec", {"command": "check"}, "ok")

        assert (watch.warned, watch.stopped) == (3, None)

    def test_a_slow_loop_is_one(self) -> None:
        assert stopped_at([SAME] * 9, gap=100.0) == 5


class TestUnknown:
    def test_names_alone_never_stop(self) -> None:
        assert stopped_at([{"name": "search"}] * 99) is None

    def test_arguments_without_results_never_stop(self) -> None:
        assert stopped_at([{"arguments": {"q": "x"}}] * 99) is None

    def test_results_without_arguments_only_warn(self) -> None:
        watch = Watch()
        for _ in range(99):
            watch.tool("search", result="the same result")

        assert (watch.warned, watch.stopped) == (8, None)

    def test_short_answers_are_equal_for_many_good_reasons(self) -> None:
        watch = Watch()
        for n in range(60):
            watch.tool("label", {"id": n}, "ok")
            watch.tool("lookup", {"id": n}, "[]")

        assert watch.findings == []

    def test_equal_answers_to_different_questions_warn(self) -> None:
        watch = Watch()
        for n in range(20):
            watch.tool("search", {"q": f"wording {n}"}, "the same five urls")

        assert (watch.warned, watch.stopped) == (8, None)
