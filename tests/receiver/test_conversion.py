"""JSON to protobuf, with nothing lost: whatever OTLP's own messages hold comes back the same."""

from __future__ import annotations

import base64
import gzip
import json
import math
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from tests.receiver.builders import TRACE, json_request, json_span, request, span, span_id

from spanfuse_processor.parcel import Parcel
from spanfuse_processor.receiver.conversion import request_of, unpacked

IDS = {"traceId", "spanId", "parentSpanId"}
LIMIT = 1 << 20


def otlp_json(message: Message) -> bytes:
    """A message as OTLP/JSON: protobuf's own JSON, with ids in hexadecimal and enums as numbers."""
    return json.dumps(with_hex(MessageToDict(message, use_integers_for_enums=True))).encode()


def with_hex(value: Any) -> Any:
    if isinstance(value, list):
        return [with_hex(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64decode(each).hex() if key in IDS else with_hex(each) for key, each in value.items()
    }


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
int64 = st.integers(-(2**63), 2**63 - 1)
uint32 = st.integers(0, 2**32 - 1)
uint64 = st.integers(0, 2**64 - 1)
scalars = st.one_of(
    texts.map(lambda each: AnyValue(string_value=each)),
    st.booleans().map(lambda each: AnyValue(bool_value=each)),
    int64.map(lambda each: AnyValue(int_value=each)),
    st.floats(allow_nan=False).map(lambda each: AnyValue(double_value=each)),
    st.binary(max_size=8).map(lambda each: AnyValue(bytes_value=each)),
    st.just(AnyValue()),
)


@st.composite
def filled(draw: st.DrawFn, descriptor: Any, make: type[Message], depth: int = 0) -> Message:
    """A message of OTLP with any of its fields, by its descriptor."""
    made = make()
    for field in descriptor.fields:
        if not draw(st.booleans()):
            continue
        if field.message_type is None:
            value = draw(st.lists(texts, max_size=2) if field.is_repeated else of(field))
            getattr(made, field.name).extend(value) if field.is_repeated else setattr(made, field.name, value)
        elif field.message_type.name == "AnyValue":
            getattr(made, field.name).CopyFrom(draw(scalars))
        else:
            kind = field.message_type._concrete_class
            many = draw(st.integers(1, 2)) if field.is_repeated else 1
            for _ in range(many):
                inner = draw(filled(field.message_type, kind, depth + 1))
                place = getattr(made, field.name)
                place.append(inner) if field.is_repeated else place.CopyFrom(inner)
    return made


def of(field: Any) -> st.SearchStrategy[Any]:
    """The values of a field that is no message."""
    if field.name in ("trace_id", "span_id", "parent_span_id"):
        return st.binary(max_size=16)
    if field.enum_type is not None:
        return st.sampled_from([each.number for each in field.enum_type.values])
    kinds = {1: st.floats(allow_nan=False), 3: int64, 4: uint64, 5: st.integers(-(2**31), 2**31 - 1)}
    kinds |= {6: uint64, 7: uint32, 8: st.booleans(), 9: texts, 12: st.binary(max_size=8), 13: uint32}
    return kinds[field.type]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_otlp_can_say_in_json_is_said_in_protobuf(data: st.DataObject) -> None:
    message = data.draw(filled(ExportTraceServiceRequest.DESCRIPTOR, ExportTraceServiceRequest))

    assert request_of(otlp_json(message)) == message


def test_values_inside_each_other_are_kept() -> None:
    message = request(span(1, {"deep": {"list": [1, "two", [3.0, {"four": b"5"}], None]}}))

    assert request_of(otlp_json(message)) == message


def test_numbers_may_be_texts_and_texts_numbers_where_proto3_says_so() -> None:
    attributes = [
        {"key": "n", "value": {"intValue": 7}},
        {"key": "nan", "value": {"doubleValue": "NaN"}},
        {"key": "inf", "value": {"doubleValue": "-Infinity"}},
        {"key": "url-safe", "value": {"bytesValue": "_-8"}},
    ]
    made = request_of(json_request(json_span(1, kind="SPAN_KIND_CLIENT", attributes=attributes)))

    only = made.resource_spans[0].scope_spans[0].spans[0]
    number, nan, infinity, url_safe = (each.value for each in only.attributes)
    assert (number.int_value, url_safe.bytes_value) == (7, b"\xff\xef")
    assert math.isnan(nan.double_value)
    assert infinity.double_value == -math.inf
    assert (only.kind, only.trace_id, only.span_id) == (3, TRACE, span_id(1))


@pytest.mark.parametrize(
    "field",
    [
        {"traceId": "no hex"},
        {"startTimeUnixNano": "soon"},
        {"startTimeUnixNano": -1},
        {"kind": "SPAN_KIND_NONE"},
        {"attributes": "none"},
        {"attributes": [1, None]},
        {"status": []},
        {"links": {"traceId": "00"}},
        {"name": 5},
        {"notOfOtlp": {"a": 1}},
        {"flags": True, "traceState": None},
    ],
)
def test_what_is_misshapen_costs_only_itself(field: dict[str, Any]) -> None:
    made = request_of(json_request({**json_span(1), **field}, json_span(2)))

    first, second = made.resource_spans[0].scope_spans[0].spans
    assert (first.span_id, second.name) == (span_id(1), "span 2")


def test_a_bare_nan_and_half_a_pair_do_not_lose_the_rest() -> None:
    text = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"\\ud83d","x":NaN},{"name":"b"}]}]}]}'

    names = [each.name for each in request_of(text).resource_spans[0].scope_spans[0].spans]

    assert names == ["\ufffd", "b"]


def test_what_is_nested_without_end_is_cut_and_can_still_be_read() -> None:
    deep: dict[str, Any] = {"stringValue": "bottom"}
    for _ in range(200):
        deep = {"arrayValue": {"values": [deep]}}
    text = json_request(json_span(1, attributes=[{"key": "deep", "value": deep}]))

    payload = unpacked(Parcel(text, "application/json"), LIMIT)

    assert ExportTraceServiceRequest.FromString(payload).resource_spans[0].scope_spans[0].spans[0].name


@pytest.mark.parametrize("text", [b"", b"[]", b"7", b"no JSON"])
def test_what_is_no_request_cannot_be_converted(text: bytes) -> None:
    with pytest.raises(ValueError, match="JSON"):
        unpacked(Parcel(text, "application/json"), LIMIT)


def test_a_packed_parcel_is_unpacked_and_a_plain_one_left_alone() -> None:
    body = request(span()).SerializeToString()

    assert unpacked(Parcel(body), LIMIT) is body
    assert unpacked(Parcel(gzip.compress(body), "application/x-protobuf", " GZIP "), LIMIT) == body
    packed = gzip.compress(json_request(json_span()))
    same = unpacked(Parcel(packed, "application/json; charset=utf-8", "gzip"), LIMIT)
    assert ExportTraceServiceRequest.FromString(same) == request_of(json_request(json_span()))


def test_a_bomb_is_not_unpacked() -> None:
    with pytest.raises(ValueError, match="more than 10 bytes"):
        unpacked(Parcel(gzip.compress(bytes(11)), "application/x-protobuf", "gzip"), 10)
