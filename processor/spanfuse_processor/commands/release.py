"""`spanfuse release KEY`: an operator takes a stop back, his own or the engine's."""

from __future__ import annotations

import argparse
import sys

from spanfuse_processor.commands.admin_client import AdminError, add_connection_arguments, post

HELP = "Release a stopped run (or agent/NAME, feature/NAME ...): its next call is admitted again."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The key, and where the service is."""
    parser.add_argument(
        "key", help="a run id, or LEVEL/ID such as feature/support-chat; 'everything' for all"
    )
    parser.add_argument("--reason", default="released by an operator", help="kept in the record")
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when it was released, 1 when it was not (also when nothing stood)."""
    try:
        answer = post(arguments, "/v1/release", {"key": arguments.key, "reason": arguments.reason})
    except AdminError as error:
        print(f"spanfuse release: {error}", file=sys.stderr)  # noqa: T201
        return 1
    print(f"released {answer.get('key', arguments.key)}")  # noqa: T201
    return 0
