"""The agents while they play: their events, the operator, and those that get lost."""

from __future__ import annotations

import io
import os

from rich.console import Console

from spanfuse.demo.cast import LOST, Cast
from spanfuse.demo.processes import Troupe
from spanfuse.demo.progress import Progress

ENDED = (
    "def ended(name, outcome, **more):\n"
    "    fields = {'outcome': outcome, 'calls': 6, 'detector': None, 'kill_latency': 0.002,\n"
    "              'closed_at': None, 'used': {}, **more}\n"
    "    tell(event='ended', name=name, ended=fields)\n"
)
PRELUDE = (
    "import json, sys, time\n"
    "def tell(**event): print(json.dumps(event), flush=True)\n" + ENDED + "assert input() == 'go'\n"
)


async def play(**agents: str) -> tuple[Cast, str]:
    """Plays agents that are given by the code that they run after the curtain."""
    out = io.StringIO()
    async with Troupe() as troupe:
        started = [
            await troupe.start(name, ("-c", PRELUDE + code), os.environ) for name, code in agents.items()
        ]
        cast = Cast(started, None, Progress(Console(file=out, width=200)))
        await cast.play()
    return cast, out.getvalue()


async def test_an_ending_is_what_the_agent_says() -> None:
    cast, shown = await play(
        looping="tell(event='calls', calls=3); ended('looping', 'stopped'); tell(event='done')"
    )
    ending = cast.ending("looping")
    assert (ending.outcome, ending.calls, ending.kill_latency) == ("stopped", 6, 0.002)
    assert "stopped" in shown


async def test_an_agent_that_dies_is_lost_with_its_last_words() -> None:
    cast, shown = await play(
        looping="sys.exit('out of luck')", healthy="ended('healthy', 'finished'); tell(event='done')"
    )
    assert cast.ending("looping") == LOST
    assert cast.ending("healthy").outcome == "finished"
    assert "looping was lost: out of luck" in shown


async def test_without_a_processor_the_operator_speaks_to_the_agent() -> None:
    code = (
        "tell(event='mid-stream', run='r7')\n"
        "assert input() == 'kill r7'\n"
        "ended('streaming', 'stopped', kill_latency=None, closed_at=time.monotonic()); tell(event='done')"
    )
    cast, _ = await play(streaming=code)
    latency = cast.ending("streaming").kill_latency
    assert latency is not None
    assert 0 < latency < 10


async def test_the_storm_tells_of_many_runs() -> None:
    code = "[ended(f'storm-{n:03}', 'stopped') for n in range(3)]; tell(event='done')"
    cast, _ = await play(storm=code)
    assert [cast.ending(f"storm-{n:03}").outcome for n in range(3)] == ["stopped"] * 3
