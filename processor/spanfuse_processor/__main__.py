"""The executable `spanfuse`: finds the command, runs it, turns its end into an exit code.

Rule 1: a command's module is imported only when it is asked for; a missing extra is said in one line with the
`pip install` that mends it. Rule 2: exit 0 ok, 1 found something or failed, 2 wrong use.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from spanfuse_processor.commands import COMMANDS

EXTRA_OF = {"demo": "demo", "run": "remote"}
"""Which extra brings what a command imports; `processor` for all others."""

SUMMARIES = {
    "demo": "watch real agents run into loops and be stopped",
    "run": "run any Python program, instrumented",
    "processor": "the service: OTLP in, directives out",
    "replay": "judge recorded spans (OTLP/JSON lines) as the service would",
    "check": "check a configuration file: errors with line and field",
    "budgets": "what may be spent, what is, and when it runs out",
    "spend": "what calls cost, by feature, model, user, day ...",
    "top": "watch runs, budgets and forecasts, what was stopped and why",
    "events": "what tripped, was warned of, forecast and ordered; one of these with its snapshot",
    "report": "write one page about a run or a day: calls, cost, stops and why",
    "kill": "stop a run (or an agent, a feature, everything) now",
    "release": "take a stop back",
}
"""One line each, so that `spanfuse --help` imports no command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command. Returns the exit code; argparse itself exits with 2 on wrong use."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments else ""
    if name not in COMMANDS:
        _overview().parse_args(arguments or ["--help"])  # prints help or version, or exits with 2
        return 2
    module = _load(name)
    if module is None:
        return 2
    parser = argparse.ArgumentParser(prog=f"spanfuse {name}", description=module.HELP)
    module.add_arguments(parser)
    try:
        return int(module.run(parser.parse_args(arguments[1:])))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of a pipe went away: `spanfuse replay ... | head`
        _speak_to_nobody()
        return 1


def _overview() -> argparse.ArgumentParser:
    lines = "\n".join(f"  {name:<10} {SUMMARIES[name]}" for name in COMMANDS)
    parser = argparse.ArgumentParser(
        prog="spanfuse",
        description="A breaker for LLM agents, built on OpenTelemetry.",
        epilog=f"commands:\n{lines}\n\n`spanfuse COMMAND --help` says more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = importlib.metadata.version("spanfuse")
    parser.add_argument("--version", action="version", version=f"spanfuse {version}")
    parser.add_argument("command", choices=sorted(COMMANDS), metavar="COMMAND")
    return parser


def _load(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(COMMANDS[name])
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] in {"spanfuse", "spanfuse_processor"}:
            raise  # our own file is missing: a broken installation, not a missing extra
        extra = EXTRA_OF.get(name, "processor")
        print(  # noqa: T201 - this is a command line
            f"spanfuse {name} needs the package '{missing.name}': pip install 'spanfuse[{extra}]'",
            file=sys.stderr,
        )
        return None


def _speak_to_nobody() -> None:
    """What is left in the buffer of stdout goes nowhere, instead of failing once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
