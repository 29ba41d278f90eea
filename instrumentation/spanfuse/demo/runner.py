"""The demo from beginning to end: parts up, agents ready, curtain, last act, results, everything down again.

Rule 1: agents begin together, when all of them are ready, so that no start-up disturbs a measurement; the one
of the last act when they have ended.
Rule 2: an agent that fails is an outcome, not an error of the demo. Rule 3: whatever happens, no process is
left behind.
"""

from __future__ import annotations

import asyncio
import importlib.util
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from spanfuse.demo import accounts, stage, thrift
from spanfuse.demo.allowance import FEATURE, POLICY
from spanfuse.demo.cast import STORM, Cast
from spanfuse.demo.finale import Finale
from spanfuse.demo.hook import Hook
from spanfuse.demo.processes import Child, Troupe
from spanfuse.demo.progress import Progress
from spanfuse.demo.results import DemoResult, requests, tallies
from spanfuse.demo.scenarios import NAMED, STORM_RUNS, storm
from spanfuse.demo.stage import READY_WITHIN, Processor
from spanfuse.demo.thrift import ThriftResult
from spanfuse.demo.usage import Tally


@dataclass(frozen=True, slots=True)
class Options:
    """What a person may choose. `base_url` is a real provider's: then there is no storm, and no money act."""

    processor: bool = True
    base_url: str = ""
    model: str = ""
    pace: float = 1.0
    storm_runs: int = STORM_RUNS
    names: tuple[str, ...] = tuple(NAMED)
    money: bool = True

    @property
    def mode(self) -> str:
        """As it is printed."""
        return "processor" if self.processor else "embedded"

    @property
    def storms(self) -> range:
        """The numbers of the storm's runs."""
        return range(0 if self.base_url else self.storm_runs)

    @property
    def has_money(self) -> bool:
        """Whether the last act is played: its budgets are read from a file."""
        return self.money and not self.base_url and importlib.util.find_spec("yaml") is not None


async def perform(options: Options, progress: Progress) -> DemoResult:
    """One whole demo.

    Raises:
        ChildFailed: a part did not get ready; nothing is left running.
    """
    progress.note("starting the provider, the agents and who judges them ...")
    with tempfile.TemporaryDirectory(prefix="spanfuse-demo-") as folder:
        async with Troupe() as troupe:
            with Hook() as hook:
                parts = await _prepare(options, troupe, Path(folder), hook)
                return await _play(options, parts, hook, progress)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What has been started and is ready."""

    provider: str
    processor: Processor | None
    agents: list[Child]
    research: Child | None


async def _prepare(options: Options, troupe: Troupe, folder: Path, hook: Hook) -> _Parts:
    provider = options.base_url or await stage.start_provider(troupe, options.pace)
    sections = _watching_money(hook) if options.has_money else ""
    processor = await stage.start_processor(troupe, folder, sections) if options.processor else None
    environment = stage.agent_environment(provider, processor, own=not options.base_url)
    agents = [await troupe.start(name, command, environment) for name, command in _commands(options)]
    research = await _research(troupe, folder, environment) if options.has_money else None
    everyone = [*agents, research] if research else agents
    await asyncio.gather(*(agent.expect("ready", READY_WITHIN) for agent in everyone))
    return _Parts(provider, processor, agents, research)


def _watching_money(hook: Hook) -> str:
    """What a processor is told for the last act: the budgets, and who hears of them."""
    alerts = {"webhook_url": hook.url, "webhook_secret": hook.secret}
    return stage.as_yaml({"alerts": alerts}) + POLICY


def _commands(options: Options) -> Iterator[tuple[str, list[str]]]:
    """The agents that play together: their names, and how they are started."""
    model = ["--model", options.model] if options.model else []
    for name in options.names:
        yield name, ["-m", "spanfuse.demo.agents", name, *model]
    if options.storms:
        yield STORM, ["-m", "spanfuse.demo.storm", "--runs", str(len(options.storms))]


async def _research(troupe: Troupe, folder: Path, environment: Mapping[str, str]) -> Child:
    """The agent of the last act. Where it judges itself, the policy of the budgets is its own."""
    file = folder / "policy.yml"
    file.write_text(POLICY)
    own = {} if "SPANFUSE_ENDPOINT" in environment else {"SPANFUSE_CONFIG": str(file)}
    return await troupe.start(FEATURE, ["-m", "spanfuse.demo.research"], {**environment, **own})


async def _play(options: Options, parts: _Parts, hook: Hook, progress: Progress) -> DemoResult:
    """Lets everybody play, and works out what came of it."""
    cast = Cast(parts.agents, parts.processor, progress)
    progress.note(f"mode: {options.mode}; provider: {parts.provider}")
    if options.money and not options.base_url and not options.has_money:
        progress.note("the last act is left out: its budgets are in a YAML file, and PyYAML is not installed")
    await cast.play()
    finale = Finale(parts.research, hook if parts.processor else None, progress) if parts.research else None
    if finale is not None:
        await finale.play()
    result = await _settle(options, cast, finale, parts.provider)
    if not result.ok and parts.processor is not None:
        progress.problem(f"the processor's last words: {parts.processor.child.last_words()}")
    return result


async def _settle(options: Options, cast: Cast, finale: Finale | None, provider: str) -> DemoResult:
    """The results, with the provider's counts where it is the demo's own."""
    if options.base_url:
        return _settle_real(options, cast)
    counted = tallies(await asyncio.to_thread(stage.fetch, f"{provider}/stats"))
    runs = [
        accounts.settle(NAMED[name], cast.ending(name), counted.get(name, Tally())) for name in options.names
    ]
    storms = [storm(number) for number in options.storms]
    blown = [(each, cast.ending(each.name), counted.get(each.name, Tally())) for each in storms]
    money = await _settle_money(finale, provider) if finale else None
    return DemoResult(options.mode, runs, accounts.settle_storm(blown) if blown else None, money)


async def _settle_money(finale: Finale, provider: str) -> ThriftResult:
    log = requests(await asyncio.to_thread(stage.fetch, f"{provider}/log"))
    return thrift.settle(finale.alerts, log, finale.worked, finale.ended, accounts.price)


def _settle_real(options: Options, cast: Cast) -> DemoResult:
    """The results with a real provider, as far as they can be known."""
    runs = []
    for name in options.names:
        model = options.model or NAMED[name].model
        runs.append(accounts.settle_real(NAMED[name], cast.ending(name), model))
    return DemoResult(options.mode, runs, None)
