"""OTLP checklist, across its sections: the real exporters of the Python SDK, as applications set them up.

gRPC and HTTP, compressed and not, over real sockets.
"""

from __future__ import annotations

from collections.abc import Callable

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Link, SpanContext, Status, StatusCode
from tests.receiver.serving import Running, serving

from spanfuse_processor.auth import Tokens
from spanfuse_processor.receiver.intake import Overloaded

MakeExporter = Callable[[Running], SpanExporter]


def over_grpc(compression: grpc.Compression, token: str = "") -> MakeExporter:
    headers = {"authorization": f"Bearer {token}"} if token else None
    return lambda running: GrpcExporter(
        endpoint=f"http://127.0.0.1:{running.grpc_port}",
        insecure=True,
        headers=headers,
        compression=compression,
    )


def over_http(compression: Compression, token: str = "") -> MakeExporter:
    headers = {"authorization": f"Bearer {token}"} if token else None
    return lambda running: HttpExporter(
        endpoint=f"http://127.0.0.1:{running.http_port}/v1/traces", headers=headers, compression=compression
    )


EXPORTERS = {
    "grpc": over_grpc(grpc.Compression.NoCompression),
    "grpc gzip": over_grpc(grpc.Compression.Gzip),
    "grpc deflate": over_grpc(grpc.Compression.Deflate),
    "http": over_http(Compression.NoCompression),
    "http gzip": over_http(Compression.Gzip),
    "http deflate": over_http(Compression.Deflate),
}
every_exporter = pytest.mark.parametrize("make", EXPORTERS.values(), ids=EXPORTERS)


def emit(exporter: SpanExporter, count: int = 1) -> None:
    """Spans of an agent with `count` tool calls, flushed."""
    provider = TracerProvider(resource=Resource({"service.name": "shop"}), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("agent.library")
    elsewhere = SpanContext(trace_id=0xABC, span_id=0xDEF, is_remote=True)
    with tracer.start_as_current_span("invoke_agent", links=[Link(elsewhere)]):
        for number in range(count):
            with tracer.start_as_current_span("execute_tool") as span:
                span.set_attribute("gen_ai.tool.name", "search")
                span.set_attribute("number", number)
                span.set_attribute("tags", ["a", "b"])
                span.set_status(Status(StatusCode.ERROR, "it broke"))
    provider.force_flush()
    provider.shutdown()


def ended(name: str, trace_id: int) -> ReadableSpan:
    """A span as an exporter gets it; a trace id of zero makes one that no receiver can take."""
    context = SpanContext(trace_id, span_id=0xDEF, is_remote=False)
    return ReadableSpan(name, context, resource=Resource({}), start_time=1, end_time=2)


@every_exporter
def test_spans_arrive_with_all_that_is_read_of_them(receiver: Running, make: MakeExporter) -> None:
    emit(make(receiver))

    tool, agent = receiver.taker.spans
    assert (tool.name, agent.name) == ("execute_tool", "invoke_agent")
    assert tool.parent_span_id == agent.span_id
    assert tool.trace_id == agent.trace_id
    assert (tool.status, tool.status_message, agent.status) == (2, "it broke", 0)
    assert (tool.attributes.get("gen_ai.tool.name"), tool.attributes.get("number")) == ("search", 0)
    assert tool.attributes.get("tags") == ["a", "b"]
    assert agent.links == ((0xABC.to_bytes(16), 0xDEF.to_bytes(8)),)
    assert tool.resource["service.name"] == "shop"
    assert tool.resource is agent.resource
    assert tool.scope == "agent.library"
    assert agent.start_ns <= tool.start_ns <= tool.end_ns <= agent.end_ns


@every_exporter
def test_a_thousand_spans_arrive_once_each(receiver: Running, make: MakeExporter) -> None:
    emit(make(receiver), count=1000)

    assert len({span.span_id for span in receiver.taker.spans}) == len(receiver.taker.spans) == 1001


either_exporter = pytest.mark.parametrize(
    "make", [EXPORTERS["grpc"], EXPORTERS["http"]], ids=["grpc", "http"]
)


@either_exporter
def test_an_exporter_sends_again_what_was_refused_for_overload(receiver: Running, make: MakeExporter) -> None:
    receiver.taker.errors = [Overloaded(1)]

    emit(make(receiver))

    assert receiver.taker.names == ["execute_tool", "invoke_agent"]


@either_exporter
def test_a_partial_success_is_a_success_to_an_exporter_and_is_not_sent_again(
    receiver: Running, make: MakeExporter
) -> None:
    before = receiver.grpc.counters.requests + receiver.http.counters.requests
    exporter = make(receiver)

    result = exporter.export([ended("good", 0xABC), ended("bad", 0)])
    exporter.shutdown()

    assert result is SpanExportResult.SUCCESS
    assert receiver.taker.names == ["good"]
    assert receiver.grpc.counters.requests + receiver.http.counters.requests - before == 1


@pytest.mark.parametrize(
    "make",
    [over_grpc(grpc.Compression.NoCompression, "secret"), over_http(Compression.NoCompression, "secret")],
    ids=["grpc", "http"],
)
def test_an_exporter_with_its_token_is_let_in(make: MakeExporter) -> None:
    with serving(Tokens(clients=["secret"])) as receiver:
        emit(make(receiver))

        assert len(receiver.taker.spans) == 2
