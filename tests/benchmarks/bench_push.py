"""A stop's way: from a span's end in one process to the closed gate in another, by a processor in a third.

Both ends read one machine's monotonic clock. Measured alone, and beside a load of about 15,000 spans/s that a
fourth process sends in batches of 512. Also: what a span costs the thread that ends it, and its encoding.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
from tests.benchmarks.payloads import batch
from tests.library.examples import RESOURCE, failed_tool
from tests.processes import Processor, processor
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.host import HostState
from spanfuse.hosts.remote import RemoteHost
from spanfuse.link.channel import Link, parse_target
from spanfuse.link.export import Sender
from spanfuse.link.otlp import encode
from spanfuse.settings import Settings
from spanfuse_processor.engine import NoPrices
from spanfuse_processor.engine.verdicts import Directive

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
LOOP = 4  # equal failing calls that are a loop
RATE, SIZE = 15_000, 512  # the load: spans a second, spans a batch
PAUSE = 0.005  # seconds between two loops


def main(quick: bool = False) -> dict[str, float]:
    """Milliseconds, p50 and p99; microseconds a span for what the application pays."""
    rounds = 50 if quick else 400
    figures: dict[str, float] = {}
    with (
        processor(SPANFUSE_LOG_LEVEL="error") as running,
        watching(running) as closed,
        agent(running) as talk,
    ):
        _measure(talk, closed, "warm-up", 20)
        figures |= _figures("alone", _measure(talk, closed, "alone", rounds))
        with load(running, seconds=rounds * 0.02 + 4):
            figures |= _figures("beside 15,000 spans/s", _measure(talk, closed, "beside", rounds))
    return figures | _costs(2_000 if quick else 20_000)


def _figures(name: str, samples: list[float]) -> dict[str, float]:
    samples.sort()
    at = {"p50": len(samples) // 2, "p99": len(samples) * 99 // 100}
    return {f"push {label} ms {name}": 1e3 * samples[place] for label, place in at.items()}


def _measure(talk: subprocess.Popen[str], closed: dict[str, float], name: str, rounds: int) -> list[float]:
    assert talk.stdin is not None and talk.stdout is not None
    samples, pause = [], threading.Event()
    for number in range(rounds):
        run = f"{name}-{number}"
        talk.stdin.write(f"{run}\n")
        talk.stdin.flush()
        ended = float(talk.stdout.readline())
        until(lambda run=run: run in closed, 10.0, every=0.001)
        samples.append(closed[run] - ended)
        pause.wait(PAUSE)
    return samples


@contextmanager
def watching(running: Processor) -> Iterator[dict[str, float]]:
    """The process whose gate closes, this one: when each run was stopped here."""
    closed: dict[str, float] = {}
    board = Board()

    def note(directive: Directive) -> None:
        closed.setdefault(directive.key.id, time.monotonic())

    board.on_change(note)
    host = _connected(running.endpoint, board)
    try:
        yield closed
    finally:
        host.stop()


@contextmanager
def agent(running: Processor) -> Iterator[subprocess.Popen[str]]:
    """The process whose run loops: told a run, it loops and says when the last call of the loop ended."""
    with _process("agent", running.endpoint) as started:
        yield started


@contextmanager
def load(running: Processor, seconds: float) -> Iterator[None]:
    """Spans of healthy runs, at a steady pace."""
    with _process("load", running.endpoint, str(seconds)) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "loading\n"
        yield


@contextmanager
def _process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.benchmarks.bench_push", *arguments]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def _connected(endpoint: str, board: Board) -> RemoteHost:
    host = RemoteHost(Settings(endpoint=endpoint, service="bench"), board, NoPrices())
    host.start()
    until(lambda: host.stats().state is HostState.CONNECTED, 20.0)
    return host


def _loop_when_told(endpoint: str) -> None:
    host = _connected(endpoint, Board())
    for line in sys.stdin:
        run = line.strip()
        for _ in range(LOOP - 1):
            host.span_ended(failed_tool(run))
        until(lambda: host.stats().queued == 0, 10.0, every=0.001)
        last = failed_tool(run)
        ended = time.monotonic()
        host.span_ended(last)
        sys.stdout.write(f"{ended}\n")
        sys.stdout.flush()


def _send_load(endpoint: str, seconds: float) -> None:
    payloads = [batch(SIZE) for _ in range(int(RATE / SIZE * seconds) + 1)]
    pause = threading.Event()
    with grpc.insecure_channel(endpoint) as channel:
        export = channel.unary_unary(EXPORT)
        export(payloads[0])
        sys.stdout.write("loading\n")
        sys.stdout.flush()
        began = time.monotonic()
        for number, payload in enumerate(payloads[1:]):
            pause.wait(max(0.0, began + number * SIZE / RATE - time.monotonic()))
            export.future(payload)


def _costs(spans: int) -> dict[str, float]:
    """CPU time: the machine may be busy with other things."""
    made = [failed_tool("cost") for _ in range(spans)]
    sender = Sender(Link(parse_target("127.0.0.1:1")), {}, limit=spans)  # not started: only the queue
    start = time.process_time()
    for span in made:
        sender.put(span)
    queued = time.process_time()
    for first in range(0, spans, SIZE):
        encode(made[first : first + SIZE], RESOURCE)
    encoded = time.process_time()
    return {
        "queue a span, us": 1e6 * (queued - start) / spans,
        "encode a span of 7 attributes, us": 1e6 * (encoded - queued) / spans,
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["agent"]:
        _loop_when_told(sys.argv[2])
    elif sys.argv[1:2] == ["load"]:
        _send_load(sys.argv[2], float(sys.argv[3]))
    else:
        sys.stdout.write(json.dumps(main("--quick" in sys.argv)) + "\n")
