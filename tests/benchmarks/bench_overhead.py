"""An instrumented OpenAI call over the bare SDK call, beside the public instrumentations, in one process.

The transport answers from memory, so that what is timed is the SDK and what is put around it. All share the
application's tracer and meter providers, as `opentelemetry-instrument` sets them up, with an exporter that
drops everything. Rounds alternate; figures are microseconds of CPU a call, medians of the rounds. Ours
includes all that it does by default: gate, span, fingerprints, price, and judging in this process.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx2
from openai import OpenAI
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

import spanfuse

CALLS = 100
ROUNDS = 24

MESSAGES: list[Any] = [
    {"role": "system", "content": "You are a support agent. " + "Be brief, be kind, be right. " * 12},
    {"role": "user", "content": "Where is my order 81-4411? " + "I have been waiting. " * 10},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "find_order", "arguments": '{"order": "81-4411"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": json.dumps({"state": "in transit", "days": 2}) * 8},
]
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Your order is on its way. " * 20, "refusal": None},
            "logprobs": None,
        }
    ],
    "usage": {
        "prompt_tokens": 412,
        "completion_tokens": 120,
        "total_tokens": 532,
        "prompt_tokens_details": {"cached_tokens": 128, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    },
}


@contextmanager
def bare() -> Iterator[None]:
    """The SDK alone."""
    yield


@contextmanager
def ours() -> Iterator[None]:
    """spanfuse, as `import spanfuse.auto` switches it on."""
    spanfuse.instrument()
    try:
        yield
    finally:
        spanfuse.uninstrument()


@contextmanager
def otel() -> Iterator[None]:
    """opentelemetry-instrumentation-genai-openai: its default, no content."""
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    try:
        yield
    finally:
        OpenAIInstrumentor().uninstrument()


@contextmanager
def openinference() -> Iterator[None]:
    """openinference-instrumentation-openai: its default, with content."""
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    try:
        yield
    finally:
        OpenAIInstrumentor().uninstrument()


VARIANTS = {"bare": bare, "spanfuse": ours, "otel": otel, "openinference": openinference}


def client() -> OpenAI:
    """A client whose provider is a function."""
    body = json.dumps(COMPLETION).encode()
    headers = {"content-type": "application/json"}

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=body, headers=headers)

    return OpenAI(api_key="k", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))


class Nowhere(SpanExporter):
    """Exports to nowhere."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Nothing is held."""


def set_up_opentelemetry() -> None:
    """What an application that wants telemetry has set up."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Nowhere()))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([InMemoryMetricReader()]))


def timed(call: Callable[[], object], calls: int) -> float:
    """Microseconds a call, of this thread's CPU: what others do on the machine does not count."""
    for _ in range(5):
        call()
    gc.collect()
    begun = time.thread_time()
    for _ in range(calls):
        call()
    return (time.thread_time() - begun) / calls * 1e6


def main(quick: bool = False) -> dict[str, float]:
    """Per variant: microseconds a call, and what it adds to the bare call of the same round."""
    set_up_opentelemetry()
    with client() as made:

        def call() -> object:
            return made.chat.completions.create(model="gpt-4o-mini", messages=MESSAGES)

        rounds = [one_round(call, number, quick) for number in range(5 if quick else ROUNDS)]
    return figures(rounds)


def one_round(call: Callable[[], object], number: int, quick: bool) -> dict[str, float]:
    """Every variant once; each round begins with another."""
    names = list(VARIANTS)
    turn = number % len(names)
    times = {}
    for name in names[turn:] + names[:turn]:
        with VARIANTS[name]():
            times[name] = timed(call, CALLS // 4 if quick else CALLS)
    return times


def figures(rounds: list[dict[str, float]]) -> dict[str, float]:
    """Medians of the rounds."""
    found = {f"{name}, us a call": statistics.median(times[name] for times in rounds) for name in VARIANTS}
    added = {
        name: statistics.median(times[name] - times["bare"] for times in rounds)
        for name in VARIANTS
        if name != "bare"
    }
    found |= {f"{name} adds, us": extra for name, extra in added.items()}
    return found | {
        "ours over the fastest peer": added["spanfuse"] / min(added["otel"], added["openinference"])
    }


if __name__ == "__main__":
    print(json.dumps(main()))
