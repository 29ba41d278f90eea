"""The demo from end to end, in both modes, with a small storm; and that it leaves nothing behind."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from rich.console import Console
from tests.waiting import until

from spanfuse.demo.progress import Progress
from spanfuse.demo.results import DemoResult
from spanfuse.demo.runner import Options, perform

COMMAND = [sys.executable, "-m", "spanfuse_processor", "demo"]


def play(options: Options) -> tuple[DemoResult, str]:
    """One demo; its result and what it showed."""
    out = io.StringIO()

    async def bounded() -> DemoResult:
        async with asyncio.timeout(120):
            with Progress(Console(file=out, width=200)) as progress:
                return await perform(options, progress)

    return asyncio.run(bounded()), out.getvalue()


def left_behind(mark: str) -> list[str]:
    """The processes that were started with a mark in their environment and still run."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:  # it has just ended, or it is not ours
            continue
    return found


@pytest.mark.parametrize("processor", [False, True], ids=["embedded", "processor"])
def test_the_loops_are_stopped_and_nothing_else_is_touched(processor: bool) -> None:
    result, shown = play(Options(processor=processor, storm_runs=20, pace=0.5, money=False))
    by_name = {run.scenario.name: run for run in result.runs}

    assert result.ok, shown + json.dumps(result.as_json())
    assert by_name["looping"].calls <= 8
    assert by_name["alternating"].calls <= 12
    assert (by_name["healthy"].calls, by_name["healthy"].saved_usd) == (30, 0.0)
    assert (by_name["polling"].calls, by_name["polling"].saved_usd) == (12, 0.0)
    assert (by_name["streaming"].detector, by_name["streaming"].calls) == ("operator", 2)


@pytest.mark.parametrize(
    ("processor", "signed"), [(False, None), (True, True)], ids=["embedded", "processor"]
)
def test_a_forecast_warns_in_time_and_the_money_lasts(processor: bool, signed: bool | None) -> None:
    result, shown = play(Options(processor=processor, storm_runs=0, names=()))

    assert result.ok, shown + json.dumps(result.as_json())
    assert result.money is not None
    assert result.money.alert is not None
    assert result.money.alert.signed is signed
    assert result.money.spent < 0.9


def test_a_real_provider_is_asked_with_the_persons_key(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any server that speaks the API will do; this one happens to be the demo's own, elsewhere."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    result, shown = play(Options(processor=False, base_url=f"{provider}/v1", model="gpt-4o-mini"))

    assert result.ok, shown
    assert (result.storm, result.money) == (None, None)
    assert {run.calls_unguarded for run in result.runs} == {None}
    assert all(run.cost_usd for run in result.runs)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_when_the_demo_is_ended(number: signal.Signals) -> None:
    mark = uuid.uuid4().hex
    with subprocess.Popen(
        [*COMMAND, "--embedded"], stderr=subprocess.PIPE, text=True, env={**os.environ, "DEMO_MARK": mark}
    ) as demo:
        assert demo.stderr is not None
        until(lambda: "running" in demo.stderr.readline(), timeout=60)  # type: ignore[union-attr]
        assert len(left_behind(mark)) == 9
        demo.send_signal(number)
        demo.stderr.read()
    until(lambda: not left_behind(mark), timeout=10)
    assert demo.returncode != 0
