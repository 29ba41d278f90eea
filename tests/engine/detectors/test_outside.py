"""Effects on the outside: the third equal one stops, whoever in the run made it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, stopped_at

from spanfuse_processor.engine.policy import Effect, ToolRule
from spanfuse_processor.engine.verdicts import Severity

MAIL: dict[str, Any] = {"name": "send_mail", "arguments": {"to": "a", "text": "hello"}, "result": "sent"}


class TestTheThirdEqualOne:
    @pytest.mark.parametrize("tool", ["send_mail", "pay_invoice", "publish", "post_comment", "refund"])
    def test_stops(self, tool: str) -> None:
        watch = Watch(only=("outside",))
        for _ in range(9):
            watch.tool(**MAIL | {"name": tool})

        assert watch.rules == [(2, "outside.sends"), (3, "outside.sends")]

    def test_whatever_came_of_it(self) -> None:
        assert stopped_at(MAIL | {"result": f"sent as {n}"} for n in range(9)) == 3

    def test_whatever_else_the_run_did_in_between(self) -> None:
        calls = []
        for n in range(9):
            calls += [
                MAIL,
                *({"name": "read", "arguments": {"n": n, "m": m}, "result": f"{n} {m}"} for m in range(5)),
            ]

        assert stopped_at(calls) == 13

    def test_side_by_side_or_one_after_the_other(self) -> None:
        assert stopped_at([MAIL | {"at": 10.0 + n / 10, "took": 5.0} for n in range(9)]) == 3

    def test_by_whichever_helper(self) -> None:
        watch = Watch()
        for helper in range(5):
            who: dict[str, Any] = {"parent": 10 + helper, "agents": ("main", f"helper {helper}")}
            watch.model({"task": f"review part {helper}"}, "I will say so", user_turn=True, **who)
            watch.tool("post_comment", {"text": "this line is too long"}, f"comment {helper}", **who)

        assert watch.stopped == 3 * 2

    def test_by_declaration(self) -> None:
        calls = [MAIL | {"name": "look"}] * 9

        assert stopped_at(calls, tools={"look": ToolRule(effect=Effect.SEND)}) == 3
        assert stopped_at([each | {"effect": "send"} for each in calls]) == 3


class TestHonest:
    def test_what_may_be_noise_elsewhere_tells_one_deed_from_another(self) -> None:
        calls = (MAIL | {"arguments": {"to": "a", "text": "hello", "request_id": n}} for n in range(9))

        assert stopped_at(calls, only=("outside",)) is None

    def test_messages_that_differ_are_no_repeat(self) -> None:
        assert (
            stopped_at(MAIL | {"arguments": {"to": f"person {n}", "text": "hello"}} for n in range(60))
            is None
        )

    def test_failures_did_nothing_on_the_outside(self) -> None:
        calls: list[dict[str, Any]] = [
            {"name": "send_mail", "arguments": {"to": "a"}, "error": "no answer"}
        ] * 2

        assert stopped_at([*calls, MAIL, *calls, MAIL]) is None

    def test_one_now_and_then_is_none(self) -> None:
        watch = Watch(gap=601.0)
        for _ in range(5):
            watch.tool(**MAIL | {"result": f"sent as {watch.number}"})

        assert watch.findings == []

    def test_what_a_tool_declares_may_repeat(self) -> None:
        assert stopped_at([MAIL] * 9, tools={"send_mail": ToolRule(repeatable=True)}) is None

    @pytest.mark.parametrize("tool", ["bash", "run_command"])
    def test_a_push_from_a_shell_tells_what_was_done_since(self, tool: str) -> None:
        watch = Watch(only=("outside",))
        for n in range(9):
            watch.tool("edit", {"line": n}, "ok")
            watch.tool(tool, {"command": "git push"}, "pushed", effect="send")

        assert watch.findings == []

    def test_but_a_tool_that_does_nothing_else_says_the_same(self) -> None:
        assert stopped_at([MAIL | {"name": "publish", "effect": "send"}] * 9, only=("outside",)) == 3

    def test_a_notice_is_no_message(self) -> None:
        assert stopped_at([MAIL | {"name": "notify_user"}] * 9, only=("outside",)) is None

    def test_a_user_may_want_it_again(self) -> None:
        watch = Watch()
        for question in range(9):
            watch.model({"question": question}, f"of course {question}", user_turn=True)
            watch.tool(**MAIL)
            watch.model({"question": question, "sent": 1}, f"done {question}")

        assert watch.findings == []

    @pytest.mark.parametrize("begins", [True, False])
    def test_and_say_so_to_the_outermost_agent(self, begins: bool) -> None:
        watch = Watch()
        for _ in range(9):
            watch.turn(begins)
            watch.tool(**MAIL)

        assert watch.findings == []

    def test_but_a_program_that_speaks_in_their_name_may_not(self) -> None:
        watch = Watch()
        for step in range(9):
            watch.model({"observation": step}, f"answer {step}", user_turn=True)
            watch.tool(**MAIL)

        assert watch.stopped == 3 * 2

    def test_unknown_arguments_equal_nothing(self) -> None:
        assert stopped_at([{"name": "send_mail", "result": "sent"}] * 40, only=("outside",)) is None
        assert stopped_at([{"name": "send_mail"}] * 40) is None


class TestLimits:
    @pytest.mark.parametrize("limit", [1, 2, 3, 7])
    def test_it_stops_at_its_limit_and_not_before(self, limit: int) -> None:
        watch = Watch(only=("outside",), sends=limit)
        for _ in range(20):
            watch.tool(**MAIL)

        warned = [(limit - 1, Severity.WARN)] if limit > 2 else []
        assert [(number, each.severity) for number, each in watch.findings] == [
            *warned,
            (limit, Severity.STOP),
        ]

    def test_zero_switches_it_off(self) -> None:
        watch = Watch(only=("outside",), sends=0)
        for _ in range(40):
            watch.tool(**MAIL)

        assert watch.findings == []

    @pytest.mark.parametrize(("seconds", "call"), [(3.0, None), (7.9, None), (8.0, 3)])
    def test_how_near_they_are_can_be_said(self, seconds: float, call: int | None) -> None:
        assert stopped_at([MAIL] * 9, only=("outside",), seconds=seconds) == call

    def test_a_new_episode_is_told_of_again(self) -> None:
        watch = Watch(only=("outside",))
        for at in (0.0, 10.0, 2_000.0, 2_010.0):
            watch.tool(**MAIL, at=at)

        assert watch.rules == [(2, "outside.sends"), (4, "outside.sends")]

    def test_what_is_remembered_is_bounded(self) -> None:
        watch = Watch(only=("outside",))
        for n in range(200):
            watch.tool(**MAIL | {"arguments": {"to": n}})
        for _ in range(3):
            watch.tool(**MAIL | {"arguments": {"to": 199}})

        assert watch.stopped == 202

    def test_its_finding_says_all_that_it_rests_on(self) -> None:
        watch = Watch()
        for _ in range(3):
            watch.tool(**MAIL)

        finding = watch.findings[-1][1]
        assert (finding.detector, finding.rule, finding.reason) == ("outside", "sends", "LOOP")
        assert (finding.observed, finding.limit, finding.call) == (3.0, 3.0, 3)
        assert finding.message == "send_mail did the same on the outside 3 times"
        assert [int.from_bytes(span) for span in finding.spans] == [1, 2, 3]
        assert finding.first_span_id == (1).to_bytes(8)
        assert len(finding.prints) == 1
        assert finding.cleared_by
