"""A real service that keeps money somewhere is killed, and started again; for every place."""

from __future__ import annotations

import json
import signal
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.processes import ADMIN_TOKEN, Processor
from tests.replaying.recorded import lines, model
from tests.waiting import until

from spanfuse_processor.__main__ import main

CONFIG = "policy: {budgets: {monthly: {usd: 100, period: monthly}}}\n"
ONE = 0.0035  # USD, a call of tests.replaying.recorded.model
SOON = 10.0


class Operator:
    """Who sends spans and asks about money."""

    def __init__(self, running: Processor, capsys: pytest.CaptureFixture[str]) -> None:
        self.running = running
        self.capsys = capsys

    def send(self, first: int, last: int) -> None:
        """Has the service judge so many model calls."""
        body = lines([model(number, 2.0 * number) for number in range(first, last + 1)])
        for line in body.splitlines():
            headers = {"Content-Type": "application/json"}
            request = urllib.request.Request(f"{self.running.http}/v1/traces", line.encode(), headers)
            with urllib.request.urlopen(request, timeout=10) as answer:
                assert answer.status == 200

    def asked(self, *words: str) -> Any:
        """What a command answers as JSON."""
        place = ["--url", self.running.http, "--token", ADMIN_TOKEN, "--json"]
        assert main([*words, *place]) == 0
        return json.loads(self.capsys.readouterr().out)

    def billed(self) -> int:
        """Calls on the bill."""
        return int(self.asked("spend", "--since", "2026-05-01")["total"]["calls"])

    def spent(self) -> float:
        """Of the budget, in dollars."""
        rows = self.asked("budgets")["budgets"]
        return float(rows[0]["spent"]) if rows else 0.0


def survives_a_kill(folder: Path, capsys: pytest.CaptureFixture[str], **store: str) -> None:
    """What was billed and spent is there after a kill, and is counted once though it is sent again."""
    (folder / "config.yaml").write_text(CONFIG)
    config = {"SPANFUSE_CONFIG": str(folder / "config.yaml"), "XDG_STATE_HOME": str(folder)}
    config["SPANFUSE_STORE_KEEP_DAYS"] = "36500"  # the recorded calls are of a certain day
    running = Processor(environment={**config, **store, "SPANFUSE_LOG_LEVEL": "error"})
    operator = Operator(running, capsys)
    try:
        running.start()
        operator.send(1, 20)
        assert operator.spent() == pytest.approx(20 * ONE)
        until(lambda: operator.billed() == 20, SOON, every=0.05)
        running.stop(signal.SIGKILL)

        running.start()
        assert operator.spent() == pytest.approx(20 * ONE)
        operator.send(11, 30)
        assert operator.spent() == pytest.approx(30 * ONE)
        until(lambda: operator.billed() == 30, SOON, every=0.05)
        assert running.stop() == 0

        running.start()
        assert (operator.spent(), operator.billed()) == (pytest.approx(30 * ONE), 30)
    finally:
        running.stop()
