"""OTLP/protobuf to plain spans, through a slim schema.

Rule 1: a payload is parsed once, by C code; spans are made 64 at a time, so that whoever takes them can let
others run in between. Rule 2: a resource is read once and shared between its spans, as one dict. Rule 3: when
the whole does not parse, `salvage.py` saves what does.
This file does not know the transport.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from google.protobuf.message import DecodeError

from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.receiver.attributes import attributes
from spanfuse_processor.receiver.decoded import Decoded, in_slices, names_a_trace, parent_or_none
from spanfuse_processor.receiver.salvage import salvage
from spanfuse_processor.receiver.spans_pb2 import ExportRequest, Link, Span
from spanfuse_processor.receiver.values import read_all, text


def decode(payload: bytes) -> Iterator[Decoded]:
    """The spans of an export request in slices, made as they are asked for; raises Undecodable at once."""
    try:
        return in_slices(_spans(ExportRequest.FromString(payload)))
    except DecodeError:
        request, lost = salvage(payload)
        return in_slices(_salvaged(request, lost))


def count_spans(payload: bytes) -> int:
    """How many spans an export request has; 0 where it cannot be parsed as a whole."""
    try:
        request = ExportRequest.FromString(payload)
    except DecodeError:
        return 0
    return sum(len(scope.spans) for each in request.resource_spans for scope in each.scope_spans)


def _salvaged(request: ExportRequest, lost: int) -> Iterator[RawSpan | str]:
    yield from _spans(request)
    for _ in range(lost):
        yield "a span is cut or malformed"


def _spans(request: ExportRequest) -> Iterator[RawSpan]:
    for resource_spans in request.resource_spans:
        resource = read_all(resource_spans.resource.attributes)
        for scope_spans in resource_spans.scope_spans:
            scope = text(scope_spans.scope.name)
            for span in scope_spans.spans:
                yield _span(span, resource, scope)


def _span(span: Span, resource: dict[str, object], scope: str) -> RawSpan:
    code, message = 0, ""
    if span.HasField("status"):  # asked first: a message of its own is made for every look at a field
        status = span.status
        code, message = status.code, text(status.message)
    parent, links = span.parent_span_id, span.links
    return RawSpan(
        span.trace_id,
        span.span_id,
        parent and parent_or_none(parent),
        text(span.name),
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        attributes(span.attributes[:]),  # a slice is copied faster than it is iterated
        resource,
        scope,
        code,
        message,
        _links(links) if links else (),
        span.dropped_attributes_count,
    )


def _links(links: Iterable[Link]) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((link.trace_id, link.span_id) for link in links if names_a_trace(link.trace_id))
