"""`spanfuse top`: runs, what they cost, budgets and their forecast, what was stopped and why; live.

Rule 1: it looks and never touches: nothing that is seen here changes by being seen. Rule 2: without a
terminal, or with `--once`, it says it one time and ends. Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from typing import Final

from spanfuse_processor.commands.admin_client import AdminError
from spanfuse_processor.commands.money import add_place_arguments
from spanfuse_processor.commands.record import record
from spanfuse_processor.commands.top_source import Source

HELP = "Watch runs, their cost and state, budgets and forecasts, and what was stopped and why."
SHORTEST: Final = 0.2
"""Seconds between two looks, at least."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How often, and where to look."""
    parser.add_argument(
        "--interval", type=float, default=1.0, metavar="SECONDS", help="between two looks (default 1)"
    )
    parser.add_argument("--once", action="store_true", help="look once and end")
    add_place_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when it was ended or shown, 1 when there is nothing to look at."""
    try:
        screen = importlib.import_module("spanfuse_processor.commands.top_view")
    except ImportError:
        return _complain("it needs the package 'rich': pip install 'spanfuse[top]'")
    try:
        with record(arguments) as kept:
            source = Source(arguments, kept, time.time)
            if arguments.once or not sys.stdout.isatty():
                screen.show(source.look())
                return 0
            screen.watch(source.look, max(SHORTEST, arguments.interval))
            return 0
    except AdminError as error:
        return _complain(str(error))


def _complain(problem: str) -> int:
    print(f"spanfuse top: {problem}", file=sys.stderr)  # noqa: T201
    return 1
