"""Rows in either format: what is declared and finite, exemplars where they may stand, sums that add up."""

from __future__ import annotations

import math

import pytest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tests.telemetry.pages import page

from spanfuse_processor.telemetry.exposition.families import families, registry_of
from spanfuse_processor.telemetry.metrics import METRICS, metric
from spanfuse_processor.telemetry.tally import Row, single

TRACE = "ab" * 16
TRIP: Row = ("spanfuse_trips_total", ("main", "repeat"), 3, (TRACE, 1, 1_000.5))
LAG: Row = (
    "spanfuse_span_lag_seconds",
    (),
    ((1, 2, *(0,) * (len(metric("span_lag_seconds").buckets) - 2), 4), 9.5),
    ((1, (TRACE, 0.004, 1_000.5)),),
)


def open_metrics(*rows: Row) -> str:
    return openmetrics.generate_latest(registry_of(lambda: rows)).decode()


def test_every_declaration_is_there_in_its_order_also_without_a_row() -> None:
    said = [line.split()[2] for line in page([]).splitlines() if line.startswith("# HELP")]

    assert said == [one.name for one in METRICS]


def test_a_label_set_becomes_a_line() -> None:
    assert 'spanfuse_trips_total{agent="main",detector="repeat"} 3.0' in page([TRIP])


def test_exemplars_are_shown_where_the_format_has_them() -> None:
    text = open_metrics(TRIP, LAG)

    trip = f'spanfuse_trips_total{{agent="main",detector="repeat"}} 3.0 # {{trace_id="{TRACE}"}} 1.0 1000.5'
    assert trip in text
    assert f'spanfuse_span_lag_seconds_bucket{{le="0.005"}} 3.0 # {{trace_id="{TRACE}"}} 0.004 1000.5' in text
    assert "trace_id" not in page([TRIP, LAG])


def test_an_exemplar_that_is_not_declared_is_left_out() -> None:
    row: Row = ("spanfuse_findings_total", ("repeat", "red"), 3, (TRACE, 1, 1_000.5))

    assert TRACE not in open_metrics(row)


def test_buckets_add_up_and_bounds_are_written_as_floats() -> None:
    text = page([LAG])

    assert 'spanfuse_span_lag_seconds_bucket{le="1.0"} 3.0' in text
    assert 'spanfuse_span_lag_seconds_bucket{le="+Inf"} 7.0' in text
    assert "spanfuse_span_lag_seconds_count 7.0" in text
    assert "spanfuse_span_lag_seconds_sum 9.5" in text


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_infinite_or_no_number_is_never_shown(value: float) -> None:
    sick: Row = ("spanfuse_span_lag_seconds", (), (LAG[2][0], value), ())

    samples = [
        sample for family in families([single("spanfuse_leases", value), sick]) for sample in family.samples
    ]

    assert samples
    assert all(math.isfinite(sample.value) for sample in samples)
    assert "spanfuse_leases" not in {sample.name for sample in samples}


def test_what_nobody_declared_is_not_shown() -> None:
    assert "spanfuse_secret" not in page([single("spanfuse_secret", 1)])


def test_a_value_with_quotes_and_lines_breaks_no_page() -> None:
    row: Row = ("spanfuse_trips_total", ('a "b"\\\nc', "repeat"), 1, None)

    (family,) = [each for each in text_string_to_metric_families(open_metrics(row)) if each.samples]

    assert family.samples[0].labels["agent"] == 'a "b"\\\nc'


def test_units_are_told_in_the_newer_format() -> None:
    text = open_metrics()

    assert "# UNIT spanfuse_llm_cost_usd usd" in text
    assert "# TYPE spanfuse_build info" in text
    assert text.endswith("# EOF\n")
