"""What a scraper adds to a stop's way: `bench_push`'s push, with and without one that comes twice a second.

The page has more than 5,000 series, and is asked for in the dearer of its formats, by a process of its own.
Short rounds alternate, so that what else the machine does hits both; quantiles are of all rounds together; a
ratio of 1 is nothing added. Also: what a page costs, how much of that is the deciding process's, and how long
its steps are.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from tests.benchmarks.bench_processor import EXPORT, cpu_seconds
from tests.benchmarks.bench_push import _measure, agent, watching
from tests.processes import Processor, processor

from spanfuse_processor.config import Cardinality
from spanfuse_processor.telemetry.counters import Metrics
from spanfuse_processor.telemetry.exposition.slices import slices
from spanfuse_processor.telemetry.meter import ModelCounts

AGENTS, SERIES, EVERY = 100, 5_000, 0.5
MODELS = ("gpt-4o", "gpt-4o-mini", "gpt-4.1")
SHARES = {"p50": 0.5, "p99": 0.99}
OPEN_METRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}


def main(quick: bool = False) -> dict[str, float]:
    """Milliseconds of the push, and ratios: with a scraper to without one."""
    rounds, loops = (4, 25) if quick else (40, 50)
    limits = {"SPANFUSE_METRICS_AGENTS": str(AGENTS), "SPANFUSE_LOG_LEVEL": "error"}
    samples: dict[str, list[float]] = {"alone": [], "scraped": []}
    with processor(**limits) as running, watching(running) as closed, agent(running) as talk:
        fill(running)
        _measure(talk, closed, "warm-up", 20)
        for number in range(rounds):
            samples["alone"] += _measure(talk, closed, f"alone-{number}", loops)
            with scraper(running):
                samples["scraped"] += _measure(talk, closed, f"scraped-{number}", loops)
        return _figures(samples) | _costs(running, 5 if quick else 20) | _steps()


def _figures(samples: dict[str, list[float]]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for label, part in {"p50": 2, "p99": 100}.items():
        at = {name: statistics.quantiles(each, n=part)[-1] for name, each in samples.items()}
        figures |= {f"push {label} ms, {name}": 1e3 * value for name, value in at.items()}
        figures[f"push {label}, scraped to alone"] = at["scraped"] / at["alone"]
    return figures


def _costs(running: Processor, pages: int) -> dict[str, float]:
    """A page as its reader sees it, and what it takes of the process that decides."""
    page = scrape(running)
    series = float(next(line for line in page.splitlines() if line.startswith("spanfuse_series ")).split()[1])
    assert series >= SERIES, series
    before, began, pause = cpu_seconds(running.pid), time.perf_counter(), Event()
    took = []
    for _ in range(pages):
        start = time.perf_counter()
        scrape(running)
        took.append(time.perf_counter() - start)
    used, wall = cpu_seconds(running.pid) - before, time.perf_counter() - began
    before = cpu_seconds(running.pid)
    pause.wait(wall)  # what it does meanwhile anyway
    used -= cpu_seconds(running.pid) - before
    return {
        "series": series,
        "ms of a page": 1e3 * statistics.median(took),
        "ms of a page in the deciding process": 1e3 * used / pages,
    }


def _steps() -> dict[str, float]:
    """What a slice takes, in CPU time of this thread: the longest that anything waits for a page."""
    metrics = Metrics(Cardinality(agents=AGENTS))
    for who in range(AGENTS):
        for model in MODELS:
            labels = metrics.agents.bounded(f"agent-{who}"), "openai", model, "ok"
            metrics.meter.models[labels] = ModelCounts(5, 100, trace_id=b"t" * 16)
    took = []
    for _ in range(20):
        parts = slices(metrics.rows())
        start = time.thread_time()
        while next(parts, None) is not None:
            took.append(time.thread_time() - start)
            start = time.thread_time()
    took.sort()
    return {f"us of a slice, {label}": 1e6 * took[int(len(took) * share)] for label, share in SHARES.items()}


def scrape(running: Processor) -> str:
    """One page."""
    asked = urllib.request.Request(f"http://127.0.0.1:{running.metrics_port}/metrics", headers=OPEN_METRICS)
    with urllib.request.urlopen(asked, timeout=10) as answer:
        return str(answer.read().decode())


@contextmanager
def scraper(running: Processor) -> Iterator[None]:
    """A process that asks for a page every half second; the first has come."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_exposition", str(running.metrics_port)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert started.stdout is not None
        started.stdout.readline()
        yield
    finally:
        started.kill()
        started.communicate()


def fill(running: Processor) -> None:
    """Calls of many agents, each of several models and of a tool."""
    with grpc.insecure_channel(f"127.0.0.1:{running.grpc_port}") as channel:
        channel.unary_unary(EXPORT)(_calls(), timeout=30)


def _calls() -> bytes:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for number in range(AGENTS * (len(MODELS) + 1)):
        who, what = divmod(number, len(MODELS) + 1)
        span = scope.spans.add(trace_id=who.to_bytes(16, "big"), span_id=(number + 1).to_bytes(8, "big"))
        span.start_time_unix_nano = span.end_time_unix_nano = time.time_ns()
        said: dict[str, str | int] = {"gen_ai.agent.name": f"agent-{who}"}
        if what == len(MODELS):
            said |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
        else:
            said |= {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"}
            said |= {"gen_ai.request.model": MODELS[what], "gen_ai.usage.input_tokens": 100}
        span.attributes.extend(_attribute(key, value) for key, value in said.items())
    return request.SerializeToString()


def _attribute(key: str, value: str | int) -> KeyValue:
    made = AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value)
    return KeyValue(key=key, value=made)


def _scrape_on(port: int) -> None:
    running, pause = Processor(metrics_port=port), Event()
    while True:
        began = time.monotonic()
        scrape(running)
        sys.stdout.write("scraped\n")
        sys.stdout.flush()
        pause.wait(max(0.0, began + EVERY - time.monotonic()))


if __name__ == "__main__":
    _scrape_on(int(sys.argv[1]))
