"""What was received is what is forwarded, whatever way it came and whatever way it goes."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import zlib
from collections.abc import Iterator
from functools import partial

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.forwarding.backends import Backend, Mood, over_grpc, over_http
from tests.receiver.builders import batch, json_request, json_span
from tests.receiver.serving import JSON, PROTOBUF, Running, serving
from tests.waiting import until

from spanfuse_processor.clock import SystemClock
from spanfuse_processor.config_forward import Compression, Destination, Forward, Protocol
from spanfuse_processor.forwarding import Forwarding, Terms
from spanfuse_processor.receiver.conversion import request_of, unpacked
from spanfuse_processor.receiver.onward import Onward

LIMIT = 8 << 20


class Chain:
    """A receiver, what it sends on to, and the way between them."""

    def __init__(self, receiver: Running, forwarding: Forwarding, grpc: Backend, http: Backend) -> None:
        self.receiver, self.forwarding, self.grpc, self.http = receiver, forwarding, grpc, http

    def settled(self) -> None:
        """Returns when nothing waits any more; forgets nothing."""
        until(lambda: all(each.waiting == 0 for each in self.forwarding.standings().values()))

    def forget(self) -> None:
        """Nothing was sent so far."""
        for each in (self.grpc, self.http):
            each.got.clear()
            each.taken.clear()


@contextlib.contextmanager
def chained(most: int = 1 << 24, compression: Compression = Compression.NONE) -> Iterator[Chain]:
    """A receiver that sends on over gRPC and over HTTP."""
    with over_grpc() as one, over_http() as other:
        destinations = {
            "grpc": Destination(one.endpoint, Protocol.GRPC, compression=compression),
            "http": Destination(other.endpoint, Protocol.HTTP, compression=compression),
        }
        forward = Forward(destinations=destinations, max_waiting_bytes=most)
        unpack = partial(unpacked, limit=LIMIT)
        forwarding = Forwarding(forward, SystemClock(), unpack, lambda *_: None, Terms(first=0.01))
        forwarding.start()
        onward = Onward(forwarding.offer, forwarding.instance)
        try:
            with serving(onward=onward) as receiver:
                yield Chain(receiver, forwarding, one, other)
        finally:
            asyncio.run(forwarding.close())


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    with chained() as made:
        yield made


payloads = st.one_of(st.integers(1, 70).map(batch), st.binary(min_size=1, max_size=200))
many = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@many
@given(payload=payloads, packed=st.booleans())
def test_what_comes_over_grpc_leaves_as_the_same_bytes(chain: Chain, payload: bytes, packed: bool) -> None:
    chain.forget()
    compression = grpc.Compression.Gzip if packed else grpc.Compression.NoCompression

    with contextlib.suppress(grpc.RpcError):  # no request at all goes on, too
        chain.receiver.export(payload, compression=compression)

    chain.settled()
    assert chain.grpc.taken == [payload]
    assert chain.http.taken == [payload]
    assert chain.http.got[0].headers["content-type"] == "application/x-protobuf"


@many
@given(payload=payloads, encoding=st.sampled_from(["", "gzip", "deflate"]))
def test_what_comes_over_http_leaves_over_http_as_it_came(
    chain: Chain, payload: bytes, encoding: str
) -> None:
    chain.forget()
    pack = {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress}[encoding]
    body = pack(payload)

    chain.receiver.post(body, PROTOBUF | ({"content-encoding": encoding} if encoding else {}))

    chain.settled()
    got = chain.http.got[0]
    assert got.body == body
    assert got.headers.get("content-encoding", "") == encoding
    assert got.headers["content-type"] == "application/x-protobuf"
    assert chain.grpc.taken == [payload]


@many
@given(spans=st.integers(0, 20), packed=st.booleans())
def test_json_stays_json_over_http_and_is_protobuf_over_grpc(chain: Chain, spans: int, packed: bool) -> None:
    chain.forget()
    text = json_request(*(json_span(each + 1) for each in range(spans)))
    body = gzip.compress(text) if packed else text

    chain.receiver.post(body, JSON | ({"content-encoding": "gzip"} if packed else {}))

    chain.settled()
    got = chain.http.got[0]
    assert (got.body, got.headers["content-type"]) == (body, "application/json")
    assert ExportTraceServiceRequest.FromString(chain.grpc.taken[0]) == request_of(text)


def test_packing_for_a_destination_changes_nothing_of_what_arrives() -> None:
    payload = batch(50)
    with chained(compression=Compression.GZIP) as chain:
        chain.receiver.export(payload)
        chain.settled()

        assert chain.grpc.taken == [payload]
        assert gzip.decompress(chain.http.taken[0]) == payload


def test_a_body_that_cannot_be_unpacked_is_refused_and_not_sent_on(chain: Chain) -> None:
    chain.forget()

    answer = chain.receiver.post(b"no gzip", PROTOBUF | {"content-encoding": "gzip"})

    chain.settled()
    assert answer.status == 400
    assert chain.http.got == chain.grpc.got == []


def test_judging_that_raises_neither_stops_nor_doubles_anything(chain: Chain) -> None:
    chain.forget()
    chain.receiver.taker.error = RuntimeError("a bug")
    sent = [batch(each) for each in (1, 2, 3)]
    try:
        for payload in sent:
            assert chain.receiver.export(payload) == b""
            assert chain.receiver.post(payload, PROTOBUF).status == 200
    finally:
        chain.receiver.taker.error = None

    chain.settled()
    assert sorted(chain.grpc.taken) == sorted(chain.http.taken) == sorted(sent * 2)


def test_a_full_line_is_told_to_senders_on_both_ways_with_a_wait() -> None:
    with chained(most=10) as chain:
        busy = chain.grpc.always = Mood(status=14)
        chain.receiver.export(batch(1))
        before = len(chain.receiver.taker.spans)

        error = chain.receiver.refused(batch(1))
        answer = chain.receiver.post(batch(1), PROTOBUF)

        assert error.code() is grpc.StatusCode.UNAVAILABLE
        assert (answer.status, answer.headers["retry-after"]) == (503, "2")
        assert len(chain.receiver.taker.spans) == before
        busy.status = 0
        chain.settled()
        assert chain.receiver.post(batch(1), PROTOBUF).status == 200
