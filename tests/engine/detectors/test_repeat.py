"""Repeats: what stops a run, and at which call."""

from __future__ import annotations

import uuid

import pytest
from tests.engine.detectors.watching import Watch, stopped_at

from spanfuse_processor.engine.verdicts import Severity


class TestTheSameAgain:
    def test_the_fifth_equal_call_with_an_equal_result_stops(self) -> None:
        watch = Watch()
        for _ in range(30):
            watch.tool("search", {"q": "x"}, "the same five urls")

        assert (watch.warned, watch.stopped) == (3, 5)
        assert [number for number, _ in watch.findings] == [3, 5]  # each once

    @pytest.mark.parametrize("result", ["", "[]", "ok", None])
    def test_an_empty_result_is_a_result(self, result: object) -> None:
        assert stopped_at([{"arguments": {"q": "x"}, "result": result}] * 9) == 5

    @pytest.mark.parametrize(
        ("tool", "call"),
        [("bash", 5), ("read_file", 5), ("frobnicate", 5), ("save_note", 4), ("slack_send", 3)],
    )
    def test_what_acts_on_the_outside_may_repeat_less(self, tool: str, call: int) -> None:
        assert stopped_at([{"name": tool, "arguments": {"a": 1}, "result": "done as told"}] * 9) == call

    def test_results_that_change_never_stop(self) -> None:
        assert stopped_at({"arguments": {}, "result": f"sample {n}"} for n in range(60)) is None

    def test_arguments_that_change_never_stop(self) -> None:
        assert stopped_at({"arguments": {"id": n}, "result": "ok"} for n in range(60)) is None

    def test_noise_in_arguments_hides_nothing(self) -> None:
        calls = (
            {"arguments": {"q": "x", "attempt": n, "request_id": str(uuid.UUID(int=n))}, "result": "the same"}
            for n in range(9)
        )

        assert stopped_at(calls) == 5

    def test_noise_in_results_hides_nothing_for_long(self) -> None:
        calls = [
            {"arguments": {"path": "a.rs"}, "result": f"same text (read {n}x this session)"}
            for n in range(12)
        ]

        assert stopped_at(calls) == 8

    def test_noise_on_both_sides_is_not_judged(self) -> None:
        calls = (
            {"arguments": {"q": "x", "attempt": n}, "result": f"at 2026-11-30T12:00:{n:02}Z"}
            for n in range(30)
        )

        assert stopped_at(calls) is None

    def test_equal_calls_far_apart_are_no_loop(self) -> None:
        calls = []
        for n in range(10):
            calls += [{"arguments": {"path": "cfg"}, "result": "cfg"}]
            calls += [{"arguments": {"path": f"f{n}-{m}"}, "result": f"text {n}-{m}"} for m in range(12)]

        assert stopped_at(calls) is None

    def test_something_new_in_between_begins_anew(self) -> None:
        same = {"arguments": {"q": "x"}, "result": "same result"}
        calls = [same, same, same, same, {"arguments": {"q": "y"}, "result": "other"}] * 5

        watch = Watch(cycles=0)
        for call in calls:
            watch.tool(**call)

        assert watch.stopped is None

    def test_edit_and_test_cycles_with_changing_results_never_stop(self) -> None:
        calls = []
        for n in range(20):
            calls += [{"name": "edit", "arguments": {"path": f"f{n % 3}", "patch": n}, "result": "ok"}]
            calls += [{"name": "bash", "arguments": {"command": "npm test"}, "error": f"{20 - n} failing"}]

        assert stopped_at(calls) is None

    def test_thirty_distinct_searches_never_stop(self) -> None:
        watch = Watch()
        for n in range(30):
            watch.tool("search", {"query": f"material {n}"}, {"hits": 1, "price": f"{n}.50 EUR"})

        assert watch.findings == []


class TestFailures:
    def test_the_fourth_equal_failure_stops(self) -> None:
        watch = Watch()
        for n in range(9):
            watch.tool("read", {"path": "/big"}, error=f"too large: {41_049 + n} > 25000")

        assert watch.stopped == 4
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
        assert (
            stopped_at({"arguments": {"x": 1}, "error": reason} for reason in ("no a", "no b", "no c"))
            is None
        )

    def test_a_count_of_failures_that_falls_is_progress(self) -> None:
        calls = (
            {"name": "bash", "arguments": {"command": "test"}, "error": f"{n} failing"}
            for n in range(40, 0, -1)
        )

        assert stopped_at(calls) is None

    def test_an_error_in_the_result_of_a_good_call_is_a_failure(self) -> None:
        assert stopped_at([{"arguments": {"x": 1}, "result": {"error": "no agent_name"}}] * 9) == 4

    def test_the_same_failure_whatever_was_asked_stops_at_the_twelfth(self) -> None:
        watch = Watch()
        for n in range(20):
            watch.tool("edit", {"text": f"variant {n}"}, error="SyntaxError")

        assert (watch.warned, watch.stopped) == (6, 12)

    def test_failures_of_which_only_the_error_is_known_count_as_well(self) -> None:
        assert stopped_at([{"error": "denied"}] * 20) == 12

    def test_a_growing_back_off_is_no_storm(self) -> None:
        watch = Watch()
        for n in range(8):
            watch.tool("fetch", {"u": 1}, error="503", at=2.0**n)

        assert watch.stopped is None
        assert watch.warned == 3

    def test_a_model_that_is_refused_at_once_again_and_again_stops(self) -> None:
        watch = Watch(gap=0.1)
        for _ in range(20):
            watch.model(error="429", took=0.05)

        assert watch.stopped == 12

    def test_a_model_that_is_asked_patiently_while_it_is_refused_does_not(self) -> None:
        watch = Watch(gap=20.0)
        for _ in range(20):
            watch.model(error="429")

        assert watch.stopped is None


class TestCycles:
    @pytest.mark.parametrize(
        ("letters", "call"), [("AB", 8), ("ABC", 9), ("ABCD", 12), ("ABCDEFG", 21), ("ABCDEFGHIJKL", 36)]
    )
    def test_the_third_round_stops_from_eight_calls_on(self, letters: str, call: int) -> None:
        calls = [
            {"name": f"read_{letter}", "arguments": {}, "result": f"text of {letter}"} for letter in letters
        ]

        assert stopped_at(calls * 10) == call

    def test_a_cycle_warns_before_it_stops(self) -> None:
        watch = Watch()
        for n in range(20):
            watch.tool(f"read_{n % 2}", {}, f"text {n % 2}")

        assert (watch.warned, watch.stopped) == (6, 8)

    def test_a_return_alone_is_no_cycle(self) -> None:
        watch = Watch()
        for letter in "ABA":
            watch.tool(letter, {}, letter)

        assert watch.findings == []

    def test_a_cycle_whose_results_change_is_none(self) -> None:
        calls = (
            {"name": "read_a" if n % 2 else "read_b", "arguments": {}, "result": f"r{n}"} for n in range(60)
        )

        assert stopped_at(calls) is None

    def test_steps_in_any_order_that_bring_nothing_new_warn(self) -> None:
        watch = Watch()
        for letter in "ABCDACBDCADB":
            watch.tool(letter, {}, f"text of {letter}")

        assert watch.stopped is None
        assert watch.warned == 10  # the sixth without anything new

    def test_the_message_names_the_cycle(self) -> None:
        watch = Watch()
        for n in range(8):
            watch.tool(("read_a", "read_b")[n % 2], {}, n % 2)

        assert watch.findings[-1][1].message == (
            "a cycle of 2 calls (read_a, read_b) went round 4 times with equal results"
        )


def test_evidence_names_the_calls_and_what_would_have_cleared_it() -> None:
    watch = Watch()
    for _ in range(5):
        watch.tool("search", {"q": "x"}, "same")

    finding = watch.findings[-1][1]
    assert (finding.detector, finding.severity, finding.reason) == ("repeat", Severity.STOP, "LOOP")
    assert (finding.observed, finding.limit, finding.call) == (5.0, 5.0, 5)
    assert [int.from_bytes(span) for span in finding.spans] == [1, 2, 3, 4, 5]
    assert finding.cleared_by


@pytest.mark.parametrize("limit", ["equal", "writes", "sends", "failures"])
def test_zero_switches_a_rule_off(limit: str) -> None:
    calls = {
        "equal": {"name": "read", "arguments": {}, "result": "same"},
        "writes": {"name": "write", "arguments": {}, "result": "same"},
        "sends": {"name": "send", "arguments": {}, "result": "same"},
        "failures": {"name": "read", "arguments": {}, "error": "no"},
    }

    assert stopped_at([calls[limit]] * 40, similar=0, ends=0, **{limit: 0}) is None
