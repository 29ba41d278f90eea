"""What an engine keeps of runs that live: all detectors on, default policy, nothing found, nothing put away.

A run is an agent at work: its model and its tool are called in turn, every two seconds, with arguments and
results that never come again; of a run that is over, the last span is the agent's own. All runs go on side by
side. Measured is what an engine holds more than before (`tracemalloc`, so without the allocator's own waste),
over runs of several lengths; `a run` and `a span` are the line through the shortest and the longest, the
shares are of the budget for that length: 2 kB a run and 120 B a span. Ids and digests are made anew for each
span, as a receiver makes them, so that whatever is kept of them is counted.
"""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections.abc import Iterator

from spanfuse_processor.engine import Engine, Policy, RawSpan, dialects_for, names
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.pricing import NoPrices
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result

START = 1_780_000_000_000_000_000
SECOND = 1_000_000_000
RESOURCE: dict[str, object] = {"service.name": "bench"}
A_RUN, A_SPAN = 2_000, 120  # the budget, in bytes
SPREAD = 0x9E3779B97F4A7C15  # odd: times this, every number is another one
LONG = 10_000  # spans


def main(quick: bool = False) -> dict[str, float]:
    """In bytes, and in shares of the budget."""
    many = 2_000 if quick else 20_000
    sizes = ((many, 10), (many // 10, 100), (many // 100, 1_000), (1, LONG))
    figures: dict[str, float] = {}
    for whose in ("own", "foreign"):
        kept = {spans: _kept(runs, spans, whose == "own") for runs, spans in sizes}
        a_span = (kept[LONG] - kept[10]) / (LONG - 10)
        figures[f"{whose}: a run, bytes"] = kept[10] - 10 * a_span
        figures[f"{whose}: a span, bytes"] = a_span
        for spans, bytes_kept in kept.items():
            share = bytes_kept / (A_RUN + A_SPAN * spans)
            figures[f"{whose}: a run of {spans:>6,} spans over its budget, ratio"] = share
    figures["own: a run of 10 spans that is over, bytes"] = _kept(many, 10, own=True, over=True)
    return figures


def _kept(runs: int, spans: int, own: bool, over: bool = False) -> float:
    """Bytes for each of so many runs of so many spans."""
    engine = Engine(Policy(), NoPrices(), dialects_for(Policy(), b"key"))
    for span in _spans(1, 4, own, over, first=10**6):  # what is made once, whatever comes
        engine.ingest(span, 0.0)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for span in _spans(runs, spans, own, over):
            engine.ingest(span, 1.0)
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / runs
    finally:
        tracemalloc.stop()


def _spans(runs: int, spans: int, own: bool, over: bool, first: int = 0) -> Iterator[RawSpan]:
    """The spans of all runs, in the order in which they end."""
    for at, run in itertools.product(range(spans), range(first, first + runs)):
        yield _agent(run, at, own) if over and at == spans - 1 else _call(run, at, own)


def _call(run: int, at: int, own: bool) -> RawSpan:
    number = run * LONG + at + 1
    span_id = (number * SPREAD & (1 << 64) - 1).to_bytes(8, "big")
    attributes: dict[str, object] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": f"call_{number}",
    }
    if at % 2 == 0:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.usage.input_tokens": 1_000 + 100 * at,
            "gen_ai.usage.output_tokens": 100,
        }
    return _span(run, number, span_id, _root(run), at, attributes | _whose(run, own))


def _agent(run: int, at: int, own: bool) -> RawSpan:
    attributes: dict[str, object] = {"gen_ai.operation.name": "invoke_agent"}
    return _span(run, run * LONG, _root(run), b"", at, attributes | _whose(run, own))


def _whose(run: int, own: bool) -> dict[str, object]:
    if own:
        return {"spanfuse.run.id": f"{run:032x}", "spanfuse.run.depth": 0, "spanfuse.feature": "bench"}
    return {"gen_ai.conversation.id": f"conversation-{run:019}"}


def _root(run: int) -> bytes:
    return (10**15 + run).to_bytes(8, "big")


def _span(
    run: int, number: int, span_id: bytes, parent: bytes, at: int, attributes: dict[str, object]
) -> RawSpan:
    mark = f"{number * SPREAD & (1 << 64) - 1:016x}"
    words = 40 << 58 | number * SPREAD & (1 << 58) - 1  # forty words, never the same
    prints = Fingerprints(mark, mark, mark, mark, result_size=1_200, sketch=words, result_sketch=words)
    stamped = {names.ARGUMENTS: pack_arguments(prints), names.RESULT: pack_result(prints)}
    trace_id, start = (run + 1).to_bytes(16, "big"), START + 2 * at * SECOND + run
    called = {"gen_ai.agent.name": "main"} | attributes | stamped
    return RawSpan(trace_id, span_id, parent, "call", start, start + SECOND, called, RESOURCE, "spanfuse")
