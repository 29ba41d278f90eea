"""The demo from beginning to end: parts up, agents ready, curtain, results, everything down again.

Rule 1: agents begin together, when all of them are ready, so that no start-up disturbs a measurement.
Rule 2: an agent that fails is an outcome, not an error of the demo. Rule 3: whatever happens, no process is
left behind.
"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from spanfuse.demo import accounts, stage
from spanfuse.demo.cast import STORM, Cast
from spanfuse.demo.processes import Child, Troupe
from spanfuse.demo.progress import Progress
from spanfuse.demo.results import DemoResult, tallies
from spanfuse.demo.scenarios import NAMED, STORM_RUNS, storm
from spanfuse.demo.stage import READY_WITHIN, Processor
from spanfuse.demo.usage import Tally


@dataclass(frozen=True, slots=True)
class Options:
    """What a person may choose. `base_url` is a real provider's: then there is no storm."""

    processor: bool = True
    base_url: str = ""
    model: str = ""
    pace: float = 1.0
    storm_runs: int = STORM_RUNS
    names: tuple[str, ...] = tuple(NAMED)

    @property
    def mode(self) -> str:
        """As it is printed."""
        return "processor" if self.processor else "embedded"

    @property
    def storms(self) -> range:
        """The numbers of the storm's runs."""
        return range(0 if self.base_url else self.storm_runs)


async def perform(options: Options, progress: Progress) -> DemoResult:
    """One whole demo.

    Raises:
        ChildFailed: a part did not get ready; nothing is left running.
    """
    progress.note("starting the provider, the agents and who judges them ...")
    with tempfile.TemporaryDirectory(prefix="spanfuse-demo-") as folder:
        async with Troupe() as troupe:
            provider = options.base_url or await stage.start_provider(troupe, options.pace)
            processor = await _processor(options, troupe, Path(folder))
            cast = Cast(await _agents(options, troupe, provider, processor), processor, progress)
            progress.note(f"mode: {options.mode}; provider: {provider}")
            await cast.play()
            result = await _settle(options, cast, provider)
            if not result.ok and processor is not None:
                progress.problem(f"the processor's last words: {processor.child.last_words()}")
            return result


async def _processor(options: Options, troupe: Troupe, folder: Path) -> Processor | None:
    return await stage.start_processor(troupe, folder) if options.processor else None


async def _agents(
    options: Options, troupe: Troupe, provider: str, processor: Processor | None
) -> list[Child]:
    """All agents, started and ready."""
    environment = stage.agent_environment(provider, processor, own=not options.base_url)
    commands = [(name, ["-m", "spanfuse.demo.agents", name]) for name in options.names]
    if options.model:
        commands = [(name, [*command, "--model", options.model]) for name, command in commands]
    if options.storms:
        commands.append((STORM, ["-m", "spanfuse.demo.storm", "--runs", str(len(options.storms))]))
    agents = [await troupe.start(name, command, environment) for name, command in commands]
    await asyncio.gather(*(agent.expect("ready", READY_WITHIN) for agent in agents))
    return agents


async def _settle(options: Options, cast: Cast, provider: str) -> DemoResult:
    """The results, with the provider's counts where it is the demo's own."""
    if options.base_url:
        return _settle_real(options, cast)
    counted = tallies(await asyncio.to_thread(stage.fetch, f"{provider}/stats"))
    runs = [
        accounts.settle(NAMED[name], cast.ending(name), counted.get(name, Tally())) for name in options.names
    ]
    storms = [storm(number) for number in options.storms]
    blown = [(each, cast.ending(each.name), counted.get(each.name, Tally())) for each in storms]
    return DemoResult(options.mode, runs, accounts.settle_storm(blown) if blown else None)


def _settle_real(options: Options, cast: Cast) -> DemoResult:
    """The results with a real provider, as far as they can be known."""
    runs = []
    for name in options.names:
        model = options.model or NAMED[name].model
        runs.append(accounts.settle_real(NAMED[name], cast.ending(name), model))
    return DemoResult(options.mode, runs, None)
