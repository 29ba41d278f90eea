"""Spans as an OTLP export request.

Rule 1: whatever a span holds, the others of its batch are sent: a value that has no place on the wire is sent
as text, a span that cannot be written is left out and counted. Rule 2: this module imports protobuf, so it is
imported by the thread that sends, when it first sends. It knows no connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans

from spanfuse_processor.engine.events import RawSpan

METHOD: Final = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
DEEPEST: Final = 16
"""How far lists and mappings nest in a value; what is deeper is sent as text."""
_INT64: Final = range(-(2**63), 2**63)
_SCALARS: Final = {bool: "bool_value", int: "int_value", float: "double_value", bytes: "bytes_value"}


def encode(spans: Iterable[RawSpan], resource: Mapping[str, object]) -> tuple[bytes, int]:
    """The request for `spans`, and how many of them could not be written.

    `resource` says what the spans' own resources do not. Spans are grouped by the identity of their
    resource: an emitter hands the same mapping over with each.
    """
    request = ExportTraceServiceRequest()
    groups: dict[tuple[int, str], ScopeSpans] = {}
    unwritten = 0
    for span in spans:
        key = (id(span.resource) if span.resource else 0, span.scope)
        group = groups.get(key)
        if group is None:
            group = groups[key] = _new_group(request, {**resource, **span.resource}, span.scope)
        try:
            _write(group.spans.add(), span)
        except (ValueError, TypeError):  # ids that are no bytes, times that are no times
            del group.spans[-1]
            unwritten += 1
    return request.SerializeToString(), unwritten


def read_rejected(answer: bytes) -> int:
    """How many spans the receiver rejected: none, as a rule, and then the answer is empty."""
    return ExportTraceServiceResponse.FromString(answer).partial_success.rejected_spans if answer else 0


def _new_group(request: Any, resource: Mapping[str, object], scope: str) -> ScopeSpans:
    about = request.resource_spans.add()
    _write_attributes(about.resource.attributes, resource)
    group: ScopeSpans = about.scope_spans.add()
    group.scope.name = _text(scope)
    return group


def _write(message: Any, span: RawSpan) -> None:
    message.trace_id = span.trace_id
    message.span_id = span.span_id
    message.parent_span_id = span.parent_span_id
    message.name = _text(span.name)
    message.start_time_unix_nano = span.start_ns
    message.end_time_unix_nano = span.end_ns
    message.dropped_attributes_count = span.dropped_attributes
    _write_attributes(message.attributes, span.attributes)
    if span.status or span.status_message:
        message.status.code = span.status
        message.status.message = _text(span.status_message)
    for trace_id, span_id in span.links:
        message.links.add(trace_id=trace_id, span_id=span_id)


def _write_attributes(entries: Any, attributes: Mapping[str, object]) -> None:
    for name, value in attributes.items():
        entry = entries.add(key=_text(name)).value
        if type(value) is str:  # most are
            entry.string_value = value if value.isascii() else _text(value)
        else:
            _write_value(entry, value, 0)


def _write_value(message: Any, value: Any, depth: int) -> None:
    scalar = _SCALARS.get(type(value))  # exactly: a bool must not be taken for an int
    if scalar is not None and (scalar != "int_value" or value in _INT64):
        setattr(message, scalar, value)
    elif depth < DEEPEST and isinstance(value, list | tuple):
        message.array_value.SetInParent()  # an empty list is a list too
        for each in value:
            _write_value(message.array_value.values.add(), each, depth + 1)
    elif depth < DEEPEST and isinstance(value, Mapping):
        message.kvlist_value.SetInParent()
        for name, each in value.items():
            _write_value(message.kvlist_value.values.add(key=_text(str(name))).value, each, depth + 1)
    elif value is not None:  # None is an AnyValue without a value
        message.string_value = _text(str(value))


def _text(value: str) -> str:
    """`value` as protobuf takes it: a lone surrogate becomes a question mark."""
    return value if value.isascii() else value.encode(errors="replace").decode()
