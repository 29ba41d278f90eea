"""Storms: one tool or model that keeps failing, whatever it is asked, by the class of its errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, one, step, stopped_at

from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.verdicts import Severity

ALONE: dict[str, Any] = {"only": ("storm",)}

DENIED = ("permission denied", "HTTP 403", "file is locked")
PERMANENT = ("unknown tool: pusch", "missing parameter: agent_name", "HTTP 422")
TRANSIENT = ("HTTP 429", "HTTP 503", "the model is overloaded", "connection timed out")
FAILED = ("old text is not in the file", "SyntaxWarning here", "3 tests failed")


def failing(error: str, tool: str = "push", calls: int = 40, of: str = "") -> Iterator[dict[str, Any]]:
    """Calls that are all asked something else and fail alike."""
    items = (f"item {chr(97 + n)}{of}" for n in range(calls))
    return ({"name": tool, "arguments": {"item": item}, "error": error} for item in items)


def mending(fields: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Calls that each lack one field."""
    return (
        {"name": "create_issue", "arguments": {"title": chr(97 + n)}, "error": f"missing parameter: {field}"}
        for n, field in enumerate(fields)
    )


class TestClasses:
    @pytest.mark.parametrize("error", DENIED)
    def test_what_says_no_stops_at_the_fourth(self, error: str) -> None:
        watch = Watch()
        for call in failing(error, calls=20):
            watch.tool(**call)

        assert watch.rules == [(3, "storm.denied"), (4, "storm.denied")]

    @pytest.mark.parametrize("error", PERMANENT)
    def test_what_can_never_work_as_it_is_stops_at_the_fifth(self, error: str) -> None:
        watch = Watch()
        for call in failing(error, calls=20):
            watch.tool(**call)

        assert watch.rules == [(4, "storm.permanent"), (5, "storm.permanent")]

    @pytest.mark.parametrize("error", FAILED)
    def test_what_might_work_stops_at_the_eighth(self, error: str) -> None:
        watch = Watch()
        for call in failing(error, calls=20):
            watch.tool(**call)

        assert watch.rules == [(6, "storm.failed"), (8, "storm.failed")]

    @pytest.mark.parametrize("error", TRANSIENT)
    def test_what_passes_by_itself_stops_at_the_thirteenth_when_it_is_not_given_the_time(
        self, error: str
    ) -> None:
        watch = Watch(gap=0.5)
        for call in failing(error, calls=20):
            watch.tool(**call, took=0.1)

        assert watch.rules == [(6, "storm.transient"), (13, "storm.transient")]

    def test_it_may_be_asked_the_same_for_all_that(self) -> None:
        calls = [{"arguments": {"u": 1}, "error": "HTTP 503", "took": 0.1}] * 20

        assert stopped_at(calls, gap=0.5) == 13

    @pytest.mark.parametrize(
        "errors", [PERMANENT[:2], DENIED[:2], (PERMANENT[0], DENIED[0]), (DENIED[0], PERMANENT[0])]
    )
    def test_two_errors_that_can_never_work_stop_at_the_sixth(self, errors: tuple[str, str]) -> None:
        watch = Watch()
        for n in range(20):
            watch.tool("push", {"n": n}, error=errors[n % 2])

        assert watch.rules == [(5, "storm.permanent_any"), (6, "storm.permanent_any")]

    @pytest.mark.parametrize(("errors", "call"), [(3, 6), (4, 8), (10, 20), (16, 32)])
    def test_several_stop_when_half_of_them_had_been_met_before(self, errors: int, call: int) -> None:
        assert stopped_at(mending(chr(97 + n % errors) for n in range(40))) == call

    def test_validation_that_is_mended_field_by_field_never_stops(self) -> None:
        watch = Watch()
        for call in mending(f"{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(80)):
            watch.tool(**call)

        assert watch.findings == []

    def test_nor_when_each_field_takes_a_second_look_now_and_then(self) -> None:
        assert stopped_at(mending("aabcddefgghijjk")) is None

    def test_several_errors_that_might_work_never_do(self) -> None:
        watch = Watch()
        for n in range(40):
            watch.tool("edit", {"text": n}, error=f"line {'abc'[n % 3]} does not match")

        assert watch.findings == []

    def test_what_a_tool_declares_to_pass_is_given_the_time(self) -> None:
        calls = list(failing("warming up, come back", tool="render"))
        passing = ToolRule(transient=("warming up",))

        assert stopped_at(calls, gap=20.0) == 8
        watch = Watch(gap=20.0)
        for call in calls:
            watch.tool(**call, transient=passing.transient)
        assert watch.stopped is None

    @pytest.mark.parametrize("error", [FAILED[0], PERMANENT[0]])
    def test_failures_of_which_only_the_error_is_known_are_worth_a_word(self, error: str) -> None:
        watch = Watch()
        for _ in range(20):
            watch.tool("push", error=error)

        assert watch.rules == [(6, "storm.failed")]
        assert watch.stopped is None

    def test_but_a_denial_holds_for_whatever_was_asked(self) -> None:
        assert stopped_at([{"name": "push", "error": DENIED[0]}] * 20) == 4

    def test_failures_of_which_only_the_status_is_known_are_worth_a_word_too(self) -> None:
        watch = Watch()
        for _ in range(20):
            watch.failed_somehow("push")

        assert (watch.rules, watch.stopped) == ([(6, "storm.failed")], None)


class TestPatience:
    @pytest.mark.parametrize("error", TRANSIENT)
    def test_a_growing_back_off_is_no_storm_and_no_reason_to_warn(self, error: str) -> None:
        watch = Watch()
        for n in range(12):
            watch.tool("fetch", {"u": 1}, error=error, at=2.0**n, took=0.1)

        assert watch.findings == []

    def test_a_timeout_that_took_its_time_is_patience(self) -> None:
        calls = [{"arguments": {"u": 1}, "error": "connection timed out", "took": 30.0}] * 20

        assert stopped_at(calls, gap=30.1) is None

    @pytest.mark.parametrize(("error", "call"), [(DENIED[0], 4), (PERMANENT[0], 5)])
    def test_patience_mends_nothing_that_can_never_work(self, error: str, call: int) -> None:
        assert stopped_at(failing(error), gap=60.0) == call

    @pytest.mark.parametrize(("gap", "call"), [(60.0, 8), (130.0, None)])
    def test_what_might_work_may_be_tried_now_and_then(self, gap: float, call: int | None) -> None:
        assert stopped_at(failing(FAILED[0]), gap=gap) == call

    def test_how_long_is_patient_can_be_said(self) -> None:
        assert stopped_at(failing("HTTP 503"), gap=3.0) == 13
        assert stopped_at(failing("HTTP 503"), gap=3.0, retry_gap=2.0) is None
        assert stopped_at(failing(FAILED[0]), gap=3.0, slow=2.0) is None


class TestWhatEndsAStorm:
    def test_a_success_of_the_same_tool(self) -> None:
        watch = Watch()
        for part in "abcd":
            for call in failing(FAILED[0], calls=7, of=part):
                watch.tool(**call)
            watch.tool("push", {"item": part}, f"pushed {part}")

        assert watch.stopped is None

    def test_another_tool(self) -> None:
        calls = [call for n in range(20) for call in (*failing(DENIED[0], calls=3), step(f"part {n}"))]

        assert stopped_at(calls) is None

    def test_another_class_of_errors(self) -> None:
        watch = Watch(gap=0.5)
        for n in range(30):
            watch.tool("push", {"n": n}, error=(DENIED[0], TRANSIENT[0])[n // 3 % 2])

        assert watch.stopped is None

    def test_another_error_of_a_kind_that_might_work(self) -> None:
        calls = [call for n in range(6) for call in failing(FAILED[n % 2], calls=7, of="abcdef"[n])]

        assert stopped_at(calls) is None

    def test_a_count_of_failures_that_falls(self) -> None:
        calls = ({"name": "bash", "arguments": {"n": n}, "error": f"{40 - n} failing"} for n in range(40))

        assert stopped_at(calls) is None

    def test_failures_side_by_side_are_one(self) -> None:
        """Whoever asked for all of them at once had not heard of the first."""
        watch = Watch(only=("storm",))
        for call in failing(DENIED[0]):
            watch.tool(**call, at=10 + watch.number / 10, took=5.0)
        assert watch.findings == []

        for n in range(9):
            watch.tool("push", {"again": n}, error=DENIED[0], at=20.0 + n, took=0.5)
        assert watch.stopped == 40 + 3

    def test_but_one_of_another_tool_is_another(self) -> None:
        watch = Watch(only=("storm",))
        watch.tool("pull", {"n": 0}, error=DENIED[0], at=1.0, took=5.0)
        watch.tool("push", {"n": 0}, error=DENIED[0], at=2.0)
        for call in failing(DENIED[0]):
            watch.tool(**call, at=10.0 + 2 * watch.number)

        assert watch.stopped == 1 + 4

    def test_unless_they_failed_in_other_ways(self) -> None:
        calls = mending("ab" * 10)

        assert stopped_at([call | {"at": 10 + n / 10, "took": 5.0} for n, call in enumerate(calls)]) == 6

    def test_a_model_that_answers_in_between_does_not_end_a_storm_of_a_tool(self) -> None:
        watch = Watch()
        for n, call in enumerate(failing(DENIED[0])):
            watch.model({"turn": n}, f"I try again, {n}")
            watch.tool(**call)

        assert watch.stopped == 2 * 4

    def test_a_new_storm_is_told_of_again(self) -> None:
        watch = Watch()
        for n in range(3):
            for call in failing(DENIED[0], calls=3):
                watch.tool(**call)
            watch.tool("push", {"ok": n}, f"pushed {n}")

        assert watch.rules == [(3, "storm.denied"), (7, "storm.denied"), (11, "storm.denied")]


RULES = {
    "denied": list(failing(DENIED[0])),
    "permanent": list(failing(PERMANENT[0])),
    "permanent_any": list(mending("aabb" * 10)),
    "failed": list(failing(FAILED[0])),
    "transient": list(failing(TRANSIENT[0])),
}


@pytest.mark.parametrize("rule", RULES)
class TestLimits:
    @pytest.mark.parametrize("limit", [2, 5, 13])
    def test_a_rule_stops_at_its_limit_and_not_before(self, rule: str, limit: int) -> None:
        watch = Watch(**ALONE, gap=1.0, **one("permanent_any", 0) | one(rule, limit))
        for call in RULES[rule]:
            watch.tool(**call)

        assert watch.stopped == limit
        assert watch.rules[-1] == (limit, f"storm.{rule}")

    def test_zero_switches_it_off(self, rule: str) -> None:
        watch = Watch(only=("storm",), gap=1.0, **one(rule, 0) | one("permanent_any", 0))
        for call in RULES[rule]:
            watch.tool(**call)

        assert watch.findings == []

    def test_its_finding_says_all_that_it_rests_on(self, rule: str) -> None:
        watch = Watch(**ALONE, gap=1.0)
        for call in RULES[rule]:
            watch.tool(**call)

        number, finding = watch.findings[-1]
        assert (finding.detector, finding.rule, finding.severity) == ("storm", rule, Severity.STOP)
        assert (finding.reason, finding.observed, finding.limit) == ("RETRY_STORM", number, number)
        assert [int.from_bytes(span) for span in finding.spans] == list(range(1, number + 1))
        assert finding.first_span_id == (1).to_bytes(8)
        assert len(finding.prints) == 1
        assert finding.cleared_by
