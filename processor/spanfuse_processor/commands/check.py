"""`spanfuse check FILE`: reads a configuration file as the service would, and says what is wrong with it."""

from __future__ import annotations

import argparse
import json
import sys

from spanfuse_processor.config_loading import ConfigError, config_schema, load_config

HELP = "Check a configuration file: errors with line and field. Exit 1 when it is refused."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, or the schema that files are checked against."""
    parser.add_argument("file", nargs="?", help="the YAML file")
    parser.add_argument("--schema", action="store_true", help="print the JSON schema instead")


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 for a good file, 1 for a bad one, 2 when none was named."""
    if arguments.schema:
        print(json.dumps(config_schema(), indent=2))  # noqa: T201
        return 0
    if arguments.file is None:
        print("spanfuse check: name a file, or ask for --schema", file=sys.stderr)  # noqa: T201
        return 2
    try:
        load_config(arguments.file, {})
    except ConfigError as error:
        print(f"spanfuse check: {error}", file=sys.stderr)  # noqa: T201
        return 1
    print(f"{arguments.file}: ok")  # noqa: T201
    return 0
