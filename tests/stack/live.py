"""The stack at work, and agents of the demo that play before it: what they said, and when it showed.

Rule 1: everything plays at once and once; tests look at what came of it. Rule 2: every wait is bounded.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.stack import acting, ports
from tests.stack.far_ends import Hook, Jaeger, Prometheus, Rows
from tests.stack.programs import Troupe
from tests.stack.stack import Stack
from tests.waiting import until

ROUNDS = tuple(f"round-{number}" for number in range(1, 11))
"""Budgets so small that four calls spend one: each is a condition whose alert is waited for."""
ROUND_USD = 0.02

BUDGETS: Mapping[str, object] = {
    "policy": {
        "budgets": {
            name: {
                "usd": ROUND_USD,
                "period": "rolling",
                "window": "1h",
                "match": {"feature": name},
                "forecast": {"within": 0},
                "marks": [{"at": "100%", "react": "stop"}],
            }
            for name in ROUNDS
        }
    }
}
"""What goes over deploy/processor.yaml here."""

AGENTS: Mapping[str, Sequence[str]] = {
    "looping": ("spanfuse.demo.agents", "looping"),
    "alternating": ("spanfuse.demo.agents", "alternating"),
    "healthy": ("spanfuse.demo.agents", "healthy"),
    "polling": ("spanfuse.demo.agents", "polling"),
    "crawl": ("spanfuse.demo.crawl", "--helpers", "2", "--seconds", "110"),
    "spender": ("tests.stack.spender", *ROUNDS),
}
"""Who plays: loops, honest ones, one that spends its hourly budget steadily, one that spends ten in turn."""

PLAY_WITHIN = 150.0
"""Seconds that all agents together may take."""


@dataclass
class Live:
    """A stack that runs, its far ends, and what the agents said."""

    stack: Stack
    hook: Hook
    said: acting.Said = field(default_factory=dict)
    rows_seen: dict[str, float] = field(default_factory=dict)

    @property
    def jaeger(self) -> Jaeger:
        """Where traces are."""
        return Jaeger(self.stack.at("JAEGER_QUERY_PORT"))

    @property
    def prometheus(self) -> Prometheus:
        """Where series are."""
        return Prometheus(self.stack.at("PROMETHEUS_PORT"))

    def rows(self) -> Rows:
        """Where rows are."""
        return Rows(self.stack.reader)

    def play(self) -> None:
        """Lets all agents play, to their ends."""
        over = threading.Event()
        watcher = threading.Thread(target=self._watch_rows, args=(over,))
        watcher.start()
        try:
            self.said = asyncio.run(acting.play(self.stack.application(), AGENTS, PLAY_WITHIN))
        finally:
            over.set()
            watcher.join()

    def _watch_rows(self, over: threading.Event) -> None:
        """Notes when the row of each budget that is spent can be read, by its budget."""
        with self.rows() as rows:
            # The view is made when the first rows are written.
            until(lambda: rows.ask("SELECT to_regclass('breaker_event') AS there")[0]["there"], PLAY_WITHIN)
            while not over.wait(0.02):
                sql = "SELECT DISTINCT budget FROM breaker_event WHERE kind = 'budget' AND budget <> ALL(%s)"
                for row in rows.ask(sql, list(self.rows_seen)):
                    self.rows_seen[row["budget"]] = time.time()


@contextmanager
def live_stack(collector: str = "collector.yaml") -> Iterator[Live]:
    """A stack on free ports, with a hook behind its Alertmanager. All of its data goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="spanfuse-stack-"))
    folder.chmod(0o711)  # Postgres is somebody else
    try:
        with Hook() as hook, Troupe(folder / "logs") as troupe:
            chosen = ports.choose({}, usual=False)
            stack = Stack(folder, chosen, collector, BUDGETS, people=hook.address)
            stack.start(troupe)
            yield Live(stack, hook)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
