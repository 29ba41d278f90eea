"""Memory: what the engine itself keeps of a run and of a span, detectors apart."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

from tests.engine.making import Book, detectors, ended, model

from spanfuse_processor import engine
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.policy import Bounds, Policy

PER_RUN, PER_SPAN = 2_048, 160  # bytes; half of the spans are tool calls with an id of their own

OF_THE_ENGINE = str(Path(engine.__file__).parent / "*")


def kept(runs: int, spans: int, limit: int = 20_000) -> int:
    """Bytes that an engine holds after so many runs of so many spans; the events themselves are gone."""
    gc.collect()
    tracemalloc.start()
    made = Engine(Policy(bounds=Bounds(nodes_per_run=limit)), Book(), detectors=detectors())
    empty = _traced()
    for run in range(1, runs + 1):
        for number in range(1, spans + 1):
            made.observe(
                model(number, 9_999, of=run, usage=Usage(1000, 300))
                if number % 2
                else ended(number, 9_999, of=run, tool_call_id=f"call_{run}_{number}"),
                0.0,
            )
    gc.collect()
    held = _traced() - empty
    tracemalloc.stop()
    return held


def _traced() -> int:
    """Bytes that lines of the engine asked for: threads that other tests left behind ask for some, too."""
    taken = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, OF_THE_ENGINE)])
    return sum(trace.size for trace in taken.traces)


def test_a_run_is_small() -> None:
    assert kept(runs=500, spans=1) / 500 <= PER_RUN


def test_a_span_is_smaller() -> None:
    runs, spans = 50, 200

    assert kept(runs, spans) <= runs * (PER_RUN + spans * PER_SPAN)


def test_a_run_without_end_stops_growing() -> None:
    at_the_bound = kept(runs=1, spans=1_000, limit=1_000)

    assert kept(runs=1, spans=5_000, limit=1_000) <= at_the_bound + 4_096
