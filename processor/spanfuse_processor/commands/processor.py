"""`spanfuse processor`: runs the service until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import sys

from spanfuse_processor.clock import SystemClock
from spanfuse_processor.config_loading import ConfigError, config_path, load_config
from spanfuse_processor.service import Service, StartError
from spanfuse_processor.telemetry import log
from spanfuse_processor.tuning import keep_large_buffers

HELP = "Run the service: OTLP in (gRPC and HTTP), directives out, metrics beside."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Only the file: everything else is in it, or in `SPANFUSE_*`."""
    parser.add_argument("--config", help="YAML file (default: SPANFUSE_CONFIG, else built-in defaults)")


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 after an orderly stop, 1 when it could not start, 2 for a bad configuration."""
    try:
        config = load_config(arguments.config)
    except ConfigError as error:
        print(f"spanfuse processor: {error}", file=sys.stderr)  # noqa: T201
        return 2
    log.configure(config.log.level, config.log.format)
    keep_large_buffers()
    try:
        path = config_path(arguments.config)
        service = Service(config, SystemClock(), path, lambda: load_config(path))
        asyncio.run(service.run())
    except StartError as error:
        print(f"spanfuse processor: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0
