"""Repeats that are none because time passes: tools that wait, schedules, habits."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, one, stopped_at

from spanfuse_processor.engine.policy import Effect, ToolRule

SAME: dict[str, Any] = {"arguments": {"q": "x"}, "result": "the same result"}
LONG = "a result that is much too long to be the right answer to many a question " * 4


class TestWaiting:
    def test_a_poll_may_be_answered_alike_for_long(self) -> None:
        watch = Watch()
        for _ in range(29):
            watch.tool("check_status", {"job": 7}, "running")

        assert (watch.warned, watch.stopped) == (12, None)

    @pytest.mark.parametrize("result", ["running", LONG, ""])
    def test_a_busy_poll_stops_in_the_end(self, result: str) -> None:
        calls = [{"name": "check_status", "arguments": {"job": 7}, "result": result}] * 60

        assert stopped_at(calls, gap=1.0) == 30

    @pytest.mark.parametrize("result", ["running", LONG, ""])
    def test_a_patient_poll_never_stops(self, result: str) -> None:
        calls = [{"name": "check_status", "arguments": {"job": 7}, "result": result}] * 200

        assert stopped_at(calls, gap=30.0) is None

    def test_a_hook_that_sends_a_model_on_is_no_patient_poll(self) -> None:
        calls = [{"name": "stop_hook", "arguments": {}, "result": "helpers are still running"}] * 60

        assert stopped_at(calls, gap=10.0) == 30
        assert stopped_at(calls, gap=130.0) is None

    def test_a_poll_may_be_answered_alike_but_for_the_time(self) -> None:
        watch = Watch()
        for n in range(29):
            watch.tool("check_status", {"job": 7}, f"running at 2026-11-30T12:00:{n:02}Z")

        assert (watch.warned, watch.stopped) == (12, None)

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

    def test_a_wait_that_takes_very_long_is_told_of_apart(self) -> None:
        watch = Watch(gap=60.0)
        for n in range(100):
            watch.tool("check_status", {"job": 7}, f"running at 2026-11-30T12:{n % 60:02}:00Z")

        assert watch.rules == [(12, "repeat.waits"), (61, "repeat.wait_time")]
        assert (watch.findings[-1][1].observed, watch.findings[-1][1].limit) == (3_601, 3_600)

    def test_and_so_is_one_that_costs_much(self) -> None:
        watch = Watch()
        for n in range(14):
            watch.costs = 400_000
            watch.model(f"what now {n}", f"I wait {n}")
            watch.costs = 0
            watch.tool("check_status", {"job": 7}, "running")

        assert watch.rules == [(20, "repeat.wait_cost"), (24, "repeat.waits")]

    def test_what_a_wait_cost_is_counted_from_its_own_beginning(self) -> None:
        watch = Watch()
        watch.costs = 5_000_000
        watch.model("hello", "I begin")
        watch.costs = 0
        for _ in range(6):
            watch.tool("check_status", {"job": 7}, "running")

        assert watch.findings == []

    @pytest.mark.parametrize("rule", ["waits", "wait_time", "wait_cost"])
    def test_zero_switches_a_rule_of_waits_off(self, rule: str) -> None:
        watch = Watch(gap=200.0, **one(rule, 0))
        watch.costs = 2_000_000
        for _ in range(60):
            watch.model("what now", f"I wait {watch.number}")
            watch.tool("check_status", {"job": 7}, "running")

        assert watch.stopped is None
        assert f"repeat.{rule}" not in [rule for _, rule in watch.rules]
        assert len(watch.findings) == 2  # the other two

    @pytest.mark.parametrize("seconds", [0.0, 0.5])
    def test_what_is_a_patient_wait_can_be_said(self, seconds: float) -> None:
        calls = [{"name": "check_status", **SAME}] * 60

        assert stopped_at(calls, gap=1.0, wait_gap=seconds) == (None if seconds else 30)

    @pytest.mark.parametrize("result", ["running", {"state": "in_progress"}, "the build is not ready"])
    @pytest.mark.parametrize(("calls", "gap", "stop"), [(10, 8.0, None), (60, 8.0, None), (60, 2.0, 30)])
    def test_a_result_that_says_not_yet_makes_of_any_tool_one_that_waits(
        self, result: object, calls: int, gap: float, stop: int | None
    ) -> None:
        look = {"name": "get_report", "arguments": {"id": 7}, "result": result}

        assert stopped_at([look] * calls, gap=gap) == stop

    def test_a_result_that_is_there_does_not(self) -> None:
        calls = [{"name": "get_report", "arguments": {"id": 7}, "result": "the report is here"}] * 10

        assert stopped_at(calls, gap=8.0) == 5

    def test_a_model_that_speaks_of_what_runs_does_not_wait(self) -> None:
        watch = Watch(only=("repeat",), gap=8.0)
        for _ in range(10):
            watch.model("what now", "I am running the tests")

        assert watch.stopped == 5

    def test_an_effect_by_declaration_goes_before_the_name(self) -> None:
        calls = [{"name": "look", **SAME}] * 20

        assert stopped_at(calls, tools={"look": ToolRule(effect=Effect.WAIT)}) is None
        assert stopped_at(calls, tools={"look": ToolRule(effect=Effect.EXEC)}) == 6
        assert stopped_at([{**SAME, "effect": "wait"}] * 20) is None


class TestPauses:
    @pytest.mark.parametrize("result", ["ok", LONG])
    def test_a_job_on_its_schedule_is_no_loop(self, result: str) -> None:
        watch = Watch(gap=300.0)
        for _ in range(14):
            watch.tool("exec", {"command": "check"}, result)

        assert (watch.warned, watch.stopped) == (3, None)

    def test_a_model_that_is_slow_does_not_make_a_loop_a_schedule(self) -> None:
        watch = Watch(gap=40.0)
        for turn in range(9):
            watch.model({"turn": turn}, f"answer {turn}", took=39.0)
            watch.tool("search", {"q": "x"}, "the same five urls", took=39.0)

        assert watch.stopped == 10

    @pytest.mark.parametrize(("gap", "call"), [(29.0, 5), (32.0, None)])
    def test_an_agent_that_rests_in_between_has_a_habit(self, gap: float, call: int | None) -> None:
        assert stopped_at([SAME] * 14, gap=gap, took=1.0) == call

    def test_but_to_write_the_same_is_none(self) -> None:
        calls = [{"name": "append_log", "arguments": {"line": "check"}, "result": "ok"}] * 9

        assert stopped_at(calls, gap=60.0) == 5
        assert stopped_at(calls, gap=130.0) is None

    def test_a_command_that_takes_long_each_time_waits_for_something(self) -> None:
        command: dict[str, Any] = {"name": "bash", "arguments": {"command": "make e2e"}, "result": "ok"}

        assert stopped_at([command | {"took": 40.0}] * 40, gap=42.0) is None
        assert stopped_at([command | {"took": 4.0}] * 40, gap=6.0) == 6
        assert stopped_at([command | {"took": 40.0}] * 40, gap=42.0, idle=0) == 6

    def test_what_a_habit_is_can_be_said(self) -> None:
        assert stopped_at([SAME] * 14, gap=300.0, slow=0, idle=0) == 5
        assert stopped_at([SAME] * 14, gap=300.0, slow=0) is None
        assert stopped_at([SAME] * 14, gap=300.0, idle=0) is None


class TestWhatWritesMake:
    def test_the_same_made_again_is_no_wait_though_it_is_pending(self) -> None:
        calls = [{"name": "book", "arguments": {"flight": "LH 1"}, "result": {"status": "pending"}}] * 10

        assert stopped_at(calls, gap=8.0) == 5

    def test_another_thing_each_time_is(self) -> None:
        calls = [
            {
                "name": "create_vm",
                "arguments": {"size": "s"},
                "result": {"id": f"i-0{n}ab39f{n}", "state": "pending"},
            }
            for n in range(10)
        ]

        assert stopped_at(calls, gap=8.0) is None
