"""Protobuf requests become slices of plain spans."""

from __future__ import annotations

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from tests.receiver.builders import START, TRACE, batch, request, span, span_id

from spanfuse_processor.receiver.decode import decode
from spanfuse_processor.receiver.decoded import SLICE, Undecodable, whole


def test_every_field_of_a_span_is_read() -> None:
    sent = span(1, {"k": "v"}, parent_span_id=span_id(9), dropped_attributes_count=4)
    sent.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message="it broke"))
    sent.links.add(trace_id=b"\x07" * 16, span_id=b"\x08" * 8)
    sent.links.add(trace_id=b"short", span_id=b"\x08" * 8)
    sent.events.add(name="ignored")

    (found,) = whole(decode(request(sent, resource={"r": [1]}).SerializeToString())).spans

    assert (found.trace_id, found.span_id, found.parent_span_id) == (TRACE, span_id(1), span_id(9))
    assert (found.name, found.scope) == ("span 1", "tests")
    assert (found.start_ns, found.end_ns) == (START + 1, START + 1_000_001)
    assert (found.status, found.status_message) == (2, "it broke")
    assert found.links == ((b"\x07" * 16, b"\x08" * 8),)
    assert found.dropped_attributes == 4
    assert found.attributes == {"k": "v"}
    assert found.resource == {"r": [1]}


def test_spans_of_one_resource_share_its_dict_and_others_do_not() -> None:
    payload = request(span(1), span(2)).SerializeToString() + request(span(3)).SerializeToString()

    first, second, third = whole(decode(payload)).spans

    assert type(first.resource) is dict
    assert first.resource is second.resource
    assert third.resource is not first.resource


def test_slices_are_of_bounded_size_and_in_order() -> None:
    slices = list(decode(batch(2 * SLICE + 5)))

    assert [len(each) for each in slices] == [SLICE, SLICE, 5]
    assert [found.name for each in slices for found in each.spans][-1] == f"span {2 * SLICE + 5}"


def test_spans_are_made_only_when_their_slice_is_asked_for() -> None:
    slices = decode(batch(2 * SLICE))

    assert len(next(slices).spans) == SLICE


def test_an_empty_payload_has_no_slices() -> None:
    assert list(decode(b"")) == []


def test_a_payload_that_is_no_request_is_undecodable_at_once() -> None:
    with pytest.raises(Undecodable, match="no span"):
        decode(b"\xff")


def test_fields_of_the_future_are_ignored() -> None:
    future = bytes([15 << 3 | 2, 3]) + b"new"

    assert len(whole(decode(batch(2) + future)).spans) == 2
