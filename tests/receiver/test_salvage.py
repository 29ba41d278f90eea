"""Of a payload that does not parse, every span that can be read is saved."""

from __future__ import annotations

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.receiver.builders import batch, field, request, span

from spanfuse_processor.receiver.decode import decode
from spanfuse_processor.receiver.decoded import Undecodable, whole
from spanfuse_processor.receiver.salvage import MAX_PIECES, salvage

BROKEN = b"\x0a\x7fcut"  # a field that says that it is longer than it is


def envelope(*spans: bytes, header: bytes = b"") -> bytes:
    """A request around serialised spans."""
    return field(1, header + field(2, b"".join(field(2, each) for each in spans)))


def serialised(number: int) -> bytes:
    return span(number).SerializeToString()


def names(payload: bytes) -> list[str]:
    return [found.name for found in whole(decode(payload)).spans]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_malformed_span_is_lost_alone_wherever_it_is(place: int) -> None:
    spans = [serialised(1), serialised(2)]
    spans.insert(place, BROKEN)

    found = whole(decode(envelope(*spans)))

    assert [each.name for each in found.spans] == ["span 1", "span 2"]
    assert (found.rejected, found.message) == (1, "a span is cut or malformed")


@pytest.mark.parametrize("kept", range(1, 5))
def test_a_payload_cut_inside_a_span_keeps_those_before(kept: int) -> None:
    whole_payload = batch(5)
    size = len(whole_payload) // 5

    assert names(whole_payload[: size * kept + size // 2]) == [f"span {each + 1}" for each in range(kept)]


def test_a_span_cut_between_two_fields_is_not_taken_for_a_whole_one() -> None:
    payload = envelope(serialised(1), serialised(2))
    last = serialised(2)
    end_of_name = last.index(b"span 2") + len(b"span 2")

    assert names(payload[: len(payload) - len(last) + end_of_name]) == ["span 1"]


def test_other_resources_are_not_touched() -> None:
    payload = envelope(serialised(1), BROKEN) + batch(2)

    assert names(payload) == ["span 1", "span 1", "span 2"]


def test_a_resource_that_cannot_be_read_costs_its_attributes_only() -> None:
    payload = envelope(serialised(1), BROKEN, header=field(1, BROKEN))

    (found,) = whole(decode(payload)).spans

    assert found.resource == {}


def test_the_resource_and_scope_of_saved_spans_are_kept() -> None:
    payload = request(span(1), span(2)).SerializeToString()

    (found,) = whole(decode(payload[:-3])).spans

    assert found.resource == {"service.name": "tests"}
    assert found.scope == "tests"


def test_garbage_after_sound_spans_is_counted() -> None:
    found = whole(decode(batch(2) + b"\xff\xff"))

    assert len(found.spans) == 2
    assert found.rejected == 1


def test_fields_of_every_wire_type_are_stepped_over() -> None:
    others = b"\x78\x96\x01" + b"\x79" + bytes(8) + b"\x7d" + bytes(4)  # varint, fixed64, fixed32

    assert names(others + envelope(serialised(1), BROKEN)) == ["span 1"]


@pytest.mark.parametrize(
    "payload", [b"\xff", b"\x0a", BROKEN, envelope(BROKEN), b"\x0b\x0a\x00", b"\x0a" * 50]
)
def test_where_nothing_can_be_saved_the_payload_is_undecodable(payload: bytes) -> None:
    with pytest.raises(Undecodable):
        salvage(payload)


def test_a_hostile_payload_is_walked_only_so_far() -> None:
    hostile = batch(1) + b"\x0a\x00" * (MAX_PIECES * 2) + b"\xff"

    request_, lost = salvage(hostile)

    assert len(request_.resource_spans) <= MAX_PIECES
    assert lost >= 1


def test_salvage_gives_what_otlps_own_parser_would() -> None:
    sound = batch(3)

    saved, _ = salvage(sound + b"\xff")

    assert (
        ExportTraceServiceRequest.FromString(saved.SerializeToString())
        .resource_spans[0]
        .scope_spans[0]
        .spans[2]
        .name
        == "span 3"
    )
