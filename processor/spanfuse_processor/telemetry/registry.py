"""Every metric of the service, declared once: name, labels, help. Rules and dashboards may name only these.

Rule 1: counters that something watches exist at zero from the start. Rule 2: no trace, run, session, user or
content in a label; label values are bounded. Rule 3: what the engine counts is read at scrape time from
plain integers; only latencies are recorded when they happen.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.telemetry.budgets import BudgetBoard, BudgetSeries
from spanfuse_processor.telemetry.keeping import KeepingSeries, Kept
from spanfuse_processor.telemetry.meter import OTHER, Labels, Meter

OPERATOR = "operator"  # the `detector` label of a stop that a person ordered
# `decision` and `reason` of what applications did to calls, by the orders that they obey.
DENIED = ("deny", "tripped")
SPENT = ("deny", "budget")
DEFERRED = ("defer", "throttled")
DEGRADED = ("allow", "degraded")
NOT_DEGRADED = ("allow", "not_degraded")  # there was nothing to give up, or the provider would not have that
_LATENCY = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_DETECTION = (0.0005, *_LATENCY, 10.0)
_LAG = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Gauges = Callable[[], Mapping[str, float]]
Drops = Callable[[], Mapping[str, int]]


class Metrics:
    """The registry of one service. `meter` is filled by the engine, the rest by the service."""

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.meter = Meter()
        self._agents = Labels("agent", 25)
        self._folded = [self.meter.agents, self.meter.model_names]
        self.trips = self._counter("spanfuse_trips", "Breakers tripped", "agent", "detector")
        self.findings = self._counter(
            "spanfuse_findings",
            "What detectors saw: yellow warns, red is a stop that is due, whatever is done about it",
            "detector",
            "level",
        )
        self.stops_withheld = self._counter(
            "spanfuse_stops_withheld",
            "Stops that were due and only observed (shadow) or told (warn)",
            "detector",
            "mode",
        )
        self.gate_decisions = self._counter(
            "spanfuse_gate_decisions",
            "Calls that applications refused, put off or had give something up, as they report it",
            "decision",
            "reason",
        )
        self._begin_at_zero()
        self.kill_latency = self._histogram(
            "spanfuse_kill_latency_seconds",
            "Offending span's end to gate closed, application's clock",
            _LATENCY,
        )
        self.detection_latency = self._histogram(
            "spanfuse_detection_latency_seconds", "Offending span's end to decision", _DETECTION
        )
        self.span_lag = Histogram(
            "spanfuse_span_lag_seconds",
            "Span's end to being judged, newest span of each slice",
            buckets=_LAG,
            registry=self.registry,
        )

    def _begin_at_zero(self) -> None:
        """What something watches is there before it happens."""
        for detector in (*DETECTORS, OPERATOR):
            self.trips.labels("unknown", detector)
        for decision in (DENIED, SPENT, DEFERRED, DEGRADED, NOT_DEGRADED):
            self.gate_decisions.labels(*decision)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, registry=self.registry)

    def _histogram(self, name: str, text: str, buckets: Iterable[float]) -> Histogram:
        return Histogram(name, text, ["detector"], buckets=tuple(buckets), registry=self.registry)

    def tripped(self, agent: str, detector: str) -> None:
        """One breaker opened."""
        self.trips.labels(self._agents.bounded(agent), detector).inc()

    def expose(self, gauges: Gauges, received: Drops, dropped: Drops, odd: Drops) -> None:
        """Adds what is read at scrape time: gauges; spans received, dropped, and odd but judged."""
        self.registry.register(_AtScrape(self.meter, self._folded, gauges, received, dropped, odd))

    def expose_money(self, board: BudgetBoard, kept: Callable[[], Kept]) -> None:
        """Adds what is read of budgets, and of what is kept and told of them."""
        self._folded.append(board.names)
        self.registry.register(BudgetSeries(board))
        self.registry.register(KeepingSeries(kept))


class _AtScrape(Collector):
    """Turns plain counts into series when somebody asks. Runs on the scraper's thread: copies, then reads."""

    def __init__(
        self,
        meter: Meter,
        folded: Iterable[Labels],
        gauges: Gauges,
        received: Drops,
        dropped: Drops,
        odd: Drops,
    ) -> None:
        self._meter, self._gauges, self._received, self._dropped = meter, gauges, received, dropped
        self._odd = odd
        self._folded = folded

    def collect(self) -> Iterator[Metric]:
        """All families."""
        yield from self._models()
        tools = CounterMetricFamily("spanfuse_tool_calls", "Tool calls", labels=["agent", "outcome"])
        for labels, count in dict(self._meter.tools).items():
            tools.add_metric(labels, count)
        yield tools
        yield _counter("spanfuse_spans_received", "Spans taken in", "transport", self._received())
        yield _counter("spanfuse_spans_dropped", "Spans that could not be judged", "reason", self._dropped())
        yield _counter(
            "spanfuse_spans_odd", "Spans that were judged but are not as they should be", "kind", self._odd()
        )
        overflow = {label.name: label.overflow for label in self._folded}
        yield _counter("spanfuse_label_overflow", "Label values folded into `other`", "label", overflow)
        for name, value in self._gauges().items():
            yield GaugeMetricFamily(name, GAUGES[name], value=value)
        version = importlib.metadata.version("spanfuse")
        yield InfoMetricFamily("spanfuse_build", "Version of the service", value={"version": version})

    def _models(self) -> Iterator[Metric]:
        calls = CounterMetricFamily(
            "spanfuse_llm_calls", "Model calls", labels=["agent", "provider", "model", "outcome"]
        )
        tokens = CounterMetricFamily("spanfuse_llm_tokens", "Tokens", labels=["agent", "model", "type"])
        cost = CounterMetricFamily("spanfuse_llm_cost_usd", "Spend", labels=["agent", "model"])
        unpriced = CounterMetricFamily(
            "spanfuse_llm_unpriced_calls", "Calls without a price", labels=["model"]
        )
        spent: dict[tuple[str, str], list[int]] = {}
        for (agent, provider, model, outcome), n in dict(self._meter.models).items():
            calls.add_metric([agent, provider, model, outcome], n.calls)
            sums = spent.setdefault((agent, model), [0] * 7)
            parts = (
                n.input_tokens,
                n.output_tokens,
                n.cached_tokens,
                n.cache_write_tokens,
                n.reasoning_tokens,
            )
            for index, part in enumerate((*parts, n.micro_usd, n.unpriced)):
                sums[index] += part
        without_price = {OTHER: 0}  # it is what a model without a price is called
        for (agent, model), sums in spent.items():
            for kind, part in zip(TOKEN_TYPES, sums, strict=False):
                tokens.add_metric([agent, model, kind], part)
            cost.add_metric([agent, model], sums[5] / 1_000_000)
            without_price[model] = without_price.get(model, 0) + sums[6]
        for model, count in without_price.items():
            unpriced.add_metric([model], count)
        yield from (calls, tokens, cost, unpriced)


TOKEN_TYPES = ("input", "output", "cache_read", "cache_write", "reasoning")
GAUGES = {
    "spanfuse_active_traces": "Runs held in memory",
    "spanfuse_queue_depth": "Bytes of requests that wait to be judged",
    "spanfuse_queue_capacity": "Bytes that may wait before senders are told to come back",
    "spanfuse_watchers": "Applications that watch the control channel",
    "spanfuse_directives_standing": "Directives in force",
    "spanfuse_internal_faults": "Internal errors swallowed since start",
}


def _counter(name: str, text: str, label: str, counts: Mapping[str, int]) -> CounterMetricFamily:
    family = CounterMetricFamily(name, text, labels=[label])
    for value, count in dict(counts).items():
        family.add_metric([value], count)
    return family
