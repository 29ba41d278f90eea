"""How a repeat is said: what differed is not called equal."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import Watch

SAME: dict[str, Any] = {"arguments": {"q": "x"}, "result": "the same five urls"}


def last_words(watch: Watch) -> str:
    return watch.findings[-1][1].message


def test_equal_calls_are_called_equal() -> None:
    watch = Watch()
    for _ in range(5):
        watch.tool("search", **SAME)

    assert last_words(watch) == "search was called 5 times in a row with equal arguments and equal results"


def test_results_that_differ_in_times_are_said_to() -> None:
    watch = Watch()
    for minute in range(8):
        watch.tool("get_line", {"file": "log"}, f"2026-01-01T00:0{minute}:00Z GET / 200 in the usual way")

    assert last_words(watch).endswith("equal results, but for times, ids and counters")


def test_arguments_that_differ_in_counters_are_said_to() -> None:
    watch = Watch()
    for number in range(5):
        watch.tool("search", {"q": "x", "request_id": number}, "the same five urls")

    assert last_words(watch).endswith("equal results, but for times, ids and counters")


def test_failures_are_called_failures() -> None:
    watch = Watch()
    for _ in range(4):
        watch.tool("read", {"path": "/big"}, error="it does not fit")

    assert last_words(watch) == "read failed 4 times in a row with equal arguments and the same error"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"wait_time": 60.0}, "job_status was asked 9 times without a change, for 65 s"),
        ({"wait_cost": 0.04}, "job_status was asked 6 times without a change, for 0.04 USD"),
    ],
)
def test_a_long_wait_is_said_with_what_it_took(limits: dict[str, Any], message: str) -> None:
    watch = Watch(only=("repeat",), waits_warn=0, **limits)
    for _ in range(9):
        watch.costs = 10_000
        watch.model(f"what now, after {watch.number}?", f"wait, says {watch.number}")
        watch.costs = 0
        watch.tool("job_status", {"job": 7}, "running")

    assert last_words(watch) == message
