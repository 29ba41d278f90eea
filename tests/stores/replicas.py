"""Two real services with one ledger: each is sent half of the calls, both know what all of them cost."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import pytest
from tests.processes import Processor
from tests.stores.service import CONFIG, ONE, SOON, Operator
from tests.waiting import until

from spanfuse_processor.storing import open_store


def know_what_each_other_spend(
    folder: Path, capsys: pytest.CaptureFixture[str], ledger: str, **store: str
) -> None:
    """Also of calls that both are sent, after a kill, and after an orderly end; and the log is let go of."""
    (folder / "config.yaml").write_text(CONFIG)
    config = {"SPANFUSE_CONFIG": str(folder / "config.yaml"), "XDG_STATE_HOME": str(folder)}
    config["SPANFUSE_STORE_KEEP_DAYS"] = "36500"
    both = [Processor(environment={**config, **store, "SPANFUSE_LOG_LEVEL": "error"}) for _ in range(2)]
    one, other = (Operator(running, capsys) for running in both)

    def know(calls: int) -> None:
        """Both do, a moment later, to the micro-dollar."""
        until(lambda: {round(each.spent() / ONE, 3) for each in (one, other)} == {calls}, SOON, every=0.05)

    try:
        for running in both:
            running.start()
        one.send(1, 20)
        other.send(21, 40)
        know(40)
        one.send(35, 50)
        other.send(45, 60)
        know(60)

        one.running.stop(signal.SIGKILL)
        other.send(61, 70)
        one.running.start()
        know(70)
        one.send(71, 80)
        know(80)
        assert [running.stop() for running in both] == [0, 0]
    finally:
        for running in both:
            running.stop()
    assert included(ledger) == (3, 0)  # one had two lives


def included(ledger: str) -> tuple[int, int]:
    """Writers that the newest dump includes, and entries that it does not."""
    with contextlib.closing(open_store(ledger)) as kept:
        saved = kept.load_ledger()
        return len(saved.seen), len(kept.read_ledger(saved.seen))
