"""Judging one call in process, all detectors on: the embedded host's way from an ended span to a verdict.

Each span is of the shape of our own (digests stamped) and new to its run: the honest path. At the 10th and
the 10,000th call of a run, and with 1,000 and 100,000 runs alive. Baseline: an empty call.
"""

from __future__ import annotations

import itertools
import tracemalloc

from tests.benchmarks.timing import each, middle, tail, timer

from spanfuse_processor.engine import Engine, Policy, RawSpan, dialects_for, names
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.pricing import NoPrices
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result

START = 1_780_000_000_000_000_000
RESOURCE: dict[str, object] = {"service.name": "bench"}


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds; memory in bytes."""
    times = 2_000 if quick else 20_000
    many = 10_000 if quick else 100_000
    figures = {"baseline: empty call, p50 us": timer()}
    for before in (10, 10_000):
        samples = _judged(runs=1, before=before, times=min(times, 5_000))
        figures[f"at call {before:>6,} of a run: p50 us"] = middle(samples)
        figures[f"at call {before:>6,} of a run: p99 us"] = tail(samples)
    for runs in (1_000, many):
        samples = _judged(runs=runs, before=runs, times=times)
        figures[f"with {runs:>7,} live runs: p50 us"] = middle(samples)
    figures |= _memory(many)
    figures |= _fingerprints(times)
    return figures


def _judged(runs: int, before: int, times: int) -> list[int]:
    engine, spans = Engine(Policy(), NoPrices(), dialects_for(Policy(), b"key")), _spans(runs)
    for span in itertools.islice(spans, before):
        engine.ingest(span, 0.0)
    ready = iter(list(itertools.islice(spans, times)))
    return each(lambda: engine.ingest(next(ready), 1.0), times)


def _memory(runs: int) -> dict[str, float]:
    engine, spans = Engine(Policy(), NoPrices(), dialects_for(Policy(), b"key")), _spans(runs)
    tracemalloc.start()
    for span in itertools.islice(spans, runs):
        engine.ingest(span, 0.0)
    first = tracemalloc.get_traced_memory()[0]
    more = 4 * runs
    for span in itertools.islice(spans, more):
        engine.ingest(span, 0.0)
    second = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return {
        f"memory a run, {runs:,} runs of one call: bytes": first / runs,
        "memory a further span: bytes": (second - first) / more,
    }


def _fingerprints(times: int) -> dict[str, float]:
    prints = Fingerprinter(b"key")
    arguments = {"query": "x" * 900, "page": 3, "request_id": "a1b2c3d4e5f60718", "filters": ["new", "cheap"]}
    result = "word 12 and more; " * 113

    def call() -> None:
        prints.arguments(arguments)
        prints.result(result)

    return {"fingerprints of 1 kB arguments and 2 kB result: p50 us": middle(each(call, min(times, 5_000)))}


def _spans(runs: int) -> itertools.chain[RawSpan]:
    return itertools.chain.from_iterable([_span(number, number % runs)] for number in itertools.count(1))


def _span(number: int, run: int) -> RawSpan:
    start = START + number * 1_000_000_000
    mark = f"{number:016x}"
    prints = Fingerprints(mark, mark, mark, mark, result_size=1_200)
    attributes: dict[str, object] = {
        "spanfuse.run.id": f"run-{run}",
        "spanfuse.run.depth": 0,
        "gen_ai.agent.name": "main",
        "spanfuse.feature": "bench",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": f"call_{number}",
        names.ARGUMENTS: pack_arguments(prints),
        names.RESULT: pack_result(prints),
    }
    trace = (run + 1).to_bytes(16, "big")
    span_id = number.to_bytes(8, "big")
    return RawSpan(
        trace,
        span_id,
        b"",
        "execute_tool search",
        start,
        start + 400_000_000,
        attributes,
        RESOURCE,
        "spanfuse",
    )
