"""The page that Prometheus scrapes: names of the house, pre-created counters, no run or user in a label."""

from __future__ import annotations

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.telemetry.meter import ModelCounts
from spanfuse_processor.telemetry.registry import (
    DEFERRED,
    DEGRADED,
    DENIED,
    GAUGES,
    NOT_DEGRADED,
    OPERATOR,
    SPENT,
    Metrics,
)

FORBIDDEN = {"run", "trace", "trace_id", "session", "user", "prompt", "arguments"}


def page(metrics: Metrics) -> str:
    return generate_latest(metrics.registry).decode()


def exposed() -> Metrics:
    metrics = Metrics()
    metrics.expose(
        lambda: dict.fromkeys(GAUGES, 1.0), lambda: {"grpc": 7}, lambda: {"late": 2}, lambda: {"orphan": 4}
    )
    return metrics


def test_trips_exist_at_zero_for_every_detector_and_for_operators() -> None:
    text = page(exposed())

    for detector in (*DETECTORS, OPERATOR):
        assert f'spanfuse_trips_total{{agent="unknown",detector="{detector}"}} 0.0' in text


def test_so_do_calls_without_a_price_and_everything_that_applications_may_do_to_calls() -> None:
    text = page(exposed())

    assert 'spanfuse_llm_unpriced_calls_total{model="other"} 0.0' in text
    for decision, reason in (DENIED, SPENT, DEFERRED, DEGRADED, NOT_DEGRADED):
        assert f'spanfuse_gate_decisions_total{{decision="{decision}",reason="{reason}"}} 0.0' in text


def test_what_was_counted_becomes_series_when_somebody_asks() -> None:
    metrics = exposed()
    metrics.meter.models["main", "openai", "gpt-4o", "ok"] = ModelCounts(2, 200, 20, 80, 0, 6, 1_500_000, 0)
    metrics.meter.tools["main", "error"] = 3

    text = page(metrics)

    assert 'spanfuse_llm_calls_total{agent="main",model="gpt-4o",outcome="ok",provider="openai"} 2.0' in text
    assert 'spanfuse_llm_tokens_total{agent="main",model="gpt-4o",type="cache_read"} 80.0' in text
    assert 'spanfuse_llm_cost_usd_total{agent="main",model="gpt-4o"} 1.5' in text
    assert 'spanfuse_tool_calls_total{agent="main",outcome="error"} 3.0' in text
    assert 'spanfuse_spans_received_total{transport="grpc"} 7.0' in text
    assert 'spanfuse_spans_dropped_total{reason="late"} 2.0' in text
    assert 'spanfuse_spans_odd_total{kind="orphan"} 4.0' in text


def test_every_family_has_the_prefix_and_no_label_names_a_run_or_a_person() -> None:
    metrics = exposed()
    metrics.tripped("main", "repeat")

    families = list(text_string_to_metric_families(page(metrics)))

    assert families
    for family in families:
        assert family.name.startswith("spanfuse_")
        assert family.documentation
        for sample in family.samples:
            assert not FORBIDDEN & set(sample.labels)


def test_no_series_tells_when_it_was_created() -> None:
    assert "_created" not in page(exposed())
