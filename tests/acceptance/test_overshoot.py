"""One dollar, calls of ten cents, and far more who want to call than that pays for: nothing is overrun.

Real sockets; what was spent is counted by the provider, nobody else is asked.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.hook import metrics
from tests.acceptance.lending import forget, lender
from tests.processes import ADMIN_TOKEN, Processor
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


@contextlib.contextmanager
def applications(
    processor: Processor, at: Provider, number: int = PROCESSES
) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that have been told to spend."""
    given = ("--endpoint", processor.endpoint, "--provider", at.port, "--tasks", TASKS)
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(started("tests.acceptance.spending", *given)) for _ in range(number)]
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


@pytest.fixture
def processor(tmp_path: Path) -> Iterator[Processor]:
    """The real service, running."""
    running = lender(tmp_path)
    running.start()
    try:
        yield running
    finally:
        running.stop()


def test_eight_processes_share_one_budget(processor: Processor) -> None:
    with provider(pace=1) as at, applications(processor, at) as processes:
        results = ends(processes)

        assert LIMIT - 0.10 <= at.spent <= LIMIT
        assert sum(result["made"] for result in results) == at.calls
        assert sum(result["made"] + result["refused"] for result in results) == TASKS * PROCESSES
        assert [result["faults"] for result in results] == [0] * PROCESSES
        assert_counted_once(processor, at)
        refused = float(sum(result["refused"] for result in results))
        until(lambda: f'decision="deny",reason="budget"}} {refused}' in metrics(processor), BOUND, every=0.05)


@pytest.mark.parametrize("then", ["it stays away", "it comes back", "it comes back without its store"])
def test_the_processor_is_killed_while_they_spend(processor: Processor, tmp_path: Path, then: str) -> None:
    with provider(pace=12) as at, applications(processor, at) as processes:
        until(lambda: at.calls >= 3, BOUND, every=0.01)
        processor.stop(signal.SIGKILL)
        if then == "it comes back without its store":
            forget(tmp_path)
        if then != "it stays away":
            processor.start()

        results = ends(processes)

        assert 0.30 <= at.spent <= LIMIT
        assert sum(result["made"] for result in results) == at.calls
        assert all("BUDGET" in reason for result in results for reason in result["reasons"])
        if then != "it stays away":
            assert_counted_once(processor, at)


def test_what_an_application_held_that_dies_counts_as_spent(processor: Processor) -> None:
    with provider(pace=60) as at:
        with applications(processor, at, 1) as dying:
            until(lambda: at.calls >= 2, BOUND, every=0.01)
            dying[0].kill()
        held = account(processor)["reserved"]
        assert held > 0

        until(lambda: account(processor)["reserved"] == 0, BOUND, every=0.1)
        assert account(processor)["spent"] == pytest.approx(held)

    with provider(pace=1) as at, applications(processor, at, 1) as living:
        ends(living)

        assert 0 < at.spent <= LIMIT - held + 1e-9
        until(lambda: account(processor)["spent"] == pytest.approx(held + at.spent), BOUND, every=0.05)


def assert_counted_once(processor: Processor, at: Provider) -> None:
    """When all have given back what they held, the processor has charged what the provider counted."""
    until(lambda: account(processor)["reserved"] == 0, BOUND, every=0.05)
    assert account(processor)["spent"] == pytest.approx(at.spent)


def account(processor: Processor) -> dict[str, Any]:
    """How the one account stands, as operators see it."""
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    request = urllib.request.Request(f"{processor.http}/v1/budgets", headers=headers)
    with urllib.request.urlopen(request, timeout=5) as answer:
        rows: list[dict[str, Any]] = json.load(answer)["budgets"]
    return rows[0]
