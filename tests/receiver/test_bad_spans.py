"""One bad span, attribute or byte never loses another span: over gRPC and real sockets, and by slices."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from tests.receiver.builders import START, batch, deep, request, span
from tests.receiver.serving import Running

from spanfuse_processor.receiver.spans_pb2 import ExportRequest, KeyValue

BROKEN = b"ab\xff\xc3"  # cut inside a character


def rejected(answer: bytes) -> int:
    return ExportTraceServiceResponse.FromString(answer).partial_success.rejected_spans


@pytest.mark.parametrize(
    ("field", "payload"),
    [
        ("name", request(span(1, name="XXXX"), span(2)).SerializeToString()),
        ("key", request(span(1, {"XXXX": "v", "k": "v"}), span(2)).SerializeToString()),
        ("value", request(span(1, {"k": "XXXX"}), span(2)).SerializeToString()),
        ("resource", request(span(1), span(2), resource={"XXXX": "v"}).SerializeToString()),
        ("scope", request(span(1), span(2), scope="XXXX").SerializeToString()),
    ],
)
def test_text_that_is_not_utf8_costs_only_itself(receiver: Running, field: str, payload: bytes) -> None:
    answer = receiver.export(payload.replace(b"XXXX", BROKEN))

    first, second = receiver.taker.spans
    assert rejected(answer) == 0
    assert second.name == "span 2"
    assert (first.name == "ab\ufffd\ufffd") == (field == "name")
    assert (first.attributes.get("k") == "ab\ufffd\ufffd") == (field == "value")
    assert (first.scope == "ab\ufffd\ufffd") == (field == "scope")


def test_an_attribute_nested_deeper_than_a_parser_goes_costs_only_its_depths(receiver: Running) -> None:
    sent = ExportRequest.FromString(request(span(1, {"flat": "kept"}), span(2)).SerializeToString())
    entry = KeyValue(key=b"deep", value=deep(150)).SerializeToString()
    sent.resource_spans[0].scope_spans[0].spans[0].attributes.append(entry)

    answer = receiver.export(sent.SerializeToString())

    first, _ = receiver.taker.spans
    assert rejected(answer) == 0
    assert first.attributes.get("flat") == "kept"
    assert isinstance(first.attributes.get("deep"), list)


@pytest.mark.parametrize("parent", [b"", bytes(8), b"\x01" * 5, b"\x01" * 9])
def test_a_misshapen_parent_id_makes_a_root_and_loses_nothing(receiver: Running, parent: bytes) -> None:
    answer = receiver.export(request(span(1, parent_span_id=parent)).SerializeToString())

    assert rejected(answer) == 0
    assert receiver.taker.spans[0].parent_span_id == b""


def test_an_end_before_the_start_is_moved_to_the_start_and_counted(receiver: Running) -> None:
    before = receiver.grpc.counters.clamped

    receiver.export(request(span(1, end_time_unix_nano=START - 10), span(2)).SerializeToString())

    first, second = receiver.taker.spans
    assert first.end_ns == first.start_ns == START + 1
    assert second.end_ns > second.start_ns
    assert receiver.grpc.counters.clamped - before == 1


def test_a_cut_batch_gives_every_span_before_the_cut(receiver: Running) -> None:
    payload = batch(10)

    answer = receiver.export(payload[:-40])

    assert rejected(answer) == 1
    assert receiver.taker.names == [f"span {each}" for each in range(1, 10)]


def test_a_value_of_300_kb_is_taken_whole(receiver: Running) -> None:
    receiver.export(request(span(1, {"text": "é" * 150_000})).SerializeToString())

    assert receiver.taker.spans[0].attributes.get("text") == "é" * 150_000


def test_a_span_with_100_000_attributes_is_taken(receiver: Running) -> None:
    receiver.export(request(span(1, {f"key.{each}": each for each in range(100_000)})).SerializeToString())

    assert receiver.taker.spans[0].attributes.get("key.99999") == 99_999


def test_a_batch_of_5000_spans_is_taken_in_order(receiver: Running) -> None:
    receiver.export(batch(5000))

    assert receiver.taker.names == [f"span {each}" for each in range(1, 5001)]
