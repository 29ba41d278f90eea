"""What an instrumentation adds to an OpenAI call: ours beside the public ones, in one process.

The transport answers from memory; calls are made as an agent makes them, several in one trace. Timed is what
happens around the SDK's own method, the one that is wrapped: the time from outside less the time within, so
that the SDK itself, which takes five times as long, does not count. All share the application's tracer and
meter providers, as `opentelemetry-instrument` sets them up, with an exporter that drops everything. Figures
are microseconds of this thread's CPU a call, medians of alternating rounds. Ours includes all that it does by
default: gate, span, fingerprints, price, judging in this process, and a record of it.
"""

from __future__ import annotations

import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from openai import OpenAI
from openai._base_client import SyncAPIClient
from openai.resources.chat.completions import Completions
from openinference.instrumentation import openai as openinference
from opentelemetry import metrics, trace
from opentelemetry.instrumentation.genai import openai as otel
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

import spanfuse

TRACES = 12
CALLS = 8  # in each trace
ROUNDS = 24

ANSWER = "".join(f"Parcel {number} is on its way. " for number in range(20))  # nothing said twice: no chant
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
            "message": {"role": "assistant", "content": ANSWER, "refusal": None},
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


@dataclass
class Stopwatch:
    """Adds up the time that a method takes, by whatever it is wrapped."""

    total: float = 0.0

    def around(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """The method, timed."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            begun = time.thread_time()
            try:
                return method(*args, **kwargs)
            finally:
                self.total += time.thread_time() - begun

        return timed


@contextmanager
def ours(*, records: bool = True) -> Iterator[None]:
    """spanfuse, as `import spanfuse.auto` switches it on; its record is in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        spanfuse.instrument(journal=f"{folder}/record.db" if records else "off")
        try:
            yield
        finally:
            spanfuse.uninstrument()


@contextmanager
def instrumented(instrumentor: Any) -> Iterator[None]:
    """A public instrumentation, with its defaults."""
    instrumentor.instrument()
    try:
        yield
    finally:
        instrumentor.uninstrument()


@dataclass(frozen=True)
class Variant:
    """An instrumentation: how it is switched on, and the method that it wraps."""

    switched_on: Callable[[], AbstractContextManager[None]]
    owner: type
    method: str


VARIANTS = {
    "spanfuse": Variant(ours, SyncAPIClient, "request"),
    "spanfuse without a record": Variant(lambda: ours(records=False), SyncAPIClient, "request"),
    # No content by default.
    "otel genai": Variant(lambda: instrumented(otel.OpenAIInstrumentor()), Completions, "create"),
    # With content by default.
    "openinference": Variant(lambda: instrumented(openinference.OpenAIInstrumentor()), OpenAI, "request"),
}


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


def added(variant: Variant, agent: Callable[[], None], traces: int) -> float:
    """Microseconds that a variant adds to a call."""
    within, outside = Stopwatch(), Stopwatch()
    with replaced(variant, within.around), variant.switched_on(), replaced(variant, outside.around):
        for _ in range(3):
            agent()
        gc.collect()
        within.total = outside.total = 0.0
        for _ in range(traces):
            agent()
    return (outside.total - within.total) / (traces * CALLS) * 1e6


@contextmanager
def replaced(variant: Variant, change: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """The variant's method, changed for the length of a `with`."""
    own = vars(variant.owner).get(variant.method)
    setattr(variant.owner, variant.method, change(getattr(variant.owner, variant.method)))
    try:
        yield
    finally:
        if own is None:
            delattr(variant.owner, variant.method)
        else:
            setattr(variant.owner, variant.method, own)


def agent(client: OpenAI) -> None:
    """One trace of calls, no two of them equal."""
    with trace.get_tracer("agent").start_as_current_span("agent"):
        for number in range(CALLS):
            told = [*MESSAGES, {"role": "user", "content": f"This is question {number}."}]
            client.chat.completions.create(model="gpt-4o-mini", messages=told)


def main(quick: bool = False) -> dict[str, float]:
    """What each variant adds, in microseconds a call."""
    set_up_opentelemetry()
    found: dict[str, list[float]] = {name: [] for name in VARIANTS}
    with client() as made:
        for _ in range(3 if quick else ROUNDS):
            for name, variant in VARIANTS.items():
                traces = TRACES // 4 if quick else TRACES
                found[name].append(added(variant, lambda: agent(made), traces))
    medians = {name: statistics.median(times) for name, times in found.items()}
    fastest = min(time_ for name, time_ in medians.items() if not name.startswith("spanfuse"))
    figures = {f"{name} adds, us a call": time_ for name, time_ in medians.items()}
    return figures | {"ours over the fastest peer": medians["spanfuse"] / fastest}


if __name__ == "__main__":
    print(json.dumps(main()))
