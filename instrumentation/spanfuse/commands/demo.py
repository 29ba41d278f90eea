"""`spanfuse demo`: real agents in processes of their own run into loops and are stopped.

Rule 1: with `--json` standard output holds one JSON object and nothing else; progress goes to standard error.
Rule 2: exit 0 only when every outcome is as expected.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import signal
import sys

from rich.console import Console

from spanfuse.demo.processes import ChildFailed
from spanfuse.demo.progress import Progress, result_table
from spanfuse.demo.results import DemoResult
from spanfuse.demo.runner import Options, perform
from spanfuse.demo.story import story_table

HELP = "Watch real agents run into loops, each in its own process, and be stopped; a healthy one finishes."
_NEEDED = ("openai", "uvicorn", "httptools")
"""What the agents and their provider need."""
_SERVICE = ("grpc", "orjson", "yaml", "uvicorn", "prometheus_client")
"""What the extra `processor` brings."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Who judges, what is printed, and a real provider where one is wanted."""
    judge = parser.add_mutually_exclusive_group()
    judge.add_argument("--embedded", action="store_true", help="each agent judges itself, no processor")
    judge.add_argument(
        "--processor", action="store_true", help="with a processor (the default where it is installed)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.add_argument(
        "--base-url",
        default="",
        metavar="URL",
        help="a real provider (with OPENAI_API_KEY set): costs money, a few cents; no storm",
    )
    parser.add_argument("--model", default="", help="the real provider's model (default gpt-4o)")


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when every outcome is as expected, 1 when not, 2 on wrong use."""
    wrong = _wrong_use(arguments)
    if wrong:
        return _complain(wrong, 2)
    options = Options(
        processor=not arguments.embedded and not _missing(_SERVICE),
        base_url=arguments.base_url,
        model=arguments.model,
    )
    progress = Progress(Console(stderr=True), quiet=arguments.json and not sys.stderr.isatty())
    try:
        with progress:
            result = asyncio.run(_perform(options, progress))
    except (ChildFailed, OSError) as failure:
        return _complain(str(failure), 1)
    except asyncio.CancelledError:
        return _complain("told to end", 1)
    _show(result, as_json=arguments.json)
    return 0 if result.ok else 1


def _wrong_use(arguments: argparse.Namespace) -> str:
    """Why the demo cannot be played as it was asked for; empty when it can."""
    missing = _missing(_NEEDED) or (arguments.processor and _missing(_SERVICE))
    if missing:
        return f"needs {', '.join(missing)}: pip install 'spanfuse[demo]'"
    if arguments.base_url and not os.environ.get("OPENAI_API_KEY"):
        return "--base-url needs the provider's key in OPENAI_API_KEY"
    if arguments.model and not arguments.base_url:
        return "--model is for a real provider: it needs --base-url"
    return ""


def _missing(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if not importlib.util.find_spec(name)]


async def _perform(options: Options, progress: Progress) -> DemoResult:
    """The demo; a signal to end takes its processes down as Ctrl-C does."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await perform(options, progress)


def _show(result: DemoResult, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(result.as_json(), indent=2) + "\n")
    else:
        console = Console()
        console.print(result_table(result))
        if result.money is not None:
            console.print(story_table(result.money))


def _complain(text: str, code: int) -> int:
    sys.stderr.write(f"spanfuse demo: {text}\n")
    return code
