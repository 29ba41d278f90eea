"""What is written behind, told and reloaded, as series: stores, the webhook, leases, the configuration.

Rule 1: what watches nothing else exists from the start. Rule 2: it reads plain counts when somebody scrapes,
on the scraper's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from spanfuse_processor.writing import WriterStats

OUTCOMES: Final = ("written", "dropped", "refused")
SENT: Final = ("delivered", "failed", "dropped")


class Kept(NamedTuple):
    """What is counted, at one moment.

    Attributes:
        writers: of each store's writer.
        webhook: of the webhook: SENT, `retries` and `waiting`; None: there is none.
        leases: held now.
        reloads: attempts to reload, by outcome.
        reloaded: the last one succeeded, and when one last did (wall time).
    """

    writers: Mapping[str, WriterStats]
    webhook: Mapping[str, int] | None
    leases: int
    reloads: Mapping[str, int]
    reloaded: tuple[bool, float]


class KeepingSeries(Collector):
    """Turns counts into series when somebody asks."""

    def __init__(self, read: Callable[[], Kept]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """All families."""
        kept = self._read()
        yield from _writers(kept.writers)
        yield from _webhook(kept.webhook)
        yield _failures(kept)
        yield GaugeMetricFamily("spanfuse_leases_held", "Leases that applications hold", value=kept.leases)
        yield _counter(
            "spanfuse_config_reloads", "Changed configurations that were read", "outcome", kept.reloads
        )
        good, at = kept.reloaded
        yield GaugeMetricFamily(
            "spanfuse_config_last_reload_successful", "Whether the last one is obeyed", value=float(good)
        )
        yield GaugeMetricFamily(
            "spanfuse_config_last_reload_success_timestamp_seconds",
            "When a configuration was last taken up",
            value=at,
        )


def _writers(writers: Mapping[str, WriterStats]) -> Iterator[Metric]:
    rows = CounterMetricFamily("spanfuse_store_rows", "Rows for stores", labels=["store", "outcome"])
    failures = CounterMetricFamily("spanfuse_store_failures", "Attempts that failed", labels=["store"])
    waiting = GaugeMetricFamily("spanfuse_store_waiting", "Rows not written yet", labels=["store"])
    failing = GaugeMetricFamily("spanfuse_store_failing", "The last attempt failed", labels=["store"])
    for name, stats in writers.items():
        for outcome in OUTCOMES:
            rows.add_metric([name, outcome], getattr(stats, outcome))
        failures.add_metric([name], stats.failures)
        waiting.add_metric([name], stats.waiting)
        failing.add_metric([name], float(stats.failing))
    yield from (rows, failures, waiting, failing)


def _webhook(webhook: Mapping[str, int] | None) -> Iterator[Metric]:
    counts = webhook or {}
    outcomes = {name: counts.get(name, 0) for name in SENT}
    yield _counter("spanfuse_webhook_events", "Events for the webhook", "outcome", outcomes)
    yield CounterMetricFamily(
        "spanfuse_webhook_retries", "Events that were sent again", value=counts.get("retries", 0)
    )
    yield GaugeMetricFamily(
        "spanfuse_webhook_waiting", "Events not delivered yet", value=counts.get("waiting", 0)
    )


def _failures(kept: Kept) -> Metric:
    """Events that are lost, by where they should have gone."""
    webhook = kept.webhook or {}
    lost = {
        "store": sum(stats.dropped + stats.refused for stats in kept.writers.values()),
        "webhook": webhook.get("failed", 0) + webhook.get("dropped", 0),
    }
    return _counter("spanfuse_event_write_failures", "What could not be kept or told", "sink", lost)


def _counter(name: str, text: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family
