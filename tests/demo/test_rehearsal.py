"""The rehearsal: what the runs would do and use if nobody stopped them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request

import pytest

from spanfuse.demo.accounts import calls
from spanfuse.demo.rehearsal import rehearse
from spanfuse.demo.results import tallies
from spanfuse.demo.scenarios import NAMED, storm

UNGUARDED = {"looping": 200, "alternating": 200, "healthy": 30, "polling": 12, "streaming": 10}


@pytest.mark.parametrize(("name", "expected"), UNGUARDED.items())
def test_a_run_left_alone_makes_so_many_calls(name: str, expected: int) -> None:
    assert calls(NAMED[name], rehearse(NAMED[name])) == expected


def test_every_run_of_the_storm_is_a_loop_of_thirty_calls() -> None:
    assert {rehearse(storm(number)).tool_calls for number in (0, 7, 99)} == {30}


def test_all_runs_of_the_storm_cost_the_same() -> None:
    assert rehearse(storm(0)) == rehearse(storm(99))


@pytest.mark.parametrize("name", ["looping", "healthy", "polling", "streaming"])
def test_an_unguarded_agent_does_over_http_what_was_rehearsed(name: str, provider: str) -> None:
    """The real loop, the real SDK, the real wire, with spanfuse switched off: the same calls and tokens."""
    environment = {
        **os.environ,
        "SPANFUSE_DISABLED": "1",
        "OPENAI_BASE_URL": f"{provider}/v1",
        "OPENAI_API_KEY": "sk-demo",
    }
    command = [sys.executable, "-m", "spanfuse.demo.agents", name]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as agent:
        assert agent.stdin is not None and agent.stdout is not None
        agent.stdin.write("go\n")
        agent.stdin.flush()
        ended = [each["ended"] for each in map(json.loads, agent.stdout) if each["event"] == "ended"]
    with urllib.request.urlopen(f"{provider}/stats", timeout=5) as answer:
        counted = tallies(json.loads(answer.read()))[name]
    assert [(each["outcome"], each["calls"]) for each in ended] == [("finished", UNGUARDED[name])]
    assert counted == rehearse(NAMED[name])
