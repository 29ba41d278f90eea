"""Judging one call in process, all detectors on: the embedded host's way from an ended span to a verdict.

Each span is of the shape of our own (digests stamped) and new to its run: the honest path. At the 10th and
the 10,000th call of a run, and with 1,000 and 100,000 runs alive. Baseline: an empty call.
"""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

from tests.benchmarks.timing import each, middle, tail, timer

from spanfuse_processor.engine import Engine, Policy, RawSpan, dialects_for, names
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.pricing import NoPrices
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result

START = 1_780_000_000_000_000_000
RESOURCE: dict[str, object] = {"service.name": "bench"}


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds."""
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
    figures |= _fingerprints(times)
    return figures


def _judged(runs: int, before: int, times: int) -> list[int]:
    engine, spans = Engine(Policy(), NoPrices(), dialects_for(Policy(), b"key")), _spans(runs)
    for span in itertools.islice(spans, before):
        engine.ingest(span, 0.0)
    ready = iter(list(itertools.islice(spans, times)))
    return each(lambda: engine.ingest(next(ready), 1.0), times)


def _fingerprints(times: int) -> dict[str, float]:
    """All of one call: digests, scope, sketches, error class, chant. The texts are those of a real file."""
    prints, text = Fingerprinter(b"key"), Path(__file__).read_text()
    arguments = {"path": "bench_judging.py", "old_text": text[-950:-480], "new_text": text[-480:]}
    result, endless = text[:2_000], text * 1_000
    few = min(times, 5_000)
    calls = {
        "fingerprints of 1 kB arguments and 2 kB result": (arguments, result, few),
        "fingerprints of the same, the result an error": (arguments, f"Error: {result}", few),
        "fingerprints of 5 MB arguments and 5 MB result": ({"edit": endless}, endless, few // 20),
    }
    return {
        f"{what}: p50 us": middle(each(partial(prints.fingerprints, asked, came), count))
        for what, (asked, came, count) in calls.items()
    }


def _spans(runs: int) -> itertools.chain[RawSpan]:
    return itertools.chain.from_iterable([_span(number, number % runs)] for number in itertools.count(1))


def _span(number: int, run: int) -> RawSpan:
    start = START + number * 1_000_000_000
    mark = f"{number:016x}"
    words = 40 << 58 | number * 0x9E3779B97F4A7C15 & (1 << 58) - 1  # forty words, never the same
    prints = Fingerprints(mark, mark, mark, mark, result_size=1_200, sketch=words, result_sketch=words)
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
