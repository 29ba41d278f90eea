"""The declarations: names of the house, bounded labels, help for people; what rules and panels may name."""

from __future__ import annotations

import subprocess
import sys
import typing

import pytest

from spanfuse_processor.engine.alerts import Condition
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.telemetry.counters import DECISIONS
from spanfuse_processor.telemetry.declaring import PREFIX, Metric, Type
from spanfuse_processor.telemetry.metrics import METRICS, declared, metric
from spanfuse_processor.writing import WriterStats

FORBIDDEN = {"run", "trace", "trace_id", "session", "user", "prompt", "arguments", "le", "job", "instance"}
BOUNDED = {"agent", "provider", "model", "budget", "alert", "detector", "queue", "destination", "op", "label"}
UNITS = ("usd", "tokens", "calls", "seconds")
every = pytest.mark.parametrize("one", METRICS, ids=lambda one: one.name)


@every
def test_a_name_says_whose_it_is_and_what_type_it_has(one: Metric) -> None:
    assert one.name.startswith(PREFIX)
    assert one.name.endswith("_total") == (one.type is Type.COUNTER)
    assert one.name.endswith("_info") == (one.type is Type.INFO)


@every
def test_a_name_ends_in_its_unit(one: Metric) -> None:
    stem = one.name.removesuffix("_total")

    assert not one.unit or (one.unit in UNITS and stem.endswith(f"_{one.unit}"))


@every
def test_no_label_names_a_run_or_a_person_and_each_is_bounded(one: Metric) -> None:
    assert not FORBIDDEN & set(one.labels)
    assert one.type is Type.INFO or set(one.labels) - set(one.values) <= BOUNDED
    assert set(one.values) <= set(one.labels)


@every
def test_it_is_told_in_words(one: Metric) -> None:
    assert one.help and not one.help.endswith(".")
    assert len(set(one.labels)) == len(one.labels)


@every
def test_bounds_are_those_of_a_histogram_they_rise_and_are_no_integers(one: Metric) -> None:
    assert bool(one.buckets) == (one.type is Type.HISTOGRAM)
    assert list(one.buckets) == sorted(set(one.buckets))
    assert all(type(bound) is float for bound in one.buckets)


def test_no_metric_is_declared_twice() -> None:
    assert len({one.name for one in METRICS}) == len(METRICS)


def test_queries_may_name_the_parts_of_a_histogram_and_not_its_name() -> None:
    names = declared()

    assert names["spanfuse_kill_latency_seconds_bucket"] == {"detector", "le"}
    assert names["spanfuse_kill_latency_seconds_count"] == {"detector"}
    assert "spanfuse_kill_latency_seconds" not in names
    assert names["spanfuse_trips_total"] == {"agent", "detector"}


def test_one_is_found_with_and_without_the_prefix_and_none_by_a_name_that_is_not_there() -> None:
    assert metric("trips_total") is metric("spanfuse_trips_total")
    with pytest.raises(KeyError):
        metric("trips")


@pytest.mark.parametrize(
    ("name", "label", "said"),
    [
        ("call_duration_seconds", "kind", Kind),
        ("budget_alerts_total", "condition", Condition),
        ("gate_decisions_total", "decision", {decision for decision, _ in DECISIONS}),
        ("gate_decisions_total", "reason", {reason for _, reason in DECISIONS}),
    ],
)
def test_fixed_words_are_those_of_the_code(name: str, label: str, said: typing.Iterable[str]) -> None:
    assert set(metric(name).values[label]) == {str(each) for each in said}


def test_outcomes_of_rows_are_what_writers_count() -> None:
    assert set(metric("store_rows_total").values["outcome"]) <= set(WriterStats._fields)


def test_whoever_checks_a_rule_needs_nothing_of_the_service_to_know_them() -> None:
    code = "import sys, spanfuse_processor.telemetry.metrics; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    loaded = {name for name in done.stdout.split() if name.startswith("spanfuse_processor")}
    assert loaded == {
        "spanfuse_processor",
        "spanfuse_processor.telemetry",
        "spanfuse_processor.telemetry.declaring",
        "spanfuse_processor.telemetry.metrics",
    }
