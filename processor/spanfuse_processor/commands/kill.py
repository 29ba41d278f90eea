"""`spanfuse kill KEY`: an operator stops a run, or everything of an agent, feature, user ... , now.

Rule 1: what the order came to is said as it is: new, standing already, or about a run that nobody has seen.
Rule 2: `--list` shows ids as KEY takes them. Names come from applications: nothing in them moves a terminal.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any, Final

from spanfuse_processor.commands.admin_client import AdminError, add_connection_arguments, get, post
from spanfuse_processor.terminal import printable

HELP = "Stop a run (or agent/NAME, feature/NAME, user/ID, tenant/ID, everything) at its next call."
COLUMNS: Final = ("run", "verdict", "state", "feature", "calls", "cost")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The key or `--list`, the reason, and where the service is."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "key", nargs="?", help="a run id, or LEVEL/ID such as feature/support-chat; 'everything' for all"
    )
    what.add_argument(
        "--list", action="store_true", help="show the runs in memory instead, stopped ones first"
    )
    parser.add_argument(
        "--reason", default="stopped by an operator", help="kept in the record, shown in errors"
    )
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when the key is stopped now, or was listed; 1 when the service did not do it."""
    try:
        lines = _runs(arguments) if arguments.list else [_kill(arguments)]
    except AdminError as error:
        print(f"spanfuse kill: {error}", file=sys.stderr)  # noqa: T201
        return 1
    print("\n".join(lines))  # noqa: T201
    return 0


def _kill(arguments: argparse.Namespace) -> str:
    answer = post(arguments, "/v1/kill", {"key": arguments.key, "reason": arguments.reason})
    key = answer.get("key", arguments.key)
    if not answer.get("changed", True):
        return f"{key} was stopped already"
    if answer.get("known", True):
        return f"killed {key}"
    return (
        f"killed {key}: nothing of it has been seen yet; it is refused when it comes "
        "(ids: spanfuse kill --list)"
    )


def _runs(arguments: argparse.Namespace) -> list[str]:
    """The runs in memory as the lines of a table, in the order of the service."""
    rows = [_cells(row) for row in get(arguments, "/v1/runs").get("runs", ())]
    if not rows:
        return ["no runs"]
    lines = [COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    run = row["run"]
    return (
        printable(f"run/{run}" if "/" in run or run == "everything" else run),  # else KEY means another thing
        row["verdict"],
        row["state"],
        printable(row["feature"] or "-"),
        str(row["calls"]),
        f"{row['cost_usd']:.6f} USD",
    )
