"""All that is counted: at zero from the start or for each new agent, bounded, and only what is declared."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.engine.making import agent, ended, model
from tests.telemetry.pages import Hands, page, value

from spanfuse_processor.config import Cardinality
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Kind, Level
from spanfuse_processor.engine.runs.record import Record
from spanfuse_processor.engine.verdicts import BreakerState, Transition, Verdict
from spanfuse_processor.telemetry.budgets import BudgetBoard
from spanfuse_processor.telemetry.counters import DECISIONS, OPERATOR, SPENT, Metrics
from spanfuse_processor.telemetry.metrics import declared
from spanfuse_processor.telemetry.tally import Row, single


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(clock=Hands())


def called(metrics: Metrics, event: CallEnded) -> None:
    metrics.meter.tick()
    metrics.meter.add(Call(event, "run", 1, 0, 0, (), True, 10), event)


def test_trips_and_answers_of_gates_exist_at_zero_for_an_agent_as_soon_as_it_is_heard_of(
    metrics: Metrics,
) -> None:
    called(metrics, model(1, agent="main"))

    text = page(metrics.rows())

    for name in ("unknown", "main"):
        for detector in (*DETECTORS, OPERATOR):
            assert f'spanfuse_trips_total{{agent="{name}",detector="{detector}"}} 0.0' in text
        for decision, reason in DECISIONS:
            line = (
                f'spanfuse_gate_decisions_total{{agent="{name}",decision="{decision}",reason="{reason}"}} 0.0'
            )
            assert line in text
        assert f'spanfuse_state{{agent="{name}",state="closed"}} 1.0' in text
        assert f'spanfuse_runs_total{{agent="{name}",outcome="ok"}} 0.0' in text


def test_so_does_what_has_no_agent_from_the_start(metrics: Metrics) -> None:
    text = page(metrics.rows(shown=True))

    assert 'spanfuse_findings_total{detector="span_flood",level="yellow"} 0.0' in text
    assert 'spanfuse_stops_withheld_total{detector="repeat",mode="shadow"} 0.0' in text
    assert 'spanfuse_llm_unpriced_calls_total{model="other"} 0.0' in text
    assert 'spanfuse_label_overflow_total{label="agent"} 0.0' in text
    assert "spanfuse_span_lag_seconds_count 0.0" in text


def test_the_first_trip_of_an_agent_that_was_never_shown_is_an_increase(metrics: Metrics) -> None:
    called(metrics, model(1, agent="main"))
    metrics.tripped("main", "repeat")

    seen = [value(metrics.rows(shown=True), "trips_total", agent="main", detector="repeat") for _ in range(2)]

    assert seen == [0, 1]


def test_what_is_known_from_the_start_is_shown_as_it_is(metrics: Metrics) -> None:
    metrics.findings.add("repeat", "red")

    assert value(metrics.rows(shown=True), "findings_total", detector="repeat", level="red") == 1


def test_a_call_of_our_own_library_came_through_a_gate_and_a_foreign_one_did_not(metrics: Metrics) -> None:
    for event in (model(1, run_id="r"), ended(2, run_id="r"), agent(3, run_id="r"), model(4)):
        called(metrics, event)

    labels = {"agent": "unknown", "decision": "allow", "reason": "ok"}
    assert value(metrics.rows(), "gate_decisions_total", **labels) == 2


def test_agents_models_and_alerts_are_bounded_by_what_is_configured() -> None:
    metrics = Metrics(Cardinality(agents=2, models=1, budgets=1), Hands())
    for number in range(4):
        called(metrics, model(number, agent=f"a{number}", model=f"m{number}"))
    board = BudgetBoard()
    board.names.overflow = 7
    metrics.expose(lambda: iter(()), board)

    rows = list(metrics.rows())

    assert {row[1][0] for row in rows if row[0] == "spanfuse_trips_total"} == {"unknown", "a0", "a1", "other"}
    overflow = {label: value(rows, "label_overflow_total", label=label) for label in ("model", "budget")}
    assert overflow == {"model": 3, "budget": 7}
    assert value(rows, "label_overflow_total", label="agent") > 0


def test_gates_report_what_they_answered_and_how_long_they_took(metrics: Metrics) -> None:
    metrics.gate("unknown", SPENT, 3)
    metrics.observe_gate("deny", [2, 1], 0.002)

    rows = list(metrics.rows())

    assert value(rows, "gate_decisions_total", agent="unknown", decision="deny", reason="budget") == 3
    assert value(rows, "gate_duration_seconds_bucket", decision="deny", le="0.001") == 3


def test_orders_of_alerts_are_counted_by_alert(metrics: Metrics) -> None:
    metrics.alert_order("SpanfuseToolErrors", "obeyed")

    assert value(metrics.rows(), "alert_orders_total", alert="SpanfuseToolErrors", outcome="obeyed") == 1


def test_a_run_is_counted_once_and_holds_no_breaker_open_when_it_is_gone(metrics: Metrics) -> None:
    record = Record("r", 1, b"t" * 16, Identity(), 0)
    record.agent = "main"
    key = BreakerKey(Level.RUN, "r")
    opened = Transition(key, BreakerState.CLOSED, BreakerState.OPEN, 1)
    metrics.breakers.heard(Verdict("r", transition=opened, key=key), "main", "repeat")

    metrics.over(record, "", False)
    still = value(metrics.rows(), "state", agent="main", state="open")
    record.over = True
    metrics.over(record, "", True)

    assert (still, value(metrics.rows(), "state", agent="main", state="open")) == (1, 0)
    assert value(metrics.rows(), "runs_total", agent="main", outcome="ok") == 1


def test_nothing_is_shown_that_is_not_declared_and_everything_is_finite(metrics: Metrics) -> None:
    for kind in Kind:
        called(metrics, ended(1, kind=kind, agent="main"))
    metrics.alert_order("SpanfuseToolErrors", "obeyed")
    metrics.expose(odd, BudgetBoard())

    samples = [
        sample for family in text_string_to_metric_families(page(metrics.rows())) for sample in family.samples
    ]

    assert len(samples) > 300
    assert {sample.name: set(sample.labels) for sample in samples}.items() <= {
        name: set(labels) for name, labels in declared().items()
    }.items()
    assert all(math.isfinite(sample.value) for sample in samples)


def odd() -> Iterator[Row]:
    """What should not be there."""
    yield single("spanfuse_nobody_declared_this", 1)
    yield single("spanfuse_leases", math.inf)
    yield single("spanfuse_watchers", math.nan)


def test_no_series_tells_when_it_was_created(metrics: Metrics) -> None:
    assert "_created" not in page(metrics.rows())


def test_the_build_is_told(metrics: Metrics) -> None:
    assert 'spanfuse_build_info{revision="' in page(metrics.rows())
