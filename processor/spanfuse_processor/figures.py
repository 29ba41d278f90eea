"""What metrics read of the service when somebody scrapes: plain figures of its rooms.

Rule: it only reads, on the scraper's thread. It decides nothing, and names no metric but gauges.
"""

from __future__ import annotations

from collections.abc import Mapping

from spanfuse_processor.accounting import Money
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.engine import Engine
from spanfuse_processor.receiver.intake import Intake
from spanfuse_processor.reloading import OUTCOMES, Reloader
from spanfuse_processor.telemetry.keeping import Kept
from spanfuse_processor.telemetry.log import Faults


class Figures:
    """Of one service; `capacity` are the bytes that may wait to be judged, `began` when it was made."""

    def __init__(
        self,
        engine: Engine,
        hub: Hub,
        faults: Faults,
        intakes: Mapping[str, Intake],
        capacity: int,
        money: Money,
        reloader: Reloader | None,
        began: float,
    ) -> None:
        self._engine = engine
        self._hub = hub
        self._faults = faults
        self._intakes = intakes
        self._capacity = capacity
        self._money = money
        self._reloader = reloader
        self._began = began

    def gauges(self) -> Mapping[str, float]:
        """How it is now."""
        return {
            "spanfuse_active_traces": self._engine.stats().runs,
            "spanfuse_queue_depth": sum(intake.waiting for intake in self._intakes.values()),
            "spanfuse_queue_capacity": self._capacity,
            "spanfuse_watchers": self._hub.watchers,
            "spanfuse_directives_standing": len(self._hub),
            "spanfuse_internal_faults": sum(self._faults.counts.values()),
        }

    def received(self) -> Mapping[str, int]:
        """Spans taken in, by transport."""
        return {name: intake.counters.spans for name, intake in self._intakes.items()}

    def dropped(self) -> Mapping[str, int]:
        """Spans that could not be judged, by reason."""
        counters = [intake.counters for intake in self._intakes.values()]
        stats = self._engine.stats()
        return {
            "decode_error": sum(each.rejected for each in counters),
            "queue_full": sum(each.overloaded for each in counters),
            "shed": sum(each.shed for each in counters),
            "late": stats.late,
            "unread": stats.unread,
            "fault": self._faults.counts.get("engine", 0),
        }

    def odd(self) -> Mapping[str, int]:
        """Spans that were judged but are not as they should be."""
        stats = self._engine.stats()
        return {
            "duplicate": stats.duplicates,
            "conflict": stats.conflicts,
            "orphan": stats.orphans,
            "cycle": stats.cycles,
            "twin": stats.twins,
            "usage_missing": stats.usage_missing,
        }

    def kept(self) -> Kept:
        """What is kept, told and reloaded."""
        money, reloader = self._money, self._reloader
        return Kept(
            writers=money.writers(),
            webhook=money.webhook(),
            leases=money.leases,
            reloads=dict(reloader.counts) if reloader else dict.fromkeys(OUTCOMES, 0),
            reloaded=reloader.last if reloader else (True, self._began),
        )
