"""What may be named: the metrics that the service declares, and those of the Collector that rules watch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from spanfuse_processor.telemetry import metrics


@dataclass(frozen=True)
class Declared:
    """The labels of a metric, and the fixed words of those that have some."""

    labels: frozenset[str]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_COLLECTOR: Final = {
    "otelcol_exporter_send_failed_spans": "exporter",
    "otelcol_exporter_enqueue_failed_spans": "exporter",
    "otelcol_exporter_sent_spans": "exporter",
    "otelcol_receiver_refused_spans": "receiver transport",
    "otelcol_receiver_accepted_spans": "receiver transport",
}
"""Counters; with _total they are the same, by how the Collector's own telemetry is configured."""
_OTHERS: Final = {
    "up": "",
    "scrape_duration_seconds": "",
    "otelcol_exporter_queue_size": "exporter",
    "otelcol_exporter_queue_capacity": "exporter",
}


def _declared() -> dict[str, Declared]:
    return {
        name: Declared(frozenset(labels), each.values)
        for each in metrics.METRICS
        for name, labels in each.samples().items()
    }


def _foreign() -> dict[str, Declared]:
    counters = {name + end: labels for name, labels in _COLLECTOR.items() for end in ("", "_total")}
    return {name: Declared(frozenset(labels.split())) for name, labels in {**counters, **_OTHERS}.items()}


METRICS: Final = {**_declared(), **_foreign()}
