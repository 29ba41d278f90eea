"""One dollar, calls of ten cents, and far more who want to call than that pays for: nothing is overrun.

Real sockets; what was spent is counted by the provider, nobody else is asked.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.processes import free_port
from tests.waiting import until

TASKS, PROCESSES = 25, 8
LIMIT = 1.00
BOUND = 50.0  # seconds that all of a test may take
USD_A_TOKEN = 250 / 1e6


@dataclass
class Provider:
    """The demo's provider, in a process of its own."""

    port: int

    @property
    def calls(self) -> int:
        """Calls that it has answered, or is answering."""
        return int(self._counted()["requests"])

    @property
    def spent(self) -> float:
        """US dollars of output that it has produced."""
        return float(self._counted()["output_tokens"]) * USD_A_TOKEN

    def _counted(self) -> dict[str, int]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats", timeout=5) as answer:
            runs = json.load(answer)["runs"]
        counted: dict[str, int] = runs.get("spending", {"requests": 0, "output_tokens": 0})
        return counted


@contextlib.contextmanager
def started(module: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that has said its first line."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


@contextlib.contextmanager
def provider(pace: float) -> Iterator[Provider]:
    """The provider; `pace` 1 answers after 25 ms."""
    with started("spanfuse.demo.provider_server", "--pace", pace) as process:
        yield Provider(int(json.loads(_line(process))["port"]))


@dataclass
class Lender:
    """The processor, on a port that it keeps over restarts."""

    port: int = field(default_factory=free_port)

    @contextlib.contextmanager
    def lending(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """It serves."""
        with started("tests.acceptance.lending", "--port", self.port, *arguments) as process:
            assert _line(process) == "ready"
            yield process


@contextlib.contextmanager
def applications(lender: Lender, at: Provider) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that have been told to spend."""
    given = ("--endpoint", f"127.0.0.1:{lender.port}", "--provider", at.port, "--tasks", TASKS)
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(started("tests.acceptance.spending", *given)) for _ in range(PROCESSES)
        ]
        for process in processes:
            assert _line(process) == "ready"
        for process in processes:
            _say(process, "begin")
        yield processes


def ends(processes: list[subprocess.Popen[str]]) -> list[dict[str, Any]]:
    """What each came to, when all have ended."""
    results = [json.loads(_line(process)) for process in processes]
    for process in processes:
        _say(process, "end")
    for process in processes:
        process.wait(BOUND)
    return results


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _say(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()


def test_eight_processes_share_one_budget() -> None:
    lender = Lender()
    with provider(pace=1) as at, lender.lending(), applications(lender, at) as processes:
        results = ends(processes)

        assert LIMIT - 0.10 <= at.spent <= LIMIT
        assert sum(result["made"] for result in results) == at.calls
        assert sum(result["made"] + result["refused"] for result in results) == TASKS * PROCESSES
        assert [result["faults"] for result in results] == [0] * PROCESSES


@pytest.mark.parametrize("comes_back", [False, True], ids=["for good", "and it starts anew, knowing nothing"])
def test_the_processor_is_killed_while_they_spend(comes_back: bool) -> None:
    lender = Lender()
    with contextlib.ExitStack() as stack:
        at = stack.enter_context(provider(pace=12))
        processor = stack.enter_context(lender.lending())
        processes = stack.enter_context(applications(lender, at))
        until(lambda: at.calls >= 3, BOUND, every=0.01)
        processor.kill()
        processor.wait(10)
        if comes_back:
            stack.enter_context(lender.lending("--lost", "--ttl", "4"))

        results = ends(processes)

        assert 0.30 <= at.spent <= LIMIT
        assert sum(result["made"] for result in results) == at.calls
        assert all("BUDGET" in reason for result in results for reason in result["reasons"])
