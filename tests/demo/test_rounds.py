"""Agents at work, round after round, for a processor that runs elsewhere."""

from __future__ import annotations

import io
import os

import pytest
from rich.console import Console

from spanfuse.demo import rounds
from spanfuse.demo.progress import Progress

PRELUDE = "import json, sys\ndef tell(**event): print(json.dumps(event), flush=True)\ntell(event='ready')\n"
GO = "assert input() == 'go'\n"


async def play(**agents: str) -> str:
    """Plays a round of agents that are given by their code. Returns what was said."""
    out = io.StringIO()
    started = [(name, ["-c", PRELUDE + code]) for name, code in agents.items()]
    await rounds.play_round(started, os.environ, Progress(Console(file=out, width=200)))
    return out.getvalue()


async def test_a_round_is_over_when_its_agents_say_so() -> None:
    said = await play(crawl=GO + "tell(event='calls', calls=3); tell(event='done', calls=3)")

    assert said.strip() == "crawl has ended"


async def test_an_agent_that_is_lost_is_said_and_the_others_play_on() -> None:
    said = await play(
        healthy=GO + "tell(event='ended', name='healthy', ended={}); tell(event='done')",
        looping=GO + "sys.exit('out of luck')",
    )

    assert "healthy has ended" in said
    assert "looping was lost: out of luck" in said


def test_agents_find_the_processor_and_the_way_of_spans_and_no_other_setting() -> None:
    ours = {"SPANFUSE_ENDPOINT": "http://p:1", "SPANFUSE_SPANS_ENDPOINT": "http://c:1", "SPANFUSE_TOKEN": "t"}

    assert rounds.handed_on(ours | {"SPANFUSE_MODE": "shadow", "SPANFUSE_CA_FILE": "", "HOME": "/"}) == ours


def test_a_round_without_a_storm_has_the_others() -> None:
    names = [name for name, _ in rounds.commands(0)]

    assert names == ["looping", "alternating", "healthy", "polling", "crawl", "research"]
    assert [name for name, _ in rounds.commands(3)] == [*names, "storm"]


def test_without_a_processor_there_is_nothing_to_play_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPANFUSE_ENDPOINT", raising=False)
    monkeypatch.setattr("sys.argv", ["rounds"])

    with pytest.raises(SystemExit, match="SPANFUSE_ENDPOINT"):
        rounds.main()
