"""The stack at work, and agents of the demo that play before it: what they said, and when it showed.

Rule 1: everything plays at once and once; tests look at what came of it. Rule 2: agents send their spans to
the Collector and take orders from the processor, as docker-compose.yml has it. Rule 3: every wait is bounded.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.stack import ports
from tests.stack.far_ends import Hook, Jaeger, Prometheus, Rows
from tests.stack.programs import Troupe
from tests.stack.stack import Stack

from spanfuse.demo import processes, stage

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

PLAY_WITHIN = 150.0
"""Seconds that all agents together may take."""


@dataclass
class Live:
    """A stack that runs, its far ends, and what the agents said."""

    stack: Stack
    hook: Hook
    said: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    rows_seen: dict[str, float] = field(default_factory=dict)
    crawled_out: float = 0.0

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
            asyncio.run(asyncio.wait_for(self._play(), PLAY_WITHIN))
        finally:
            over.set()
            watcher.join()

    async def _play(self) -> None:
        async with processes.Troupe() as troupe:
            provider = await stage.start_provider(troupe, pace=1.0)
            environment = stage.agent_environment(provider, None, own=True) | self.stack.application()
            environment["PYTHONPATH"] = os.pathsep.join(sys.path)
            agents = {
                "looping": ["spanfuse.demo.agents", "looping"],
                "alternating": ["spanfuse.demo.agents", "alternating"],
                "healthy": ["spanfuse.demo.agents", "healthy"],
                "polling": ["spanfuse.demo.agents", "polling"],
                "crawl": ["spanfuse.demo.crawl", "--helpers", "2", "--seconds", "110"],
            }
            curtain = [
                await troupe.start(
                    name, ["-m", *arguments], environment | {"OTEL_SERVICE_NAME": f"demo-{name}"}
                )
                for name, arguments in agents.items()
            ]
            spender = await troupe.start("spender", ["-m", "tests.stack.spender", *ROUNDS], environment)
            for agent in curtain:
                await agent.expect("ready", stage.READY_WITHIN)
            for agent in curtain:
                await agent.order("go")
            await asyncio.gather(*(self._follow(agent) for agent in (*curtain, spender)))

    async def _follow(self, agent: processes.Child) -> None:
        heard = self.said.setdefault(agent.name, [])
        async for event in agent.events():
            heard.append({**event, "heard": time.time()})
        if not heard or (agent.name != "spender" and heard[-1]["event"] != "done"):
            raise processes.ChildFailed(f"{agent.name} was lost: {agent.last_words()}")

    def _watch_rows(self, over: threading.Event) -> None:
        """Notes when the row of each budget that is spent can be read, by its budget."""
        with self.rows() as rows:
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
