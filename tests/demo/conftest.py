"""The demo's provider in a process of its own, without latency."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """The address of a provider that answers at once."""
    command = [sys.executable, "-m", "spanfuse.demo.provider_server", "--pace", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"
        process.terminate()
