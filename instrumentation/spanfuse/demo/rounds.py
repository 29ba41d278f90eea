"""Agents at work, round after round, for a processor that runs elsewhere: something for its dashboards.

    python -m spanfuse.demo.rounds [--rounds N] [--pause SECONDS] [--storm RUNS]

Rule 1: where the processor is, and the way of spans, come from `SPANFUSE_*`, as for any application. Rule 2:
an agent that fails is said, and the next round begins all the same. It orders nothing and measures nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import os
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console

from spanfuse.demo import stage
from spanfuse.demo.processes import Child, ChildFailed, Troupe
from spanfuse.demo.progress import Progress
from spanfuse.demo.scenarios import ALTERNATING, HEALTHY, LOOPING, POLLING

ACTORS = (LOOPING.name, ALTERNATING.name, HEALTHY.name, POLLING.name)
"""Who plays in each round. The novel of the demo is not among them: only an operator would end it."""

LONGEST = 120.0
"""Seconds after which a round is over, whoever still plays."""

OURS = ("ENDPOINT", "SPANS_ENDPOINT", "TOKEN", "INSECURE", "CA_FILE")
"""What is handed on to the agents, after `SPANFUSE_`."""


def handed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """Where the processor is, for the agents.

    >>> handed_on({"SPANFUSE_ENDPOINT": "http://processor:4317", "SPANFUSE_MODE": "shadow"})
    {'SPANFUSE_ENDPOINT': 'http://processor:4317'}
    """
    names = (f"SPANFUSE_{name}" for name in OURS)
    return {name: environment[name] for name in names if environment.get(name)}


def commands(storm: int) -> list[tuple[str, list[str]]]:
    """The agents of one round: their names, and how they are started."""
    alone = [(name, ["-m", "spanfuse.demo.agents", name]) for name in ACTORS]
    money = [
        ("crawl", ["-m", "spanfuse.demo.crawl", "--seconds", "15"]),
        ("research", ["-m", "spanfuse.demo.research"]),
    ]
    blown = [("storm", ["-m", "spanfuse.demo.storm", "--runs", str(storm)])] if storm else []
    return [*alone, *money, *blown]


async def play(rounds: int, pause: float, storm: int, progress: Progress) -> None:
    """So many rounds, 0: until it is ended, with a pause after each."""
    async with Troupe() as troupe:
        provider = await stage.start_provider(troupe, pace=1.0)
        environment = stage.agent_environment(provider, None, own=True)
        environment |= handed_on(os.environ)
        for number in itertools.count(1):
            progress.note(f"round {number}")
            try:
                await play_round(commands(storm), environment, progress)
            except (ChildFailed, TimeoutError) as error:
                progress.problem(f"  a round that came to nothing: {error or 'it took too long'}")
            if number == rounds:
                return
            await asyncio.sleep(pause)


async def play_round(
    agents: Sequence[tuple[str, list[str]]], environment: Mapping[str, str], progress: Progress
) -> None:
    """Starts the agents, lets them begin together, and follows them to their ends."""
    async with Troupe() as troupe:
        started = [
            await troupe.start(name, command, {**environment, "OTEL_SERVICE_NAME": f"demo-{name}"})
            for name, command in agents
        ]
        await asyncio.gather(*(agent.expect("ready", stage.READY_WITHIN) for agent in started))
        for agent in started:
            await agent.order("go")
        async with asyncio.timeout(LONGEST):
            await asyncio.gather(*(_follow(agent, progress) for agent in started))


async def _follow(agent: Child, progress: Progress) -> None:
    async for event in agent.events():
        if event["event"] == "done":
            return progress.note(f"  {agent.name} has ended")
    progress.problem(f"  {agent.name} was lost: {agent.last_words()}")


def main() -> None:
    """Reads the arguments and plays."""
    parser = argparse.ArgumentParser(prog="python -m spanfuse.demo.rounds")
    parser.add_argument("--rounds", type=int, default=0, help="how many; 0: until it is ended")
    parser.add_argument("--pause", type=float, default=10.0, help="seconds between two rounds")
    parser.add_argument("--storm", type=int, default=10, help="runs of the storm in each round")
    arguments = parser.parse_args()
    if not os.environ.get("SPANFUSE_ENDPOINT"):
        sys.exit("SPANFUSE_ENDPOINT must say where the processor is")
    with contextlib.suppress(KeyboardInterrupt), Progress(Console()) as progress:
        asyncio.run(play(arguments.rounds, arguments.pause, arguments.storm, progress))


if __name__ == "__main__":
    main()
