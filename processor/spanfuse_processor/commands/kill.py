"""`spanfuse kill KEY`: an operator stops a run, or everything of an agent, feature, user ... , now."""

from __future__ import annotations

import argparse
import sys

from spanfuse_processor.commands.admin_client import AdminError, add_connection_arguments, post

HELP = "Stop a run (or agent/NAME, feature/NAME, user/ID, tenant/ID, everything) at its next call."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The key, the reason, and where the service is."""
    parser.add_argument(
        "key", help="a run id, or LEVEL/ID such as feature/support-chat; 'everything' for all"
    )
    parser.add_argument(
        "--reason", default="stopped by an operator", help="kept in the record, shown in errors"
    )
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when the directive was issued, 1 when it was not."""
    try:
        answer = post(arguments, "/v1/kill", {"key": arguments.key, "reason": arguments.reason})
    except AdminError as error:
        print(f"spanfuse kill: {error}", file=sys.stderr)  # noqa: T201
        return 1
    print(f"killed {answer.get('key', arguments.key)}")  # noqa: T201
    return 0
