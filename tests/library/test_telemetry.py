"""The application's own spans: its provider is used whenever it comes, and ids are there without one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NonRecordingSpan, NoOpTracerProvider, SpanContext, SpanKind, TraceFlags

from spanfuse.telemetry import SCOPE, Started, Tracing

ORIGIN = SpanContext(7, 9, is_remote=True, trace_flags=TraceFlags(1))


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """What `get_tracer_provider` answers: the last of the list. OTel itself lets it be set only once."""
    chosen: list[object] = [trace.ProxyTracerProvider()]
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: chosen[-1])
    yield chosen


def start(tracing: Tracing, origin: SpanContext | None = None) -> Started:
    return tracing.start("chat m", SpanKind.CLIENT, {"gen_ai.operation.name": "chat"}, 1_000, origin)


def test_without_a_provider_a_span_has_ids_and_records_nothing(provider: list[object]) -> None:
    started = start(Tracing("s", "i"))

    assert len(started.trace_id) == 16
    assert any(started.trace_id)
    assert any(started.span_id)
    assert started.parent_span_id == b""
    assert not started.span.is_recording()


def test_spans_go_under_the_current_one(provider: list[object]) -> None:
    tracing = Tracing("s", "i")
    outer = start(tracing)

    with trace.use_span(outer.span):
        inner = start(tracing, ORIGIN)

    assert (inner.trace_id, inner.parent_span_id) == (outer.trace_id, outer.span_id)


def test_spans_go_under_the_origin_where_nothing_is_current(provider: list[object]) -> None:
    started = start(Tracing("s", "i"), ORIGIN)

    assert int.from_bytes(started.trace_id, "big") == 7
    assert int.from_bytes(started.parent_span_id, "big") == 9


def test_a_provider_that_comes_late_is_used_from_then_on(provider: list[object]) -> None:
    seen: list[object] = []
    tracing = Tracing("ours", "i1", seen.append)
    start(tracing)
    exporter = InMemorySpanExporter()
    application = TracerProvider(resource=Resource({"service.name": "shop", "service.instance.id": "theirs"}))
    application.add_span_processor(SimpleSpanProcessor(exporter))
    provider.append(application)

    started = start(tracing)
    started.span.end()

    assert [span.name for span in exporter.get_finished_spans()] == ["chat m"]
    scopes = [span.instrumentation_scope for span in exporter.get_finished_spans()]
    assert [one.name for one in scopes if one] == [SCOPE]
    assert seen == [application]
    assert tracing.resource["service.name"] == "shop"
    assert tracing.resource["service.instance.id"] == "i1"


def test_an_unsampled_span_has_ids_all_the_same(provider: list[object]) -> None:
    provider.append(TracerProvider(sampler=ALWAYS_OFF))

    started = start(Tracing("s", "i"))

    assert any(started.span_id)
    assert not started.span.is_recording()


def test_a_tracer_that_makes_no_ids_gets_ours(provider: list[object]) -> None:
    """The API's no-op tracer hands the parent back as the new span."""
    provider.append(NoOpTracerProvider())

    alone = start(Tracing("s", "i"))
    with trace.use_span(NonRecordingSpan(ORIGIN)):
        inside = start(Tracing("s", "i"))

    assert any(alone.span_id)
    assert int.from_bytes(inside.trace_id, "big") == 7
    assert int.from_bytes(inside.span_id, "big") != 9
    assert int.from_bytes(inside.parent_span_id, "big") == 9


def test_without_a_provider_the_resource_is_what_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.namespace=shop,team=a")

    resource = Tracing("agents", "i1").resource

    assert resource == {
        "service.namespace": "shop",
        "team": "a",
        "service.name": "agents",
        "service.instance.id": "i1",
    }


def test_a_sampler_that_raises_costs_the_application_s_span_and_not_the_record(
    provider: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")

    class Broken(TracerProvider):
        def get_tracer(self, *_: object, **__: object) -> trace.Tracer:
            raise RuntimeError("theirs")

    provider.append(Broken())

    assert any(start(Tracing("s", "i")).span_id)
