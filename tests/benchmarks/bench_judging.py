"""Judging one call in process, all detectors on: the embedded host's way from an ended span to a verdict.

Each span is of the shape of our own (digests stamped) and new to its run: the honest path. At the 10th and
the 10,000th call of a run, and with 1,000 and 100,000 runs alive; calls of a tool, and then of a model and
its tool in turn, whose usage is told. Baseline: an empty call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.benchmarks.timing import each, middle, tail, timer

from spanfuse_processor.engine import Engine, Policy, RawSpan, dialects_for, names
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.pricing import NoPrices
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result

START = 1_780_000_000_000_000_000
SECOND = 1_000_000_000
Shape = Callable[[int, int], RawSpan]
RESOURCE: dict[str, object] = {"service.name": "bench"}


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds."""
    times = 2_000 if quick else 20_000
    many = 10_000 if quick else 100_000
    figures = {"baseline: empty call, p50 us": timer()}
    for before in (10, 10_000):
        samples = _judged(1, before, min(times, 5_000), _tool)
        figures[f"at call {before:>6,} of a run: p50 us"] = middle(samples)
        figures[f"at call {before:>6,} of a run: p99 us"] = tail(samples)
    for runs in (1_000, many):
        samples = _judged(runs, runs, times, _tool)
        figures[f"with {runs:>7,} live runs: p50 us"] = middle(samples)
    for runs, before in ((1, 10), (1, 10_000), (1_000, 2_000)):
        samples = _judged(runs, before, min(times, 5_000), _turn)
        what = f"with {runs:,} live runs" if runs > 1 else f"at call {before:>6,} of a run"
        figures[f"a model and its tool in turn, {what}: p50 us"] = middle(samples)
    figures |= _fingerprints(times)
    return figures


def _judged(runs: int, before: int, times: int, shape: Shape) -> list[int]:
    engine = Engine(Policy(), NoPrices(), dialects_for(Policy(), b"key"))
    spans = (shape(number, runs) for number in itertools.count(1))
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


def _tool(number: int, runs: int) -> RawSpan:
    """A tool's call of one of so many runs, a second after the one before."""
    return _span(number, number % runs, number * SECOND, _asked_of_a_tool(number))


def _turn(number: int, runs: int) -> RawSpan:
    """A call of a model or, every second time that a run has its turn, of the tool that it asked for."""
    turn, run = divmod(number, runs)
    called = _asked_of_a_tool(number) if turn % 2 else _asked_of_a_model(turn)
    return _span(number, run, 2 * turn * SECOND + run, called)


def _asked_of_a_tool(number: int) -> dict[str, object]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": f"call_{number}",
    }


def _asked_of_a_model(turn: int) -> dict[str, object]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 1_000 + 100 * (turn % 64),  # a history that grows until it is summed up
        "gen_ai.usage.output_tokens": 100,
    }


def _span(number: int, run: int, after_ns: int, called: dict[str, object]) -> RawSpan:
    start = START + after_ns
    mark = f"{number:016x}"
    words = 40 << 58 | number * 0x9E3779B97F4A7C15 & (1 << 58) - 1  # forty words, never the same
    prints = Fingerprints(mark, mark, mark, mark, result_size=1_200, sketch=words, result_sketch=words)
    attributes: dict[str, object] = {
        "spanfuse.run.id": f"run-{run}",
        "spanfuse.run.depth": 0,
        "gen_ai.agent.name": "main",
        "spanfuse.feature": "bench",
        **called,
        names.ARGUMENTS: pack_arguments(prints),
        names.RESULT: pack_result(prints),
    }
    trace, span_id = (run + 1).to_bytes(16, "big"), number.to_bytes(8, "big")
    end = start + 400_000_000
    return RawSpan(trace, span_id, b"", "a call", start, end, attributes, RESOURCE, "spanfuse")
