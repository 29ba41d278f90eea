"""What rules name exists: metrics, labels, their words; and what they record is named as is usual."""

from __future__ import annotations

import re

import promql_parser as promql
import pytest
from tests.rules.declared import METRICS
from tests.rules.reading import ALERTS, EVERY, RECORDS, SCRAPED, Rule, asked, coming_out, labels_of

COUNTING = {"rate", "increase"}


def of(rule: Rule) -> str:
    """For the name of a test."""
    return f"{rule.name}-{rule.labels.get('severity', 'record')}"


@pytest.mark.parametrize("rule", EVERY, ids=of)
def test_a_rule_names_only_metrics_that_are_declared_with_labels_that_they_have(rule: Rule) -> None:
    for each in asked(rule.expr):
        assert {name for name, _, _ in each.matchers} <= labels_of(each.metric), each


@pytest.mark.parametrize("rule", EVERY, ids=of)
def test_what_a_label_is_compared_with_is_a_word_that_it_can_be(rule: Rule) -> None:
    for each in asked(rule.expr):
        words = METRICS[each.metric].words if each.metric in METRICS else {}
        for label, _, value in each.matchers:
            for part in value.split("|") if label in words else ():
                assert part in words[label], each


@pytest.mark.parametrize("rule", EVERY, ids=of)
def test_a_rule_groups_and_matches_by_labels_that_are_there(rule: Rule) -> None:
    coming_out(rule.expr)


@pytest.mark.parametrize("rule", ALERTS, ids=of)
def test_an_alert_speaks_of_labels_that_it_has(rule: Rule) -> None:
    spoken = set(re.findall(r"\$labels\.(\w+)", " ".join(rule.annotations.values())))

    assert spoken <= coming_out(rule.expr) | (SCRAPED if "absent(" in rule.expr else set())


@pytest.mark.parametrize("rule", EVERY, ids=of)
def test_figures_of_the_service_are_those_of_one_job(rule: Rule) -> None:
    for each in asked(rule.expr):
        if each.metric.startswith("spanfuse_"):
            assert ("job", "MatchOp.Equal", "spanfuse") in each.matchers, each


@pytest.mark.parametrize("rule", EVERY, ids=of)
def test_only_counters_are_counted_and_they_are_only_counted(rule: Rule) -> None:
    for each in asked(rule.expr):
        if each.metric in METRICS and not each.metric.startswith("otelcol_"):
            counts = each.metric.endswith(("_total", "_bucket", "_count", "_sum"))
            assert counts == (each.function in COUNTING), each


@pytest.mark.parametrize("rule", RECORDS.values(), ids=of)
def test_what_is_recorded_is_named_by_its_level_its_metric_and_what_was_done(rule: Rule) -> None:
    level, metric, operations = rule.name.split(":")

    assert set(level.split("_")) | {"job"} == set(coming_out(rule.expr))
    assert metric.startswith("spanfuse_")
    assert not metric.endswith("_total")
    assert operations


def test_every_alert_is_of_ours_by_its_name() -> None:
    assert [rule.name for rule in ALERTS if not re.fullmatch(r"Spanfuse([A-Z][a-z]+)+", rule.name)] == [
        "Watchdog"
    ]


def test_what_is_recorded_is_recorded_once() -> None:
    assert len(RECORDS) == sum(not rule.alert for rule in EVERY)


def test_a_metric_that_nobody_declares_is_found() -> None:
    with pytest.raises(KeyError):
        coming_out('sum by (job) (rate(spanfuse_llm_kalls_total{job="spanfuse"}[5m]))')


def test_a_label_that_a_metric_does_not_have_is_found() -> None:
    with pytest.raises(AssertionError):
        coming_out("sum by (job, agnet) (rate(spanfuse_llm_calls_total[5m]))")
    with pytest.raises(AssertionError):
        coming_out("job:spanfuse_span_lag_seconds:p95_5m and on (job, agent) agent:spanfuse_runs:increase1h")


def test_an_expression_is_one_that_older_servers_take() -> None:
    """2.42 knows neither numbers as durations, nor names with dots, nor `le` as one server writes it."""
    for rule in EVERY:
        text = rule.expr
        assert promql.parse(text) is not None
        assert not re.search(r'\ble=~?"', text), rule.name
        assert not re.search(r"time\(\)\s*-\s*\d+[smhd]\b", text), rule.name
        assert "externalURL" not in "".join(rule.annotations.values())
