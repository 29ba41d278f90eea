"""The whole processor, one process: spans a second over OTLP/gRPC at 1, 64 and 512 a batch, all detectors on.

The load comes from this process over loopback, so both share the machine; the CPU a span costs in the
processor is the figure to compare. Baseline in the same run: the same server asked for nothing (empty
requests).
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

import grpc
from tests.benchmarks.payloads import batch
from tests.processes import processor

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
TICKS = os.sysconf("SC_CLK_TCK")


def main(quick: bool = False) -> dict[str, float]:
    """Median of rounds. `cpu us/span` is user and system time of the processor."""
    figures: dict[str, float] = {}
    rounds = 2 if quick else 5
    with processor() as running, grpc.insecure_channel(f"127.0.0.1:{running.grpc_port}") as channel:
        export = channel.unary_unary(EXPORT)
        for size in (1, 64, 512):
            calls = max(4, (2_000 if quick else 20_000) // size) if size > 1 else (200 if quick else 2_000)
            samples = [_round(export, running.pid, size, calls) for _ in range(rounds)]
            figures[f"spans/s at {size} a batch"] = statistics.median(s[0] for s in samples)
            figures[f"processor cpu us/span at {size} a batch"] = statistics.median(s[1] for s in samples)
            figures[f"spans/s on one core at {size} a batch"] = 1e6 / statistics.median(s[1] for s in samples)
        figures["baseline: cpu us per empty request"] = _empty(export, running.pid, 200 if quick else 2_000)
    return figures


def _round(export: grpc.UnaryUnaryMultiCallable, pid: int, size: int, calls: int) -> tuple[float, float]:
    payloads = [batch(size) for _ in range(calls)]
    before, start = cpu_seconds(pid), time.perf_counter()
    for begin in range(0, calls, 8):  # eight in flight
        for waiting in [export.future(payload) for payload in payloads[begin : begin + 8]]:
            waiting.result(timeout=30)
    wall, used = time.perf_counter() - start, cpu_seconds(pid) - before
    return size * calls / wall, max(used, 1 / TICKS) * 1e6 / (size * calls)


def _empty(export: grpc.UnaryUnaryMultiCallable, pid: int, calls: int) -> float:
    before = cpu_seconds(pid)
    for _ in range(calls):
        export(b"", timeout=30)
    return (cpu_seconds(pid) - before) * 1e6 / calls


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, from /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
