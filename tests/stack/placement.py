"""What a place of the Collector costs: from a span's end in one process to the closed gate in another.

    python -m tests.stack.placement [ROUNDS]

The same measurement as `make bench ARGS=push`, with a real Collector in between. Between the calls of a loop
lies a pause of another length each time, as a model's: batches are met at any moment of their waiting. Prints
a table in milliseconds; docs/placement.md has one.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.library.examples import failed_tool
from tests.processes import Processor, processor
from tests.stack import ports
from tests.stack.programs import ROOT, Program, Troupe, answers, find
from tests.stack.stack import collector
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.host import HostState
from spanfuse.hosts.remote import RemoteHost
from spanfuse.settings import Settings
from spanfuse_processor.engine import NoPrices
from spanfuse_processor.engine.verdicts import Directive

LOOP = 4  # equal failing calls that are a loop
LONGEST = 0.25  # seconds between two calls of it
DEFAULTS = "processors: {batch: {timeout: 200ms, send_batch_size: 8192, send_batch_max_size: 0}}\n"
UNBATCHED = "service: {pipelines: {traces: {processors: [memory_limiter]}}}\n"

PLACES: Mapping[str, tuple[str, ...]] = {
    "direct, no Collector": (),
    "in front, as in collector.yaml": ("collector.yaml",),
    "in front, without a batch processor": ("collector.yaml", UNBATCHED),
    "in front, the batch processor's defaults": ("collector.yaml", DEFAULTS),
    "beside, as in collector-beside.yaml": ("collector-beside.yaml",),
}
"""Each place, and the files of its Collector: names in deploy/, or what goes over them."""


def measure(rounds: int) -> dict[str, list[float]]:
    """Seconds from the last call of a loop to the closed gate, sorted, for each place."""
    figures = {}
    for name, files in PLACES.items():
        with place(files) as (running, spans), watching(running) as closed, agent(running, spans) as talk:
            list(_play(talk, closed, "warm-up", 3))
            figures[name] = sorted(_play(talk, closed, name, rounds))
    return figures


@contextmanager
def place(files: tuple[str, ...]) -> Iterator[tuple[Processor, str]]:
    """A processor, and where spans are to be sent."""
    with ExitStack() as stack:
        running = stack.enter_context(processor(SPANFUSE_LOG_LEVEL="error"))
        if not files:
            yield running, ""
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        chosen = ports.choose({}, usual=False)
        chosen |= {"PROCESSOR_HTTP_PORT": running.http_port}
        troupe = stack.enter_context(Troupe(folder))
        if "collector-beside.yaml" in files:
            troupe.start(_backend(chosen))
        troupe.start(collector(chosen, "none", *(_file(folder, each) for each in files)))
        yield running, f"127.0.0.1:{chosen['COLLECTOR_GRPC_PORT']}"


def _file(folder: Path, text: str) -> Path:
    """A file of deploy/ by its name, or one that is made of a text."""
    if text.endswith(".yaml"):
        return ROOT / "deploy" / text
    file = folder / "over.yaml"
    file.write_text(text)
    return file


def _backend(chosen: Mapping[str, int]) -> Program:
    environment = {"JAEGER_HOST": "127.0.0.1"}
    environment |= {name: str(port) for name, port in chosen.items() if name.startswith("JAEGER")}
    command = [find("jaeger"), f"--config={ROOT / 'deploy/jaeger.yaml'}"]
    health = f"http://127.0.0.1:{chosen['JAEGER_HEALTH_PORT']}/status"
    return Program("jaeger", command, lambda: answers(health), environment)


@contextmanager
def watching(running: Processor) -> Iterator[dict[str, float]]:
    """The process whose gate closes, this one: when each run was stopped here, monotonic."""
    closed: dict[str, float] = {}
    board = Board()

    def note(directive: Directive) -> None:
        closed.setdefault(directive.key.id, time.monotonic())

    board.on_change(note)
    host = _connected(running.endpoint, "", board)
    try:
        yield closed
    finally:
        host.stop()


@contextmanager
def agent(running: Processor, spans: str) -> Iterator[subprocess.Popen[str]]:
    """The process whose run loops: told a run, it loops and says when the last call of the loop ended."""
    command = [sys.executable, "-m", "tests.stack.placement", "agent", running.endpoint, spans]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def _play(
    talk: subprocess.Popen[str], closed: Mapping[str, float], name: str, rounds: int
) -> Iterator[float]:
    assert talk.stdin is not None and talk.stdout is not None
    for number in range(rounds):
        run = f"{name}-{number}"
        talk.stdin.write(f"{run}\n")
        talk.stdin.flush()
        ended = float(talk.stdout.readline())
        until(lambda run=run: run in closed, 10.0, every=0.001)  # type: ignore[misc]
        yield closed[run] - ended


def _connected(endpoint: str, spans: str, board: Board) -> RemoteHost:
    host = RemoteHost(Settings(endpoint=endpoint, spans_endpoint=spans, service="bench"), board, NoPrices())
    host.start()
    until(lambda: host.stats().state is HostState.CONNECTED, 20.0)
    return host


def _loop_when_told(endpoint: str, spans: str) -> None:
    host, dice, pause = _connected(endpoint, spans, Board()), random.Random(4), threading.Event()
    for line in sys.stdin:
        for _ in range(LOOP):
            pause.wait(dice.uniform(0.02, LONGEST))
            last = failed_tool(line.strip())
            ended = time.monotonic()
            host.span_ended(last)
        sys.stdout.write(f"{ended}\n")
        sys.stdout.flush()


def table(figures: Mapping[str, list[float]]) -> str:
    """The figures for people, in milliseconds."""
    lines = ["| the Collector | p50 ms | p90 ms | max ms |", "|---|--:|--:|--:|"]
    for name, seconds in figures.items():
        marks = (seconds[len(seconds) // 2], seconds[len(seconds) * 9 // 10], seconds[-1])
        lines.append(f"| {name} | " + " | ".join(f"{1e3 * each:.1f}" for each in marks) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["agent"]:
        _loop_when_told(sys.argv[2], sys.argv[3])
    else:
        print(table(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 60)))
