"""Agents of the demo that play before a stack, and what they say.

Rule 1: they send their spans to the Collector and take orders from the processor, as docker-compose.yml has
it. Rule 2: those with a curtain begin together. Rule 3: an agent that is lost is an error.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from spanfuse.demo import processes, stage

Said = dict[str, list[dict[str, Any]]]
"""What each agent said, in order; `heard` is when, in seconds since the epoch."""

CURTAIN = "spanfuse.demo."
"""Modules whose agents wait for their cue."""


async def play(application: Mapping[str, str], agents: Mapping[str, Sequence[str]], within: float) -> Said:
    """Lets agents, given by module and arguments, play to their ends.

    Raises:
        ChildFailed: one did not get ready, or ended without a word.
        TimeoutError: they took too long.
    """
    async with processes.Troupe() as troupe, asyncio.timeout(within):
        provider = await stage.start_provider(troupe, pace=1.0)
        environment = stage.agent_environment(provider, None, own=True) | dict(application)
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        started = [
            await troupe.start(name, ["-m", *command], environment | {"OTEL_SERVICE_NAME": f"demo-{name}"})
            for name, command in agents.items()
        ]
        waiting = [each for each in started if agents[each.name][0].startswith(CURTAIN)]
        for agent in waiting:
            await agent.expect("ready", stage.READY_WITHIN)
        for agent in waiting:
            await agent.order("go")
        heard = await asyncio.gather(*(_follow(agent) for agent in started))
    return dict(zip(agents, heard, strict=True))


async def _follow(agent: processes.Child) -> list[dict[str, Any]]:
    heard = [{**event, "heard": time.time()} async for event in agent.events()]
    if not heard or heard[-1].get("event", "done") != "done":
        raise processes.ChildFailed(f"{agent.name} was lost: {agent.last_words()}")
    return heard


def ending(said: Said, name: str) -> dict[str, Any]:
    """How an agent's run ended, in its own words."""
    (last,) = (each for each in said[name] if each["event"] == "ended")
    return dict(last["ended"])
