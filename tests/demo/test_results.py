"""The results: when a demo is as expected, and the JSON that others rely on."""

from __future__ import annotations

import dataclasses

import pytest
from tests.demo.test_thrift import ALERT, BRAKE, result

from spanfuse.demo.hook import Alert
from spanfuse.demo.results import DemoResult, RunResult, StormResult, milliseconds, percentile, requests
from spanfuse.demo.scenarios import HEALTHY, LOOPING
from spanfuse.demo.usage import Asked

STOPPED = RunResult(LOOPING, "stopped", "repeat", 8, 200, 0.01, 1.6, 2.5)
FINISHED = RunResult(HEALTHY, "finished", None, 30, 30, 0.05, 0.0, None)
STORM = StormResult(100, 30, 500, 100, 0.5, 4.5, 2.0, 9.0)


def test_the_json_has_exactly_the_fields_of_the_contract() -> None:
    shown = DemoResult("processor", [STOPPED], STORM).as_json()
    assert shown == {
        "mode": "processor",
        "ok": True,
        "runs": [
            {
                "name": "looping",
                "expected": "stopped",
                "outcome": "stopped",
                "detector": "repeat",
                "calls": 8,
                "calls_unguarded": 200,
                "cost_usd": 0.01,
                "saved_usd": 1.6,
                "kill_latency_ms": 2.5,
            }
        ],
        "storm": {
            "runs": 100,
            "calls_each": 30,
            "calls_made": 500,
            "spent_share": 0.1,
            "p50_ms": 2.0,
            "p99_ms": 9.0,
        },
        "money": None,
    }


@pytest.mark.parametrize(
    ("run", "ok"),
    [
        (STOPPED, True),
        (dataclasses.replace(STOPPED, calls=9), False),
        (dataclasses.replace(STOPPED, outcome="finished"), False),
        (FINISHED, True),
        (dataclasses.replace(FINISHED, outcome="stopped"), False),
        (dataclasses.replace(FINISHED, outcome="lost"), False),
    ],
    ids=["in time", "late", "never", "untouched", "killed wrongly", "lost"],
)
def test_a_run_is_right_when_it_ends_as_expected_and_in_time(run: RunResult, ok: bool) -> None:
    assert run.ok is ok
    assert DemoResult("embedded", [run], None).ok is ok


@pytest.mark.parametrize(
    ("storm", "ok"),
    [
        (STORM, True),
        (dataclasses.replace(STORM, stopped=99), False),
        (dataclasses.replace(STORM, cost_usd=1.0, saved_usd=4.0), True),
        (dataclasses.replace(STORM, cost_usd=1.1, saved_usd=3.9), False),
    ],
    ids=["stopped", "one got away", "a fifth", "more than a fifth"],
)
def test_the_storm_is_right_when_all_stop_and_a_fifth_is_spent_at_most(storm: StormResult, ok: bool) -> None:
    assert storm.ok is ok
    assert DemoResult("embedded", [FINISHED], storm).ok is ok


@pytest.mark.parametrize(("alerts", "ok"), [([ALERT, BRAKE], True), ([BRAKE], False)])
def test_money_has_its_say_and_its_object(alerts: list[Alert], ok: bool) -> None:
    act = result(alerts=alerts)
    whole = DemoResult("processor", [FINISHED], STORM, act)

    assert whole.ok is ok
    assert whole.as_json()["money"] == act.as_json()


def test_the_providers_log_is_read_back() -> None:
    asked = Asked(1.5, "research", "gpt-4o", 150, 20, 0, 150)

    assert requests({"requests": [dataclasses.asdict(asked)]}) == [asked]


def test_a_percentile_is_the_nearest_rank() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert (percentile(values, 0.50), percentile(values, 0.99)) == (50.0, 99.0)
    assert (percentile([7.0], 0.99), percentile([], 0.5)) == (7.0, None)


def test_latencies_are_told_in_milliseconds() -> None:
    assert (milliseconds(0.0021234), milliseconds(None)) == (2.123, None)
