"""Spans about the breaker can be read by everybody who reads OTLP, and are known as ours."""

from __future__ import annotations

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.receiver.test_onward import MARK, Post

from spanfuse_processor.engine.breaker_span import BreakerSpan
from spanfuse_processor.forwarding.encoding import request_of
from spanfuse_processor.parcel import Parcel
from spanfuse_processor.receiver.decode import decode

TRIP = BreakerSpan(
    "trip", bytes(range(16)), b"A" * 8, b"B" * 8, 1_000, 2_000,
    {"spanfuse.breaker.kind": "trip", "spanfuse.breaker.limit": 3.0, "spanfuse.breaker.revision": 7},
    (b"B" * 8, b"C" * 8), True, "the same again",
)  # fmt: skip


def only(told: BreakerSpan = TRIP) -> Span:
    request = ExportTraceServiceRequest.FromString(request_of([told], MARK))
    return request.resource_spans[0].scope_spans[0].spans[0]


def test_a_span_is_what_is_told() -> None:
    made = only()

    assert (made.name, made.kind) == ("spanfuse.breaker", Span.SPAN_KIND_INTERNAL)
    assert (made.trace_id, made.span_id, made.parent_span_id) == (TRIP.trace_id, b"A" * 8, b"B" * 8)
    assert (made.start_time_unix_nano, made.end_time_unix_nano) == (1_000, 2_000)
    assert (made.status.code, made.status.message) == (2, "the same again")
    assert [(each.trace_id, each.span_id) for each in made.links] == [
        (TRIP.trace_id, b"B" * 8),
        (TRIP.trace_id, b"C" * 8),
    ]


def test_values_keep_their_kind_and_the_event_has_the_same() -> None:
    made = only()
    values = {each.key.rpartition(".")[2]: each.value for each in made.attributes}

    kind, limit, revision = values["kind"], values["limit"], values["revision"]
    assert (kind.string_value, limit.double_value, revision.int_value) == ("trip", 3.0, 7)
    (event,) = made.events
    assert (event.name, event.time_unix_nano) == ("spanfuse.breaker.trip", 2_000)
    assert list(event.attributes) == list(made.attributes)


def test_what_is_no_error_has_no_status() -> None:
    assert not only(TRIP._replace(failed=False)).HasField("status")


def test_several_spans_are_one_request() -> None:
    request = request_of([TRIP, TRIP._replace(span_id=b"D" * 8)], MARK)

    (part,) = decode(request)
    assert [each.span_id for each in part.spans] == [b"A" * 8, b"D" * 8]
    assert {(each.scope, each.resource["service.name"]) for each in part.spans} == {("spanfuse", "spanfuse")}


def test_it_is_known_again_when_it_comes_back() -> None:
    post, payload = Post(), request_of([TRIP], MARK)

    assert post.onward.hand_on(payload, Parcel(payload)) == 0.0
    assert post.parcels == []
