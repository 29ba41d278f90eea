"""`spanfuse run -- CMD ...`: runs any Python program, instrumented, without touching it.

Rule 1: the program takes the place of this process: its signals, its terminal and its exit code are its
own. Rule 2: it is instrumented by the interpreter's own start-up hook (`bootstrap/sitecustomize.py` on
PYTHONPATH), so that `python x.py`, `python -m x` and console scripts work alike, and the Python programs
that they start too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import uuid
from pathlib import Path
from typing import Final, NoReturn

HELP = "Run any Python program with every LLM and tool call watched: spanfuse run -- python agent.py"

BOOTSTRAP: Final = str(Path(__file__).parent.parent / "bootstrap")
_VARIABLES: Final = {
    "endpoint": "SPANFUSE_ENDPOINT",
    "run_name": "SPANFUSE_RUN_NAME",
    "feature": "SPANFUSE_FEATURE",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The settings that the program is given, and the program."""
    parser.add_argument("--endpoint", help="the processor, host:port; without one the program judges itself")
    parser.add_argument(
        "--run-name", help="makes the whole program, and what it starts, one run of this name"
    )
    parser.add_argument("--feature", help="the feature that its runs belong to")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD ...", help="the program")


def run(arguments: argparse.Namespace) -> int:
    """Becomes the program. Returns on failure: 2 when there is no such program, 1 when it will not start."""
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        return _fail("no program given: spanfuse run -- python agent.py", 2)
    program = _find(command[0])
    if program is None:
        return _fail(f"no such program: {command[0]}", 2)
    try:
        _become(program, command, environment(arguments, os.environ.copy()))
    except OSError as error:
        return _fail(f"cannot run {command[0]}: {error.strerror}", 1)


def environment(arguments: argparse.Namespace, base: dict[str, str]) -> dict[str, str]:
    """The environment of the program: `base` with what makes it watched."""
    for name, variable in _VARIABLES.items():
        if getattr(arguments, name):
            base[variable] = getattr(arguments, name)
    if arguments.run_name:
        base["SPANFUSE_RUN_ID"] = uuid.uuid4().hex  # one run for the program and what it starts
    before = base.get("PYTHONPATH")
    base["PYTHONPATH"] = f"{BOOTSTRAP}{os.pathsep}{before}" if before else BOOTSTRAP
    return base


def _find(program: str) -> str | None:
    """The program's path. Where there is no `python` but this one, this one it is."""
    found = shutil.which(program)
    return sys.executable if found is None and program in ("python", "python3") else found


def _become(program: str, command: list[str], variables: dict[str, str]) -> NoReturn:
    os.execve(program, command, variables)


def _fail(problem: str, code: int) -> int:
    sys.stderr.write(f"spanfuse run: {problem}\n")
    return code
