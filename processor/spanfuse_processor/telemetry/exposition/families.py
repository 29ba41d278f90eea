"""Rows as the families of `prometheus_client`, which writes them in either format that there is.

Rule 1: what is not declared is not shown, and neither is what is infinite or no number. Rule 2: exemplars
stand where the declaration says so, and only the format OpenMetrics shows them. Rule 3: families come in the
order of the declarations, also those that have no row yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from math import isfinite
from typing import Any, Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar
from prometheus_client.utils import floatToGoString

from spanfuse_processor.telemetry.declaring import Metric, Type
from spanfuse_processor.telemetry.metrics import METRICS
from spanfuse_processor.telemetry.tally import Row

_TAILS: Final = {Type.COUNTER: "_total", Type.INFO: "_info"}
"""What stands behind the name of a family in the names of its samples."""


def families(rows: Iterable[Row]) -> list[Family]:
    """All families."""
    made = {metric.name: (metric, _family(metric)) for metric in METRICS}
    for name, labels, value, exemplars in rows:
        if name in made:
            metric, family = made[name]
            _add(metric, family, dict(zip(metric.labels, labels, strict=True)), value, exemplars)
    return [family for _, family in made.values()]


class Families(Collector):
    """Shows what `read` returns, whenever somebody asks."""

    def __init__(self, read: Callable[[], Iterable[Row]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Family]:
        """All families."""
        return iter(families(self._read()))


def registry_of(read: Callable[[], Iterable[Row]]) -> CollectorRegistry:
    """A registry that has these rows, and nothing else."""
    registry = CollectorRegistry()
    registry.register(Families(read))
    return registry


def _family(metric: Metric) -> Family:
    name = metric.name.removesuffix(_TAILS.get(metric.type, ""))
    return Family(name, metric.help, metric.type.value, metric.unit)


def _add(metric: Metric, family: Family, labels: Mapping[str, str], value: Any, exemplars: Any) -> None:
    if metric.type is Type.HISTOGRAM:
        _add_histogram(metric, family, labels, value, exemplars)
    elif isfinite(value):
        seen = _exemplar(exemplars) if metric.exemplars and exemplars else None
        family.add_sample(metric.name, dict(labels), value, exemplar=seen)


def _add_histogram(
    metric: Metric, family: Family, labels: Mapping[str, str], value: Any, exemplars: Any
) -> None:
    counts, total = value
    seen = dict(exemplars) if metric.exemplars else {}
    bounds = [*map(floatToGoString, metric.buckets), "+Inf"]
    for place, (bound, count) in enumerate(zip(bounds, accumulate(counts), strict=True)):
        exemplar = _exemplar(seen[place]) if place in seen else None
        family.add_sample(f"{metric.name}_bucket", {**labels, "le": bound}, count, exemplar=exemplar)
    family.add_sample(f"{metric.name}_count", dict(labels), sum(counts))
    family.add_sample(f"{metric.name}_sum", dict(labels), total if isfinite(total) else 0.0)


def _exemplar(seen: tuple[str, float, float]) -> Exemplar:
    trace_id, value, wall = seen
    return Exemplar({"trace_id": trace_id}, value, wall)
