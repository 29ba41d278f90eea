"""The agent that spends its budget steadily, in a process of its own, which judges itself here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from spanfuse.demo.stage import agent_environment

POLICY = "policy: { budgets: { crawl: { usd: 0.02, match: { feature: crawl } } } }\n"


def crawl(provider: str, policy: Path, *arguments: str) -> list[dict[str, Any]]:
    """What the agent says from the curtain on."""
    environment = agent_environment(provider, None, own=True) | {"SPANFUSE_CONFIG": str(policy)}
    command = [sys.executable, "-m", "spanfuse.demo.crawl", *arguments]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as agent:
        assert agent.stdin is not None and agent.stdout is not None
        assert json.loads(agent.stdout.readline()) == {"event": "ready"}
        agent.stdin.write("go\n")
        agent.stdin.flush()
        said = [json.loads(line) for line in agent.stdout]
    assert agent.returncode == 0
    return said


def test_it_ends_when_its_money_is_spent(provider: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yml"
    policy.write_text(POLICY)

    said = crawl(provider, policy, "--seconds", "60", "--helpers", "2")

    assert said[-1]["event"] == "done"
    assert 3 <= said[-1]["calls"] < 10  # four reports cost two cents


def test_it_ends_when_its_time_is_over(provider: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yml"
    policy.write_text("policy: {}\n")

    said = crawl(provider, policy, "--seconds", "0.3")

    assert said[-1] == {"event": "done", "calls": 1}
