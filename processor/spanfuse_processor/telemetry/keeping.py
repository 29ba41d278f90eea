"""What is written behind, told, waited for and reloaded, as rows: stores, queues, the webhook, the file.

Rule 1: what something watches exists from the start. Rule 2: it reads plain counts that others keep. It does
not know stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from spanfuse_processor.telemetry.metrics import metric
from spanfuse_processor.telemetry.tally import Row, rows_of, single
from spanfuse_processor.writing import WriterStats

OUTCOMES: Final = ("written", "dropped", "refused")
SENT: Final = ("delivered", "failed", "dropped")
NONE: Final[Mapping[str, int]] = {}
STORES: Final = {"postgresql": "postgres", "rediss": "redis"}
"""Kinds of stores that go by another name in an address."""
_OUTCOMES: Final = {"failed": "error"}


class Forwarded(Protocol):
    """What came of requests for one destination, and how many bytes wait of how many that may."""

    @property
    def sent(self) -> int:
        """Were taken."""

    @property
    def refused(self) -> int:
        """Were refused for good."""

    @property
    def dropped(self) -> int:
        """Were never taken, for want of room or time."""

    @property
    def retried(self) -> int:
        """Times that one was sent again."""

    @property
    def events_lost(self) -> int:
        """Events of ours that never came there."""

    @property
    def waiting(self) -> int:
        """Bytes, now."""

    @property
    def capacity(self) -> int:
        """Bytes."""


class Kept(NamedTuple):
    """What is counted, at one moment.

    Attributes:
        writers: of each store's writer: `journal`, and `ledger` where that has one of its own.
        most: rows that may wait with one writer.
        webhook: of the webhook: SENT, `retries` and `waiting`; None: there is none.
        leases: held now.
        reloads: attempts to reload, by outcome.
        reloaded: the last one succeeded, and when one last did (wall time).
        operations: what stores were asked, by store, what it was, and what came of it (ok, refused, failed).
        durations: how long that took, by store and what it was: how many took up to each bound and beyond,
            and the seconds of all.
        forwarded: by destination.
    """

    writers: Mapping[str, WriterStats]
    most: int
    webhook: Mapping[str, int] | None
    leases: int
    reloads: Mapping[str, int]
    reloaded: tuple[bool, float]
    operations: Mapping[tuple[str, str, str], int] = {}
    durations: Mapping[tuple[str, str], tuple[Sequence[int], float]] = {}
    forwarded: Mapping[str, Forwarded] = {}

    def rows(self) -> Iterator[Row]:
        """All of it."""
        yield from self._writers()
        yield from self._operations()
        yield from self._forwarded()
        yield from self._webhook()
        yield single(metric("leases").name, self.leases)
        yield from rows_of(metric("config_reloads_total").name, self.reloads)
        good, at = self.reloaded
        yield single(metric("config_last_reload_successful").name, float(good))
        yield single(metric("config_last_reload_success_timestamp_seconds").name, at)

    def _writers(self) -> Iterator[Row]:
        for name, stats in self.writers.items():
            for outcome in OUTCOMES:
                yield metric("store_rows_total").name, (name, outcome), getattr(stats, outcome), None
            yield metric("store_failures_total").name, (name,), stats.failures, None
            yield metric("store_failing").name, (name,), float(stats.failing), None
            yield metric("queue_depth").name, (name,), stats.waiting, None
            yield metric("queue_capacity").name, (name,), self.most, None

    def _operations(self) -> Iterator[Row]:
        name = metric("store_operations_total").name
        for (store, op, outcome), count in self.operations.items():
            yield name, (STORES.get(store, store), op, _OUTCOMES.get(outcome, outcome)), count, None
        name = metric("store_operation_duration_seconds").name
        for (store, op), (counts, seconds) in self.durations.items():
            yield name, (STORES.get(store, store), op), (tuple(counts), seconds), ()

    def _forwarded(self) -> Iterator[Row]:
        for name, done in self.forwarded.items():
            for outcome in metric("forward_requests_total").values["outcome"]:
                yield metric("forward_requests_total").name, (name, outcome), getattr(done, outcome), None
            yield metric("queue_depth").name, (f"forward_{name}",), done.waiting, None
            yield metric("queue_capacity").name, (f"forward_{name}",), done.capacity, None

    def _webhook(self) -> Iterator[Row]:
        counts = self.webhook or NONE
        outcomes = {name: counts.get(name, 0) for name in SENT}
        yield from rows_of(metric("webhook_events_total").name, outcomes)
        yield single(metric("webhook_retries_total").name, counts.get("retries", 0))
        yield single(metric("webhook_waiting").name, counts.get("waiting", 0))
        lost = {
            "journal": self._unwritten(),
            "webhook": outcomes["failed"] + outcomes["dropped"],
            "otlp": sum(done.events_lost for done in self.forwarded.values()),
        }
        yield from rows_of(metric("event_write_failures_total").name, lost)

    def _unwritten(self) -> int:
        stats = self.writers.get("journal", WriterStats())
        return stats.dropped + stats.refused
