"""What metrics read of the service when somebody asks: plain figures of its rooms, as rows.

Rule: it only reads, on the service's loop. It decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spanfuse_processor.accounting import Money
from spanfuse_processor.clock import Clock
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.engine import Engine
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.passing import Passing
from spanfuse_processor.receiver.intake import Intake
from spanfuse_processor.reloading import OUTCOMES, Reloader
from spanfuse_processor.telemetry.keeping import Kept
from spanfuse_processor.telemetry.log import Faults
from spanfuse_processor.telemetry.metrics import metric
from spanfuse_processor.telemetry.tally import Row, rows_of, single
from spanfuse_processor.writing.writer import MOST_WAITING


class Figures:
    """Of one service; `capacity` are the bytes that may wait at each transport."""

    def __init__(
        self,
        engine: Engine,
        hub: Hub,
        faults: Faults,
        intakes: Mapping[str, Intake],
        money: Money,
        reloader: Reloader | None,
        passing: Passing,
        capacity: int,
        clock: Clock,
    ) -> None:
        self._engine = engine
        self._hub = hub
        self._faults = faults
        self._intakes = intakes
        self._capacity = capacity
        self._money = money
        self._passing = passing
        self._reloader = reloader
        self._began = clock.wall_ns() / 1e9

    def rows(self) -> Iterator[Row]:
        """All of it."""
        stats = self._engine.stats()
        yield single(metric("active_runs").name, stats.active)
        yield single(metric("active_traces").name, stats.runs)
        yield single(metric("watchers").name, self._hub.watchers)
        yield single(metric("directives_standing").name, len(self._hub))
        yield single(metric("internal_faults_total").name, sum(self._faults.counts.values()))
        for name, intake in self._intakes.items():
            yield metric("spans_received_total").name, (name,), intake.counters.spans, None
            yield metric("queue_depth").name, (name,), intake.waiting, None
            yield metric("queue_capacity").name, (name,), self._capacity, None
        yield from rows_of(metric("spans_dropped_total").name, self._dropped(stats))
        yield from rows_of(metric("spans_odd_total").name, _odd(stats))
        yield from self._kept().rows()

    def _dropped(self, stats: EngineStats) -> Mapping[str, int]:
        counters = [intake.counters for intake in self._intakes.values()]
        return {
            "queue_full": sum(each.overloaded for each in counters),
            "shed": sum(each.shed for each in counters),
            "decode_error": sum(each.rejected for each in counters),
            "late": stats.late,
            "fault": self._faults.counts.get("engine", 0),
        }

    def _kept(self) -> Kept:
        money, reloader = self._money, self._reloader
        asked = money.books.operations.stats()
        return Kept(
            writers=money.writers(),
            most=MOST_WAITING,
            webhook=money.webhook(),
            leases=money.leases,
            reloads=dict(reloader.counts) if reloader else dict.fromkeys(OUTCOMES, 0),
            reloaded=reloader.last if reloader else (True, self._began),
            operations=asked.counts,
            durations=asked.durations,
            forwarded=self._passing.standings(),
        )


def _odd(stats: EngineStats) -> Mapping[str, int]:
    return {
        "duplicate": stats.duplicates,
        "conflict": stats.conflicts,
        "orphan": stats.orphans,
        "cycle": stats.cycles,
        "twin": stats.twins,
        "usage_missing": stats.usage_missing,
        "unread": stats.unread,
    }
