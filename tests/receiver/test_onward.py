"""Requests are handed on as they came; what we sent ourselves and comes back is not."""

from __future__ import annotations

import gzip
import json

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.receiver.builders import json_request, json_span, request, span

from spanfuse_processor.parcel import Parcel
from spanfuse_processor.receiver.onward import Onward

MARK = "0123456789abcdef" * 2
OURS = {"service.name": "spanfuse", "service.instance.id": MARK}


class Post:
    """Takes parcels, or not."""

    def __init__(self, wait: float = 0.0) -> None:
        self.parcels: list[Parcel] = []
        self.wait = wait
        self.onward = Onward(self.offer, MARK)

    def offer(self, parcel: Parcel) -> float:
        if not self.wait:
            self.parcels.append(parcel)
        return self.wait


def told(**fields: object) -> ExportTraceServiceRequest:
    """A span about the breaker that this process made."""
    return request(span(name="spanfuse.breaker"), resource=OURS, scope="spanfuse", **fields)


@pytest.fixture
def post() -> Post:
    return Post()


def test_a_parcel_is_handed_on_as_it_came(post: Post) -> None:
    parcel = Parcel(b"packed", "application/x-protobuf", "gzip")

    assert post.onward.hand_on(b"unpacked", parcel) == 0.0
    assert post.parcels == [parcel]


def test_whoever_has_no_room_says_when_to_come_again() -> None:
    assert Post(wait=2.0).onward.hand_on(b"x", Parcel(b"x")) == 2.0


def test_an_empty_request_is_not_handed_on(post: Post) -> None:
    assert post.onward.hand_on(b"", Parcel(b"")) == 0.0
    assert post.parcels == []


def test_what_we_told_ourselves_is_not_handed_on_again(post: Post) -> None:
    payload = told().SerializeToString()

    assert post.onward.hand_on(payload, Parcel(payload)) == 0.0
    assert post.parcels == []


def test_what_came_back_with_it_is_handed_on(post: Post) -> None:
    mixed = told()
    mixed.MergeFrom(request(span(7), scope="theirs"))
    payload = mixed.SerializeToString()

    post.onward.hand_on(payload, Parcel(gzip.compress(payload), "application/x-protobuf", "gzip"))

    assert post.parcels == [Parcel(request(span(7), scope="theirs").SerializeToString())]


def test_it_is_known_in_json_too(post: Post) -> None:
    resource = [{"key": key, "value": {"stringValue": text}} for key, text in OURS.items()]
    document = json.loads(json_request(json_span(name="spanfuse.breaker"), attributes=resource))
    document["resourceSpans"][0]["scopeSpans"][0]["scope"]["name"] = "spanfuse"
    payload = json.dumps(document).encode()

    assert post.onward.hand_on(payload, Parcel(payload, "application/json")) == 0.0
    assert post.parcels == []


@pytest.mark.parametrize(
    "message",
    [
        request(span(name="spanfuse.breaker"), scope="spanfuse"),
        request(
            span(name="spanfuse.breaker"), resource=OURS | {"service.instance.id": "b"}, scope="spanfuse"
        ),
        request(span(name="chat"), resource=OURS, scope="spanfuse"),
        request(span(name="spanfuse.breaker"), resource=OURS, scope="other"),
        request(span(1, {"quoted": MARK}, name="spanfuse.breaker"), scope="spanfuse"),
    ],
    ids=["an application's", "another processor's", "another name", "another scope", "a quotation"],
)
def test_everything_else_goes_on_as_it_came(post: Post, message: ExportTraceServiceRequest) -> None:
    payload = message.SerializeToString()
    parcel = Parcel(payload)

    post.onward.hand_on(payload, parcel)

    assert post.parcels == [parcel]
    assert post.parcels[0].body is payload


@pytest.mark.parametrize("content_type", ["", "application/json"])
def test_what_bears_our_mark_and_cannot_be_read_goes_on_as_it_came(post: Post, content_type: str) -> None:
    payload = b"\xff" + MARK.encode()

    post.onward.hand_on(payload, Parcel(payload, content_type))

    assert post.parcels == [Parcel(payload, content_type)]
