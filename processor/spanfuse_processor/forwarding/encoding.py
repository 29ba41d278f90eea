"""Spans about the breaker as an OTLP export request, in the stock messages of `opentelemetry-proto`.

Rule: each request says who sends it, so that it is known again should it come back. It does not know what is
told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanfuse_processor.engine.breaker_span import BreakerSpan
from spanfuse_processor.engine.names import BREAKER_SPAN, SCOPE, SERVICE_INSTANCE, SERVICE_NAME

SERVICE: Final = "spanfuse"


def request_of(spans: Iterable[BreakerSpan], instance: str) -> bytes:
    """The request. `instance` is that of whoever sends it."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    resource = {SERVICE_NAME: SERVICE, SERVICE_INSTANCE: instance}
    group.resource.attributes.extend(_attributes(resource))
    inner = group.scope_spans.add()
    inner.scope.name = SCOPE
    inner.spans.extend(_span(each) for each in spans)
    return request.SerializeToString()


def _span(told: BreakerSpan) -> Span:
    attributes = list(_attributes(told.attributes))
    status = Status(code=Status.STATUS_CODE_ERROR, message=told.message) if told.failed else None
    event = Span.Event(time_unix_nano=told.end_ns, name=f"{BREAKER_SPAN}.{told.kind}", attributes=attributes)
    return Span(
        trace_id=told.trace_id,
        span_id=told.span_id,
        parent_span_id=told.parent_span_id,
        name=BREAKER_SPAN,
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=told.start_ns,
        end_time_unix_nano=told.end_ns,
        attributes=attributes,
        events=[event],
        links=[Span.Link(trace_id=told.trace_id, span_id=each) for each in told.links],
        status=status,
    )


def _attributes(values: Mapping[str, str | int | float]) -> Iterator[KeyValue]:
    return (KeyValue(key=key, value=_value(each)) for key, each in values.items())


def _value(value: str | int | float) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    return AnyValue(int_value=value) if isinstance(value, int) else AnyValue(double_value=value)
