"""Export requests as senders make them: with OTLP's own messages, as protobuf and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

START = 1_796_013_134_000_000_000
TRACE = bytes(range(1, 17))


def span_id(number: int) -> bytes:
    """The id of the span with this number, counted from 1."""
    return number.to_bytes(8)


SCALARS = {
    bool: "bool_value",
    int: "int_value",
    float: "double_value",
    str: "string_value",
    bytes: "bytes_value",
}


def value(plain: object) -> AnyValue:
    """An AnyValue of plain data; None makes an empty one."""
    made = AnyValue()
    if isinstance(plain, list):
        made.array_value.SetInParent()
        made.array_value.values.extend(value(each) for each in plain)
    elif isinstance(plain, dict):
        made.kvlist_value.SetInParent()
        made.kvlist_value.values.extend(key_values(plain))
    elif plain is not None:
        setattr(made, SCALARS[type(plain)], plain)
    return made


def key_values(attributes: dict[str, object]) -> Iterator[KeyValue]:
    """Attributes as OTLP has them."""
    return (KeyValue(key=key, value=value(each)) for key, each in attributes.items())


def span(number: int = 1, attributes: dict[str, object] | None = None, **fields: object) -> Span:
    """A valid span; `fields` replace what it has."""
    made = Span(
        trace_id=TRACE,
        span_id=span_id(number),
        name=f"span {number}",
        kind=Span.SPAN_KIND_CLIENT,
        start_time_unix_nano=START + number,
        end_time_unix_nano=START + number + 1_000_000,
        attributes=key_values(attributes or {}),
    )
    for name, field in fields.items():
        setattr(made, name, field)
    return made


def request(
    *spans: Span, resource: dict[str, object] | None = None, scope: str = "tests"
) -> ExportTraceServiceRequest:
    """One request with one resource and one scope."""
    made = ExportTraceServiceRequest()
    group = made.resource_spans.add()
    group.resource.attributes.extend(key_values(resource or {"service.name": "tests"}))
    inner = group.scope_spans.add()
    inner.scope.name = scope
    inner.spans.extend(spans)
    return made


def batch(size: int) -> bytes:
    """A serialised request with spans 1 to `size`, each with a few attributes."""
    return request(*(span(each + 1, {"a": "text", "n": each}) for each in range(size))).SerializeToString()


def deep(levels: int) -> bytes:
    """A serialised AnyValue: a text inside that many lists. OTLP's own messages cannot hold 150 of them."""
    made = AnyValue(string_value="bottom").SerializeToString()
    for _ in range(levels):
        made = field(5, field(1, made))  # array_value { values }
    return made


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field of the wire format."""
    size, length = len(content), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *length, size]) + content


def json_span(number: int = 1, **fields: object) -> dict[str, object]:
    """A valid span of OTLP/JSON; `fields` replace what it has."""
    return {
        "traceId": TRACE.hex(),
        "spanId": span_id(number).hex(),
        "name": f"span {number}",
        "startTimeUnixNano": str(START + number),
        "endTimeUnixNano": str(START + number + 1_000_000),
        **fields,
    }


def json_request(*spans: object, **resource: object) -> bytes:
    """One OTLP/JSON request."""
    group = {"resource": resource, "scopeSpans": [{"scope": {"name": "tests"}, "spans": list(spans)}]}
    return json.dumps({"resourceSpans": [group]}).encode()
