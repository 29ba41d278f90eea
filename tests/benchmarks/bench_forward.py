"""What sending spans on costs: the same load, to a processor without a destination and to one with.

Both are processes of their own, asked in turns, so that the machine is as busy for one as for the other. The
destination is another one, which takes bytes and does nothing else; figures are ratios of the least CPU that
a span costs the processor, and of spans a second. Also: how long a stop takes while a destination hangs.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import grpc
from tests.benchmarks import bench_push
from tests.benchmarks.bench_processor import EXPORT, _round
from tests.forwarding.backends import PROTOCOLS, Backend, Mood
from tests.processes import Processor, processor

QUIET = {"SPANFUSE_LOG_LEVEL": "error"}
SIZE = 512


def main(quick: bool = False) -> dict[str, float]:
    """Median of rounds."""
    figures: dict[str, float] = {}
    for name in ("grpc", "http"):
        with sink(name) as endpoint:
            forwards = {"SPANFUSE_FORWARD_ENDPOINT": endpoint, "SPANFUSE_FORWARD_PROTOCOL": name}
            # Both are young: what a processor remembers is a part of what the next span costs.
            with processor(**QUIET) as plain, processor(**QUIET, **forwards) as running:
                figures |= _compared(name, plain, running, rounds=3 if quick else 9, calls=8 if quick else 20)
    with sink("hangs") as endpoint:
        return figures | _stops(endpoint, quick)


def _compared(name: str, plain: Processor, running: Processor, rounds: int, calls: int) -> dict[str, float]:
    with grpc.insecure_channel(plain.endpoint) as one, grpc.insecure_channel(running.endpoint) as other:
        exports = [each.unary_unary(EXPORT) for each in (one, other)]
        pairs = [
            [
                _round(export, each.pid, SIZE, calls)
                for export, each in zip(exports, (plain, running), strict=True)
            ]
            for _ in range(rounds)
        ]
    speed = statistics.median(forwards[0] / alone[0] for alone, forwards in pairs)
    # What others on the machine do only adds: the least of all rounds is nearest to the truth.
    cpu = [min(figures[1] for figures in column) for column in zip(*pairs, strict=True)]
    return {
        f"spans/s at {SIZE} a batch, no destination": statistics.median(alone[0] for alone, _ in pairs),
        f"spans/s with one over {name}, of that": speed,
        f"processor cpu a span with one over {name}, of that without": cpu[1] / cpu[0],
    }


def _stops(endpoint: str, quick: bool) -> dict[str, float]:
    """Milliseconds from a span's end to the closed gate, without a destination and with one that hangs."""
    kinds = {"no destination": {}, "a destination that hangs": {"SPANFUSE_FORWARD_ENDPOINT": endpoint}}
    samples: dict[str, list[float]] = {name: [] for name in kinds}
    with ExitStack() as stack:
        talks = {name: stack.enter_context(_talking(forwards)) for name, forwards in kinds.items()}
        for number in range(4 if quick else 20):
            for name, (talk, closed) in talks.items():
                samples[name] += bench_push._measure(talk, closed, f"run-{number}", 20)[2:]
    return {
        f"push {label} ms, {name}": 1e3 * sorted(found)[int(len(found) * share)]
        for name, found in samples.items()
        for label, share in (("p50", 0.5), ("p99", 0.99))
    }


@contextmanager
def _talking(forwards: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], dict[str, float]]]:
    with (
        processor(**QUIET, **forwards) as running,
        bench_push.watching(running) as closed,
        bench_push.agent(running) as talk,
    ):
        yield talk, closed


@contextmanager
def sink(name: str) -> Iterator[str]:
    """A destination in a process of its own: its endpoint."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_forward", name]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    try:
        yield started.stdout.readline().strip()
    finally:
        started.kill()
        started.communicate()


class Forgetful(Backend):
    """Takes everything and keeps nothing; or takes nothing, and never says so."""

    def mood(self, got: object) -> Mood:
        """The same for every request."""
        if self.always.hold is not None:
            self.always.hold.wait()
        return self.always


if __name__ == "__main__":
    hangs = sys.argv[1] == "hangs"
    always = Mood(hold=threading.Event() if hangs else None)
    with PROTOCOLS["grpc" if hangs else sys.argv[1]](Forgetful(always=always)) as backend:
        sys.stdout.write(f"{backend.endpoint}\n")
        sys.stdout.flush()
        sys.stdin.read()
