"""Small programs in interpreters of their own, for what concerns a whole process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

CALLS = """
import json, sys
import spanfuse
from spanfuse import runtime
from spanfuse.calling import begin
from spanfuse.provider import Intent, Outcome
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind

def listen():
    from spanfuse.testing import FakeHost
    live = runtime.live()
    live.host = FakeHost(live.board)
    return live.host

def ask():
    begin(Intent(Kind.MODEL, "chat", "m")).succeed(Outcome(result="x"))

def tell(**what):
    print(json.dumps(what), flush=True)
"""
"""What the programs have at hand."""


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what would switch spanfuse on or off."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPANFUSE_", "OTEL_"))}
    return kept | more


def run_program(code: str, *command: str, **variables: str) -> list[dict[str, Any]]:
    """Runs `code` in a new interpreter; returns what it told, one object a line. It must end well."""
    done = subprocess.run(
        [*(command or (sys.executable,)), "-c", CALLS + code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(**variables),
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def spanfuse_command(
    *arguments: str, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs the executable with `arguments`."""
    return subprocess.run(
        [sys.executable, "-m", "spanfuse_processor", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env=environment(**variables),
    )
