"""Agents that fail in the same way, one after the other: the whole row counts, and nothing but a row."""

from __future__ import annotations

from typing import Any

from tests.engine.detectors.launching import Said, heard, over, said
from tests.engine.making import ended, span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors.failing import FailingDetector
from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.findings import MOST_SPANS


def failing(events: list[CallStarted], **limits: Any) -> Said:
    return said("failing", events, **limits)


def in_vain(count: int, first: int = 10, error: str = "RateLimitError", **more: Any) -> list[CallStarted]:
    return [over(first + n, 1, f"verify {n % 7}", n, error=error, **more) for n in range(count)]


def test_twelve_in_a_row_warn_and_twenty_four_stop() -> None:
    assert failing(in_vain(30)) == [(12, "warn", "failures"), (24, "stop", "failures")]


def test_one_success_begins_the_count_anew() -> None:
    events = [*in_vain(23), over(90, 1, "verify", 50), *in_vain(23, first=100)]

    assert failing(events) == [(12, "warn", "failures"), (36, "warn", "failures")]


def test_another_error_does_too() -> None:
    assert failing([*in_vain(11), *in_vain(11, first=100, error="AuthError")]) == []


def test_errors_of_one_name_are_told_apart_by_their_digests() -> None:
    same = in_vain(30, failed="e1")
    various = [over(10 + n, 1, "verify", n, error="ToolError", failed=f"e{n % 2}") for n in range(60)]

    assert failing(same)[-1] == (24, "stop", "failures")
    assert failing(list(various)) == []


def test_agents_that_fail_because_one_below_them_did_count_once() -> None:
    events: list[CallStarted] = []
    for n in range(23):
        outer, inner = 100 + 2 * n, 101 + 2 * n
        events += [over(inner, outer, "b", n, error="boom"), over(outer, 1, "a", n, error="boom")]

    assert failing(events) == [(23, "warn", "failures")]


def test_agents_that_nothing_started_are_runs_of_their_own() -> None:
    assert failing([over(10 + n, 0, "main", n, error="boom") for n in range(40)]) == []


def test_calls_of_tools_are_another_matter() -> None:
    assert failing([ended(10 + n, 1, error="boom") for n in range(40)]) == []


def test_a_finding_names_the_error_and_the_first_and_last_that_failed() -> None:
    _, finding = heard("failing", in_vain(24, failed="e1"))[-1]

    assert finding.message == (
        "24 agents in a row failed with the same error (RateLimitError), the last of them verify 2"
    )
    assert (finding.first_span_id, finding.span_id, len(finding.spans)) == (span(10), span(33), MOST_SPANS)
    assert (finding.prints, finding.reason) == (("e1",), "RETRY_STORM")


def test_zero_switches_a_rule_off() -> None:
    assert failing(in_vain(40), failures=0) == [(12, "warn", "failures")]
    assert failing(in_vain(40), warn=0) == [(24, "stop", "failures")]


def test_no_detector_is_made_before_an_agent_has_failed() -> None:
    assert not FailingDetector.wakes(Call(over(1, 2, "a", 0), "run", 1, 0, 1, (), True))
    assert FailingDetector.wakes(Call(over(1, 2, "a", 0, error="boom"), "run", 1, 0, 1, (), True))
