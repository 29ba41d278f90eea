"""Prometheus's and Alertmanager's own programs, found on PATH, each run bounded in time."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.processes import free_port
from tests.rules.reading import RULES
from tests.waiting import until

ALERTMANAGER: Final = ("prometheus-alertmanager", "alertmanager")
"""As Debian calls it, and as it is called elsewhere."""


def program(*names: str) -> str:
    """The path of the first of these that there is; without any the test fails."""
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        pytest.fail(f"{names[0]} is not on this machine: run scripts/observability_tools.sh")
    return found


def run(*command: str, cwd: Path = RULES, timeout: float = 240.0) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end."""
    whole = [program(command[0]), *command[1:]]
    return subprocess.run(whole, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)


@contextlib.contextmanager
def alertmanager(config: Path) -> Iterator[str]:
    """A running Alertmanager with this configuration; its address."""
    port = free_port()
    command = [
        program(*ALERTMANAGER),
        f"--config.file={config}",
        f"--storage.path={config.parent / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
        "--log.level=error",
    ]
    process = subprocess.Popen(command, cwd=config.parent)
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: is_ready(url), 20.0, every=0.05)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=1) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
