"""The Collector beside spanfuse: the backend has every span once, and what the breaker did, in one trace."""

from __future__ import annotations

import asyncio
from collections import Counter

from tests.stack import acting
from tests.stack.far_ends import Span
from tests.stack.live import Live, live_stack
from tests.stack.stack import BESIDE
from tests.waiting import until

LOOPING = {"looping": ("spanfuse.demo.agents", "looping")}


def trips(live: Live) -> list[list[Span]]:
    """The traces in which something was stopped."""
    return [
        trace
        for trace in live.jaeger.traces("spanfuse")
        if any(span.tags.get("spanfuse.breaker.kind") == "trip" for span in trace)
    ]


def test_a_stop_is_told_in_a_trace_that_has_every_span_once() -> None:
    with live_stack(BESIDE) as live:
        said = asyncio.run(acting.play(live.stack.application(), LOOPING, within=60.0))
        until(lambda: any(len(trace) > 10 for trace in trips(live)), 20.0, every=0.2)
        (trace,) = trips(live)

    assert acting.ending(said, "looping")["outcome"] == "stopped"
    assert Counter(Counter(span.span_id for span in trace).values()) == {1: len(trace)}
    assert {span.service for span in trace} == {"demo-looping", "spanfuse"}
