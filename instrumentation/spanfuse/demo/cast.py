"""The agents while they play: when they begin, what they say, and the operator who stops one of them.

Rule 1: an agent that ends without saying how is lost, and its last words are shown. Rule 2: the operator acts
from outside the agent: through the processor where there is one, by a word on its standard input where not.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace

from spanfuse.demo.processes import Child, Event
from spanfuse.demo.progress import Progress
from spanfuse.demo.results import Ended
from spanfuse.demo.stage import Processor
from spanfuse.demo.usage import Tally

PLAY_WITHIN = 120.0
"""Seconds after which agents that have not ended are given up."""

STORM = "storm"
"""The name of the process that has all runs of the storm."""

LOST = Ended("lost")


class Cast:
    """The agents of one demo. `play` once, then ask for the endings."""

    def __init__(self, agents: Sequence[Child], processor: Processor | None, progress: Progress) -> None:
        self._agents = agents
        self._processor = processor
        self._progress = progress
        self._endings: dict[str, Ended] = {}
        self._ordered: dict[str, float] = {}  # run name -> when the operator ordered its end, monotonic

    async def play(self) -> None:
        """Lets all agents begin together, and follows them until they have ended."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PLAY_WITHIN):
                for agent in self._agents:
                    await agent.order("go")
                await asyncio.gather(*(self._follow(agent) for agent in self._agents))

    def ending(self, name: str) -> Ended:
        """How a run ended; LOST when it never said."""
        return self._endings.get(name, LOST)

    async def _follow(self, agent: Child) -> None:
        self._progress.update(agent.name, "running")
        async for event in agent.events():
            if event["event"] == "done":
                return
            await self._heard(agent, event)
        self._progress.update(agent.name, LOST.outcome)
        self._progress.problem(f"{agent.name} was lost: {agent.last_words()}")

    async def _heard(self, agent: Child, event: Event) -> None:
        match event["event"]:
            case "calls":
                self._progress.update(agent.name, "running", event["calls"])
            case "mid-stream":
                await self._kill(agent, event["run"])
            case "ended":
                self._take(event["name"], event["ended"])
                self._show(agent.name)

    def _take(self, name: str, fields: Event) -> None:
        ended = Ended(**{**fields, "used": Tally(**fields["used"])})
        if name in self._ordered and ended.closed_at is not None:
            ended = replace(ended, kill_latency=ended.closed_at - self._ordered[name])
        self._endings[name] = ended

    def _show(self, name: str) -> None:
        """A run of its own shows its outcome; the storm how many of its runs have been stopped."""
        if name != STORM:
            self._progress.update(name, self._endings[name].outcome, self._endings[name].calls)
            return
        blown = [ended for each, ended in self._endings.items() if each.startswith(STORM)]
        stopped = sum(ended.outcome == "stopped" for ended in blown)
        self._progress.update(name, f"{stopped} stopped", sum(ended.calls for ended in blown))

    async def _kill(self, agent: Child, run: str) -> None:
        """The operator stops a run; from here its kill latency counts."""
        self._ordered[agent.name] = time.monotonic()
        if self._processor is None:
            await agent.order(f"kill {run}")
            return
        try:
            await self._processor.kill(run, "the operator of the demo has seen enough")
        except OSError as error:
            self._progress.problem(f"the operator's kill failed: {error}")
