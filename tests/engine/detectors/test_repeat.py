"""Repeats: what stops a run, and at which call."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, one, stopped_at

from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.verdicts import Severity

ALONE: dict[str, Any] = {"only": ("repeat",)}
SAME: dict[str, Any] = {"arguments": {"q": "x"}, "result": "the same five urls"}
FAILS: dict[str, Any] = {"arguments": {"path": "/big"}, "error": "it does not fit"}


def noisy(number: int) -> dict[str, Any]:
    """A call whose result differs in a count of readings only."""
    return {"arguments": {"path": "a.rs"}, "result": f"same text (read {number}x this session)"}


class TestTheSameAgain:
    def test_the_fifth_equal_call_with_an_equal_result_stops(self) -> None:
        watch = Watch()
        for _ in range(30):
            watch.tool("search", {"q": "x"}, "the same five urls")

        assert watch.rules == [(3, "repeat.equal"), (5, "repeat.equal")]  # each once
        assert (watch.warned, watch.stopped) == (3, 5)

    @pytest.mark.parametrize("result", ["", "[]", "ok", None])
    def test_an_empty_result_is_a_result(self, result: object) -> None:
        assert stopped_at([{"arguments": {"q": "x"}, "result": result}] * 9) == 5

    @pytest.mark.parametrize(
        ("tool", "call"), [("bash", 6), ("read_file", 5), ("frobnicate", 5), ("save_note", 5)]
    )
    def test_what_runs_may_repeat_once_more(self, tool: str, call: int) -> None:
        assert stopped_at([{"name": tool, "arguments": {"a": 1}, "result": "done as told"}] * 9) == call

    def test_an_agent_started_again_with_the_same_task_stops_at_the_fifth(self) -> None:
        watch = Watch()
        for _ in range(9):
            watch.agent("researcher", {"task": "find the policy"})

        assert watch.rules == [(3, "repeat.handoffs"), (5, "repeat.handoffs")]
        assert watch.findings[-1][1].message == (
            "agent researcher was started 5 times in a row with the same task"
        )

    def test_an_agent_that_brings_something_else_each_time_does_not(self) -> None:
        watch = Watch()
        for sample in range(9):
            watch.told(Kind.AGENT, "researcher", {"task": "estimate"}, f"sample {sample} of many")

        assert watch.findings == []

    def test_results_that_change_never_stop(self) -> None:
        assert stopped_at({"arguments": {}, "result": f"sample {n}"} for n in range(60)) is None

    def test_arguments_that_change_never_stop(self) -> None:
        assert stopped_at({"arguments": {"id": n}, "result": "ok"} for n in range(60)) is None

    def test_equal_calls_far_apart_are_no_loop(self) -> None:
        calls = []
        for n in range(10):
            calls += [{"arguments": {"path": "cfg"}, "result": "cfg"}]
            calls += [{"arguments": {"path": f"f{n}-{m}"}, "result": f"text {n}-{m}"} for m in range(12)]

        assert stopped_at(calls) is None

    def test_something_new_in_between_begins_anew(self) -> None:
        watch = Watch(**ALONE)
        for n in range(5):
            for _ in range(4):
                watch.tool("search", {"q": "x"}, "the same")
            watch.tool("search", {"q": n}, "another")

        assert watch.stopped is None
        assert [number for number, _ in watch.findings] == [3, 8, 13, 18, 23]  # each episode is told of

    def test_thirty_distinct_searches_never_stop(self) -> None:
        watch = Watch()
        for n in range(30):
            watch.tool("search", {"query": f"material {n}"}, {"hits": 1, "price": f"{n}.50 EUR"})

        assert watch.stopped is None
        assert watch.rules == [(15, "similar.drifting_warn")]  # they are alike but for a number


class TestNoise:
    def test_in_arguments_it_hides_nothing(self) -> None:
        calls = (
            {"arguments": {"q": "x", "attempt": n, "request_id": str(uuid.UUID(int=n))}, "result": "the same"}
            for n in range(9)
        )

        assert stopped_at(calls) == 5

    @pytest.mark.parametrize("result", ["ok", "No results", [], {"results": []}])
    def test_a_number_of_the_attempt_hides_nothing_however_little_comes_back(self, result: object) -> None:
        calls = ({"arguments": {"q": "x", "attempt": n}, "result": result} for n in range(9))

        assert stopped_at(calls) == 5

    def test_the_number_of_an_attempt_that_is_all_that_is_asked_for_is_an_item(self) -> None:
        calls = ({"arguments": {"attempt": n}, "result": "No results"} for n in range(30))

        assert stopped_at(calls) is None

    def test_in_results_it_hides_nothing_for_long(self) -> None:
        watch = Watch()
        for n in range(12):
            watch.tool(**noisy(n))

        assert watch.rules == [(3, "repeat.similar"), (6, "repeat.similar")]

    def test_it_may_come_and_go(self) -> None:
        calls = [noisy(1), noisy(1), noisy(2), noisy(2), noisy(2), noisy(3)]

        assert stopped_at(calls) == 6

    def test_a_clock_tells_another_time_whenever_it_is_asked(self) -> None:
        calls = (
            {"name": "get_time", "arguments": {}, "result": f"2026-11-30T12:{n:02}:00Z"} for n in range(30)
        )

        assert stopped_at(calls) is None

    def test_on_both_sides_it_equals_nothing(self) -> None:
        watch = Watch()
        for n in range(14):
            watch.tool("search", {"q": "x", "request_id": n}, f"at 2026-11-30T12:00:{n:02}Z")

        assert watch.findings == []


class TestFailures:
    def test_the_fourth_equal_failure_stops(self) -> None:
        watch = Watch()
        for n in range(9):
            watch.tool("read", {"path": "/big"}, error=f"it has {41_049 + n} lines")

        assert watch.rules[:2] == [(3, "repeat.failures"), (4, "repeat.failures")]
        assert watch.findings[-1][1].reason == "RETRY_STORM"

    def test_a_rising_attempt_counter_and_a_changing_request_id_hide_nothing(self) -> None:
        watch = Watch()
        for n in range(9):
            request = str(uuid.UUID(int=n))
            watch.tool(
                "book_flight",
                {"flight": "LH 400", "attempt": n, "request_id": request},
                error=f"attempt {n}: the fare has changed (request {request})",
            )

        assert watch.stopped == 4

    def test_three_tries_with_three_reasons_are_no_storm(self) -> None:
        reasons = ("no a", "no b", "no c")

        assert stopped_at({"arguments": {"x": 1}, "error": reason} for reason in reasons) is None

    def test_a_count_of_failures_that_falls_is_progress(self) -> None:
        watch = Watch()
        for n in range(40, 0, -1):
            watch.tool("bash", {"command": "test"}, error=f"{n} failing")

        assert watch.stopped is None

    def test_an_error_in_the_result_of_a_good_call_is_a_failure(self) -> None:
        assert stopped_at([{"arguments": {"x": 1}, "result": {"error": "no agent_name"}}] * 9) == 4

    def test_a_growing_back_off_only_warns(self) -> None:
        watch = Watch(**ALONE)
        for n in range(8):
            watch.tool("fetch", {"u": 1}, error="not there yet", at=2.0**n, took=0.1)

        assert (watch.warned, watch.stopped) == (3, None)

    def test_what_passes_by_itself_is_judged_elsewhere(self) -> None:
        assert stopped_at([{"arguments": {"u": 1}, "error": "HTTP 503"}] * 20, **ALONE) is None

    def test_what_waits_and_fails_is_failing(self) -> None:
        assert stopped_at([{"name": "check_status", "arguments": {}, "error": "no such job"}] * 9) == 4


RULES: dict[str, list[dict[str, Any]]] = {
    "equal": [{"name": "read", **SAME}] * 40,
    "writes": [{"name": "write", **SAME}] * 40,
    "failures": [FAILS] * 40,
    "similar": [noisy(n) for n in range(40)],
    "waits": [{"name": "check_status", **SAME}] * 40,
}


@pytest.mark.parametrize("rule", RULES)
class TestLimits:
    @pytest.mark.parametrize("limit", [2, 7, 11])
    def test_a_rule_stops_at_its_limit_and_not_before(self, rule: str, limit: int) -> None:
        watch = Watch(**ALONE, **one(rule, limit))
        for call in RULES[rule]:
            watch.tool(**call)

        assert watch.stopped == limit
        assert watch.rules[-1] == (limit, f"repeat.{rule}")

    def test_zero_switches_it_off_and_no_other_takes_its_place(self, rule: str) -> None:
        watch = Watch(**ALONE, **one(rule, 0))
        for call in RULES[rule]:
            watch.tool(**call)

        assert watch.findings == []

    def test_it_warns_and_stops_once(self, rule: str) -> None:
        watch = Watch(**ALONE)
        for call in RULES[rule]:
            watch.tool(**call)

        assert [each.severity for _, each in watch.findings] == [Severity.WARN, Severity.STOP]

    def test_its_finding_says_all_that_it_rests_on(self, rule: str) -> None:
        watch = Watch(**ALONE)
        for call in RULES[rule]:
            watch.tool(**call)

        number, finding = watch.findings[-1]
        count = min(number, 16)  # of the spans the first is kept, and the latest sixteen
        assert (finding.detector, finding.rule, finding.call) == ("repeat", rule, number)
        assert (finding.observed, finding.limit) == (number, number)
        assert [int.from_bytes(span) for span in finding.spans] == list(range(number - count + 1, number + 1))
        assert finding.first_span_id == (1).to_bytes(8)
        assert len(finding.prints) == 2
        assert finding.cleared_by


def test_handoffs_have_a_limit_of_their_own() -> None:
    patient, off = Watch(**ALONE, handoffs=6), Watch(**ALONE, handoffs=0)
    for watch in (patient, off):
        for _ in range(40):
            watch.agent("researcher", {"task": "find the policy"})

    assert patient.stopped == 6
    assert off.findings == []


def test_an_earlier_warning_can_be_asked_for() -> None:
    watch = Watch(**ALONE, warn=2)
    for _ in range(5):
        watch.tool(**SAME)

    assert (watch.warned, watch.stopped) == (2, 5)
