"""Law 1: arrows point to the engine; law 5: the pure ring has no clock. Checked by import-linter and ruff."""

from __future__ import annotations

import subprocess
import sys

from tests.house.sources import ROOT


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_every_import_contract_holds() -> None:
    done = run(sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_pure_ring_calls_nothing_that_is_banned() -> None:
    ring = ["processor/spanfuse_processor/engine", "processor/spanfuse_processor/wire"]

    done = run(sys.executable, "-m", "ruff", "check", "--select", "TID251,T20", *ring)

    assert done.returncode == 0, done.stdout


def test_the_ban_catches_a_clock_in_the_pure_ring() -> None:
    """The guard itself is guarded: the same rule, fed a violation, refuses it."""
    ring = "processor/spanfuse_processor/engine/example.py"
    code = "import datetime\n\nNOW = datetime.datetime.now()\n"

    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--select", "TID251", "--stdin-filename", ring, "-"],
        cwd=ROOT,
        input=code,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert "TID251" in done.stdout
