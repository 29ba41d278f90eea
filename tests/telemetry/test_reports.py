"""Verdicts and effects as figures: each kill is timed once, refusals are added as they grow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.telemetry.pages import page, value

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import (
    Action,
    BreakerState,
    Directive,
    Evidence,
    Finding,
    Mode,
    Removal,
    Severity,
    Transition,
    Verdict,
)
from spanfuse_processor.telemetry.counters import Metrics
from spanfuse_processor.telemetry.reports import Reports
from spanfuse_processor.wire.effects import Effect, EffectState
from spanfuse_processor.wire.messages import Instance

STOP = Directive("run/r/stop", 1, BreakerKey(Level.RUN, "r"), evidence=Evidence(detector="repeat"))
SOMEBODY = Instance(service="app", id="one")


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def reports(metrics: Metrics) -> Reports:
    return Reports(metrics, {STOP.id: STOP}.get)


def stopping(mode: Mode = Mode.ENFORCE) -> Verdict:
    finding = Finding("repeat", Severity.STOP, "LOOP", "five equal calls", b"s" * 8, 5, 5, 5)
    directive = Directive(STOP.id, 1, STOP.key, mode=mode)
    return Verdict("r", finding=finding, directive=directive, ended_ns=1_000_000_000, agent="main")


def test_an_enforced_stop_is_a_trip_with_its_latency(metrics: Metrics, reports: Reports) -> None:
    reports.verdict(stopping(), wall_ns=1_003_000_000)

    rows = list(metrics.rows())
    assert value(rows, "trips_total", agent="main", detector="repeat") == 1
    latency = value(rows, "detection_latency_seconds_sum", detector="repeat")
    assert latency == pytest.approx(0.003)


def test_a_stop_in_shadow_is_no_trip_and_counted_as_withheld(metrics: Metrics, reports: Reports) -> None:
    reports.verdict(stopping(Mode.SHADOW), wall_ns=1_003_000_000)

    rows = list(metrics.rows())
    assert value(rows, "trips_total", agent="main", detector="repeat") == 0
    assert value(rows, "stops_withheld_total", detector="repeat", mode="shadow") == 1


def test_what_was_seen_is_counted_by_its_level_whatever_is_done_about_it(
    metrics: Metrics, reports: Reports
) -> None:
    for mode in (Mode.SHADOW, Mode.ENFORCE):
        reports.verdict(stopping(mode), wall_ns=0)
    warning = Finding("repeat", Severity.WARN, "LOOP", "three equal calls", b"s" * 8, 3, 3, 3)
    reports.verdict(Verdict("r", finding=warning), wall_ns=0)

    counts = [
        value(metrics.rows(), "findings_total", detector="repeat", level=level) for level in ("yellow", "red")
    ]
    assert counts == [1, 2]
    assert value(metrics.rows(), "stops_withheld_total", detector="repeat", mode="enforce") == 0


def test_a_line_about_a_verdict_has_all_that_it_rests_on(
    reports: Reports, caplog: pytest.LogCaptureFixture
) -> None:
    finding = Finding(
        "repeat", Severity.STOP, "LOOP", "again", b"e" * 8, 5, 5, 5, cleared_by="a new result", rule="equal",
        first_span_id=b"a" * 8, prints=("d1", "d2"), cost=250_000,
    )  # fmt: skip

    reports.verdict(Verdict("r", finding=finding, agent="main"), wall_ns=0)

    (line,) = caplog.records
    assert (line.message, line.__dict__["fields"]) == (
        "again",
        {
            "run": "r",
            "agent": "main",
            "detector": "repeat",
            "rule": "equal",
            "severity": "stop",
            "call": 5,
            "span": (b"e" * 8).hex(),
            "first_span": (b"a" * 8).hex(),
            "prints": "d1,d2",
            "cost_usd": 0.25,
            "cleared_by": "a new result",
        },
    )


def test_a_kill_is_timed_once_however_often_it_is_reported(metrics: Metrics, reports: Reports) -> None:
    effect = Effect(STOP.id, 1, EffectState.APPLIED, calls_refused=1, kill_latency=0.002)

    reports.effects(SOMEBODY, [effect])
    reports.effects(SOMEBODY, [effect])

    rows = list(metrics.rows())
    assert value(rows, "kill_latency_seconds_count", detector="repeat") == 1
    assert value(rows, "gate_decisions_total", agent="unknown", decision="deny", reason="tripped") == 1


def test_what_is_refused_for_want_of_money_is_counted_apart(metrics: Metrics, reports: Reports) -> None:
    for order in ("budget/daily/stop", "budget/daily/lease"):
        reports.effects(SOMEBODY, [Effect(order, 1, EffectState.APPLIED, calls_refused=2)])

    counted = [
        value(metrics.rows(), "gate_decisions_total", agent="unknown", decision="deny", reason=reason)
        for reason in ("budget", "tripped")
    ]
    assert counted == [4, 0]


def test_refusals_are_totals_so_far_and_only_what_is_new_is_added(metrics: Metrics, reports: Reports) -> None:
    for refused in (1, 3, 3, 10):
        reports.effects(SOMEBODY, [Effect(STOP.id, 1, EffectState.APPLIED, calls_refused=refused)])

    assert (
        value(metrics.rows(), "gate_decisions_total", agent="unknown", decision="deny", reason="tripped")
        == 10
    )


def test_what_gates_answer_is_told_by_the_agent_whose_run_was_stopped(
    metrics: Metrics, reports: Reports
) -> None:
    reports.verdict(stopping(), wall_ns=0)

    reports.effects(SOMEBODY, [Effect(STOP.id, 1, EffectState.APPLIED, calls_refused=2)])

    rows = list(metrics.rows())
    assert value(rows, "gate_decisions_total", agent="main", decision="deny", reason="tripped") == 2
    denied = {"agent": "main", "provider": "unknown", "model": "other", "outcome": "denied"}
    assert value(rows, "llm_calls_total", **denied) == 2


def test_a_blocked_tool_was_no_model(metrics: Metrics) -> None:
    block = Directive("tool/search/block_tool", 1, BreakerKey(Level.TOOL, "search"), action=Action.BLOCK_TOOL)
    reports = Reports(metrics, {block.id: block}.get)

    reports.effects(SOMEBODY, [Effect(block.id, 1, EffectState.APPLIED, calls_refused=2)])

    rows = list(metrics.rows())
    assert value(rows, "tool_calls_total", agent="unknown", outcome="denied") == 2
    assert "spanfuse_llm_calls_total{" not in page(rows)


@pytest.mark.parametrize(
    ("names", "agent"),
    [(("crawler",), "crawler"), (("craw*",), "unknown"), (("a", "b"), "unknown"), ((), "unknown")],
)
def test_an_order_of_a_budget_is_for_the_agent_that_it_names_alone(
    metrics: Metrics, names: tuple[str, ...], agent: str
) -> None:
    order = Directive("budget/daily/stop", 1, BreakerKey(Level.BUDGET, "daily"), reach=Reach(agent=names))
    reports = Reports(metrics, {order.id: order}.get)

    reports.effects(SOMEBODY, [Effect(order.id, 1, EffectState.APPLIED, calls_refused=2)])

    assert value(metrics.rows(), "gate_decisions_total", agent=agent, decision="deny", reason="budget") == 2


def test_a_trip_opens_its_agents_state_and_a_release_is_a_recovery(
    metrics: Metrics, reports: Reports
) -> None:
    opened = Transition(STOP.key, BreakerState.CLOSED, BreakerState.OPEN, 1)
    closed = Transition(STOP.key, BreakerState.OPEN, BreakerState.CLOSED, 2)

    reports.verdict(replace(stopping(), transition=opened), wall_ns=0)
    after = value(metrics.rows(), "state", agent="main", state="open")
    reports.verdict(Verdict("r", transition=closed, removal=Removal(STOP.id, 2), key=STOP.key), wall_ns=0)

    assert (after, value(metrics.rows(), "state", agent="main", state="closed")) == (1, 1)
    assert value(metrics.rows(), "recovery_seconds_count", detector="repeat") == 1


def test_a_stop_of_an_agent_is_that_agents(metrics: Metrics, reports: Reports) -> None:
    key = BreakerKey(Level.AGENT, "crawler")
    reports.verdict(Verdict("", directive=Directive("agent/crawler/stop", 1, key), key=key), wall_ns=0)

    assert value(metrics.rows(), "trips_total", agent="crawler", detector="operator") == 1


def test_trips_and_kills_point_to_the_trace(metrics: Metrics) -> None:
    stop = replace(STOP, evidence=replace(STOP.evidence, trace_id=b"\xab" * 16))
    reports = Reports(metrics, {STOP.id: stop}.get)

    reports.verdict(replace(stopping(), directive=stop), wall_ns=1_003_000_000)
    reports.effects(SOMEBODY, [Effect(STOP.id, 1, EffectState.APPLIED, calls_refused=1, kill_latency=0.002)])

    pointing = {row[0] for row in metrics.rows() if "ab" * 16 in repr(row[3])}
    assert pointing == {
        "spanfuse_trips_total",
        "spanfuse_gate_decisions_total",
        "spanfuse_kill_latency_seconds",
        "spanfuse_detection_latency_seconds",
    }


def test_calls_that_were_put_off_or_made_cheaper_are_counted_too(metrics: Metrics, reports: Reports) -> None:
    for times in (1, 2):
        counts = {"calls_throttled": 4 * times, "calls_degraded": 5 * times, "calls_not_degraded": 6 * times}
        reports.effects(SOMEBODY, [Effect("budget/daily", 1, EffectState.APPLIED, **counts)])

    decided = [
        value(metrics.rows(), "gate_decisions_total", agent="unknown", decision=decision, reason=reason)
        for decision, reason in (("defer", "velocity"), ("allow", "degraded"), ("allow", "not_degraded"))
    ]
    assert decided == [8, 10, 12]


def test_a_rejected_directive_is_said_once(reports: Reports, caplog: pytest.LogCaptureFixture) -> None:
    rejected = Effect("x", 1, EffectState.REJECTED, error="cannot carry out pause")

    reports.effects(SOMEBODY, [rejected])
    reports.effects(SOMEBODY, [rejected])

    assert [record.message for record in caplog.records] == ["directive rejected"]


def test_a_line_about_a_feature_names_it(reports: Reports, caplog: pytest.LogCaptureFixture) -> None:
    warning = Finding("rate", Severity.WARN, "RATE", "21 model calls within a minute", b"s" * 8, 21, 21, 20)

    with caplog.at_level("INFO"):
        for key in (BreakerKey(Level.RUN, "r"), BreakerKey(Level.FEATURE, "chat")):
            reports.verdict(Verdict("r", finding=warning, key=key), wall_ns=0)

    of_run, of_feature = (line.__dict__["fields"] for line in caplog.records)
    assert of_feature == of_run | {"key": "feature/chat"}
