"""A registry of runs for tests, with a clock that stands still."""

from __future__ import annotations

from typing import Any

from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.nouns import Identity
from spanfuse_processor.engine.policy import Bounds
from spanfuse_processor.engine.runs.registry import Runs
from spanfuse_processor.engine.runs.run import Run
from spanfuse_processor.engine.stats import EngineStats


def nobody_watches(who: Identity) -> Any:
    """Stands for a run's detectors."""


class Registry:
    """Runs, the counts they keep, and a clock that stands still unless it is set."""

    def __init__(self, **bounds: Any) -> None:
        self.stats = EngineStats()
        self.runs = Runs(Bounds(**bounds), nobody_watches, self.stats)
        self.now = 0.0

    def see(self, event: CallStarted) -> Run | None:
        """Finds the run and adds the event to it, as the engine does."""
        run = self.runs.of(event, self.now)
        if run is not None:
            run.tree.add(event, 1)
            run.record.last_ns = max(run.record.last_ns, getattr(event, "ended_ns", 0))
        return run

    def id_of(self, event: CallStarted) -> str | None:
        run = self.see(event)
        return run.id if run is not None else None

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.runs.advance(self.now)
