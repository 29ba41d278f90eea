"""A process that spends is killed, and what was spent is what is restored; for every store that lasts."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

from tests.house.sources import ROOT
from tests.stores.life import COST, TOGETHER, restored, spent

ENOUGH = 1.5  # seconds of life
UNCONFIRMED = 1.0  # seconds of spend that may be lost


def live(url: str, first: int, last: int) -> subprocess.Popen[str]:
    """A life of `tests.stores.life`."""
    command = [sys.executable, "-m", "tests.stores.life", url, str(first), str(last)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def killed(url: str, first: int) -> list[tuple[float, int]]:
    """When which calls were handed over, by a process that was killed in the middle of it."""
    process = live(url, first, 1_000_000)
    assert process.stdout is not None
    said: list[tuple[float, int]] = []
    try:
        for line in process.stdout:
            said.append((time.monotonic(), int(line)))
            if said[-1][0] - said[0][0] > ENOUGH:
                break
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        said += [(time.monotonic(), int(line)) for line in process.stdout if line.endswith("\n")]
        process.stdout.close()
    return said


def surely(said: list[tuple[float, int]]) -> int:
    """The last call that was handed over so long before the end that it must have been kept."""
    end = said[-1][0]
    return max(number for at, number in said if at <= end - UNCONFIRMED)


def restored_spend(url: str) -> int:
    """In calls."""
    ledger, _, writer = restored(url)
    writer.close(0)
    amount, rest = divmod(spent(ledger), COST)
    assert rest == 0
    return amount


class Killing:
    """The tests."""

    def test_what_was_spent_survives_a_kill_and_counts_once(self, url: str) -> None:
        first = killed(url, 1)

        kept = restored_spend(url)
        assert surely(first) <= kept <= first[-1][1] + TOGETHER
        assert surely(first) > 100

        # Again, from a little before the end: spans that come twice.
        second = killed(url, max(1, kept - 50))
        again = restored_spend(url)
        assert surely(second) <= again <= second[-1][1] + TOGETHER

        # And once more, to an orderly end.
        process = live(url, max(1, again - 50), again + 200)
        said, _ = process.communicate(timeout=60)
        assert said.split()[-2:] == ["spent", str((again + 200) * COST)]
        assert restored_spend(url) == again + 200
