"""The storm (row S8): a hundred agents at once in one process under asyncio, all of them in a loop.

    python -m spanfuse.demo.storm [--runs N]

They share one client, as the agents of one service do, and arrive over three seconds.
"""

from __future__ import annotations

import argparse
import asyncio

from openai import AsyncOpenAI

import spanfuse
import spanfuse.auto
from spanfuse.demo import backstage
from spanfuse.demo.agents import work_async
from spanfuse.demo.scenarios import STORM_RUNS, Scenario, storm
from spanfuse.demo.task import Task

ARRIVALS = 3.0
"""Seconds over which the runs begin."""


async def blow(runs: int) -> None:
    """All runs, each to its end."""
    async with AsyncOpenAI() as client:
        pauses = (ARRIVALS * number / runs for number in range(runs))
        await asyncio.gather(*(_arrive(storm(n), pause, client) for n, pause in enumerate(pauses)))


async def _arrive(scenario: Scenario, pause: float, client: AsyncOpenAI) -> None:
    await asyncio.sleep(pause)
    task = Task(scenario)
    with backstage.ending(task):
        async with spanfuse.run(feature="storm", agent="storm"):
            await work_async(task, client)


def main() -> None:
    """Reads the arguments, waits for the curtain, blows."""
    parser = argparse.ArgumentParser(prog="python -m spanfuse.demo.storm")
    parser.add_argument("--runs", type=int, default=STORM_RUNS)
    arguments = parser.parse_args()
    backstage.wait_for_curtain()
    asyncio.run(blow(arguments.runs))
    backstage.tell("done")


if __name__ == "__main__":
    main()
