"""`spanfuse check FILE`: reads a configuration file as the service would, and says all that is wrong with it.

Rule 1: what the service would only find when it starts is looked at, too. Rule 2: a driver that is not
installed here is a warning. With `--explain` it also says what the policy means for a given call.
"""

from __future__ import annotations

import argparse
import json
import sys

from spanfuse_processor.commands.explaining import ASKED, explain, read_place
from spanfuse_processor.commands.problems import examine
from spanfuse_processor.commands.starting import check_start, missing_drivers
from spanfuse_processor.config import Config
from spanfuse_processor.config_loading import ConfigError, config_schema

HELP = "Check a configuration file: errors with line and field. Exit 1 when it is refused."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, or the schema that files are checked against."""
    parser.add_argument("file", nargs="?", help="the YAML file")
    parser.add_argument("--schema", action="store_true", help="print the JSON schema instead")
    parser.add_argument(
        "--explain",
        metavar="NAME=VALUE,...",
        help="say which mode, profile, limits and budgets hold at a call, as in "
        f"feature=chat,agent=main,tool=search; names are {', '.join(ASKED)}",
    )


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 for a good file, 1 for a bad one, 2 when none was named."""
    if arguments.schema:
        print(json.dumps(config_schema(), indent=2))  # noqa: T201
        return 0
    if arguments.file is None:
        print("spanfuse check: name a file, or ask for --schema", file=sys.stderr)  # noqa: T201
        return 2
    try:
        asked = None if arguments.explain is None else read_place(arguments.explain)
    except ValueError as error:
        print(f"spanfuse check: --explain: {error}", file=sys.stderr)  # noqa: T201
        return 2
    config = _examined(arguments.file)
    if config is None:
        return 1
    print(f"{arguments.file}: ok")  # noqa: T201
    for line in explain(config.policy, *asked) if asked is not None else ():
        print(line)  # noqa: T201
    return 0


def _examined(file: str) -> Config | None:
    """What a good file describes; of a bad one it says what is wrong."""
    try:
        config, problems = examine(file, check_start)
    except ConfigError as error:
        config, problems = Config(), [error]
    for problem in problems:
        print(f"spanfuse check: {problem}", file=sys.stderr)  # noqa: T201
    if problems:
        return None
    for driver in missing_drivers(config):
        print(f"spanfuse check: {file}: a warning: {driver}", file=sys.stderr)  # noqa: T201
    return config
