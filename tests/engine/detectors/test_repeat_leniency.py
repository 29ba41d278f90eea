"""Repeats that are none: what may repeat, wishes of one turn, users, helpers side by side, the unseen."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, stopped_at

from spanfuse_processor.engine.policy import ToolRule

SAME: dict[str, Any] = {"arguments": {"q": "x"}, "result": "the same result"}
LONG = "a result that is much too long to be the right answer to many a question " * 4


class TestRepeatable:
    def test_what_was_declared_repeatable_never_stops(self) -> None:
        watch = Watch()
        for _ in range(99):
            watch.tool("ping", {"host": "a"}, LONG, repeatable=True)

        assert watch.findings == []
        assert stopped_at([{"name": "ping", **SAME}] * 99, tools={"ping": ToolRule(repeatable=True)}) is None

    def test_nor_does_it_hide_a_loop_around_it(self) -> None:
        calls = [{"name": "ping", **SAME}, {"name": "read", **SAME}] * 9

        assert stopped_at(calls, tools={"ping": ToolRule(repeatable=True)}) == 10


class TestThoughts:
    def test_a_tool_that_only_takes_down_thoughts_never_stops(self) -> None:
        assert stopped_at([{"name": "think", **SAME}] * 40) is None

    def test_nor_does_it_hide_a_loop_around_it(self) -> None:
        calls = (
            call
            for n in range(9)
            for call in (
                {"name": "sequential_thinking", "arguments": {"thought": n}, "result": f"{n}"},
                {"name": "read", **SAME},
            )
        )

        assert stopped_at(calls) == 10


class TestTurns:
    @pytest.mark.parametrize("result", ["cfg", LONG])
    def test_equal_reads_side_by_side_are_one_wish(self, result: str) -> None:
        watch = Watch()
        for n in range(12):
            watch.tool("read", {"path": "cfg"}, result, at=10 + n / 10, took=5.0)

        assert watch.findings == []

    @pytest.mark.parametrize(("tool", "call"), [("send_mail", 3), ("save_note", 5), ("bash", 6)])
    def test_equal_acts_side_by_side_are_as_many(self, tool: str, call: int) -> None:
        watch = Watch()
        for n in range(12):
            watch.tool(tool, {"to": "a"}, "done as told", at=10 + n / 10, took=5.0)

        assert watch.stopped == call

    @pytest.mark.parametrize("result", ["cfg", LONG])
    def test_equal_reads_of_one_answer_are_one_wish(self, result: str) -> None:
        watch = Watch()
        for turn in range(3):
            watch.model({"turn": turn}, f"answer {turn}")
            for _ in range(5):
                watch.tool("read", {"path": f"cfg{turn}"}, f"{result} {turn}", took=0.1)

        assert watch.findings == []

    @pytest.mark.parametrize("result", ["cfg", LONG])
    def test_equal_reads_of_a_few_answers_are_as_many_wishes(self, result: str) -> None:
        watch = Watch()
        for turn in range(4):
            watch.model({"turn": turn}, f"answer {turn}")
            for _ in range(5):
                watch.tool("read", {"path": "cfg"}, result, took=0.1)

        assert watch.stopped is None

    def test_but_a_program_that_reads_without_end_is_not_forgiven(self) -> None:
        watch = Watch()
        watch.model({"turn": 1}, "answer")
        for _ in range(30):
            watch.tool("read", {"path": "cfg"}, "cfg", took=0.1)

        assert watch.stopped == 1 + 5 + 4

    def test_nor_is_a_failure_that_is_tried_again_within_a_turn(self) -> None:
        watch = Watch()
        watch.model({"turn": 1}, "answer")
        for _ in range(9):
            watch.tool("read", {"path": "cfg"}, error="it is gone", took=0.1)

        assert watch.stopped == 1 + 4

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
                watch.turn(begins)
            watch.tool("read", {"path": "cfg"}, "cfg")

        assert watch.stopped is None

    def test_a_turn_of_an_inner_agent_does_not(self) -> None:
        watch = Watch()
        for _ in range(9):
            watch.turn(True, agents=("main",))
            watch.tool("read", {"path": "cfg"}, "cfg")

        assert watch.stopped == 5


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


class TestUnknown:
    def test_names_alone_never_stop(self) -> None:
        watch = Watch()
        for _ in range(99):
            watch.tool("search")

        assert watch.findings == []

    def test_arguments_without_results_never_stop(self) -> None:
        assert stopped_at([{"arguments": {"q": "x"}}] * 99) is None

    @pytest.mark.parametrize("result", ["the same result", LONG])
    def test_results_without_arguments_never_stop(self, result: str) -> None:
        assert stopped_at([{"result": result}] * 99) is None

    def test_short_answers_are_equal_for_many_good_reasons(self) -> None:
        watch = Watch()
        for n in range(60):
            watch.tool("label", {"id": n}, "ok")
            watch.tool("lookup", {"id": n}, "[]")

        assert watch.findings == []
