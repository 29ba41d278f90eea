"""OTLP checklist, section "Both transports": what OTLP demands of a receiver over gRPC and HTTP alike.

Encodings, limits, empty requests, full and partial success, warnings, duplicates, access: point by point,
over real sockets. Not here, since this receiver forwards nothing: a queue for each destination.
"""

from __future__ import annotations

import gzip
import sys
import zlib

import grpc
import pytest
from google.rpc.status_pb2 import Status
from tests.receiver.builders import batch, request, span
from tests.receiver.checklist.senders import MIB, both, refusal, send, trailers
from tests.receiver.serving import PROTOBUF, Running, serving

from spanfuse_processor.auth import Tokens
from spanfuse_processor.receiver.answers import MAX_MESSAGE
from spanfuse_processor.receiver.compression import DECOMPRESSORS, ZSTD_MODULES
from spanfuse_processor.receiver.decoded import Decoded
from spanfuse_processor.receiver.intake import Overloaded


@both
def test_uncompressed_requests_are_taken(receiver: Running, transport: str) -> None:
    send(receiver, transport, batch(3))

    assert receiver.taker.names == ["span 1", "span 2", "span 3"]


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_gzip_and_deflate_are_taken_over_grpc(receiver: Running, compression: grpc.Compression) -> None:
    receiver.export(batch(3), compression=compression)

    assert len(receiver.taker.spans) == 3


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "identity"])
def test_compressed_bodies_are_taken_over_http(receiver: Running, encoding: str) -> None:
    squeeze = {"gzip": gzip.compress, "deflate": zlib.compress, "identity": bytes}[encoding]

    answer = receiver.post(squeeze(batch(3)), {**PROTOBUF, "content-encoding": encoding})

    assert answer.status == 200
    assert len(receiver.taker.spans) == 3


def test_zstd_is_taken_over_http_where_its_package_is_installed(receiver: Running) -> None:
    zstd = next(sys.modules[name] for name in ZSTD_MODULES if name in sys.modules)

    answer = receiver.post(zstd.compress(batch(3)), {**PROTOBUF, "content-encoding": "zstd"})

    assert answer.status == 200
    assert len(receiver.taker.spans) == 3


def test_zstd_without_its_package_is_refused_with_415_and_the_encodings_that_are_taken(
    receiver: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(DECOMPRESSORS, "zstd", raising=False)

    answer = receiver.post(batch(1), {**PROTOBUF, "content-encoding": "zstd"})

    assert answer.status == 415
    assert Status.FromString(answer.body).message == (
        "Content-Encoding must be one of identity, gzip, x-gzip, deflate"
    )


@both
def test_a_request_over_the_limit_is_refused_for_good(receiver: Running, transport: str) -> None:
    told = refusal(receiver, transport, bytes(9 * MIB))

    assert (told.retryable, told.wait) == (False, 0)
    assert told.message
    assert receiver.taker.spans == []


@both
def test_the_limit_can_be_configured(transport: str) -> None:
    payload = batch(10)
    with serving(max_request=len(payload)) as receiver:
        send(receiver, transport, payload)

        assert not refusal(receiver, transport, batch(11)).retryable
        assert len(receiver.taker.spans) == 10


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_the_limit_over_grpc_is_resource_exhausted_without_retry_info_after_decompression_too(
    receiver: Running, compression: grpc.Compression
) -> None:
    error = receiver.refused(bytes(9 * MIB), compression=compression)

    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert trailers(error) == {}


def test_the_limit_over_http_is_413(receiver: Running) -> None:
    assert receiver.post(bytes(9 * MIB), PROTOBUF).status == 413


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_the_limit_over_http_is_413_after_decompression_too(receiver: Running, encoding: str) -> None:
    squeeze = {"gzip": gzip.compress, "deflate": zlib.compress}[encoding]
    bomb = squeeze(bytes(64 * MIB))

    answer = receiver.post(bomb, {**PROTOBUF, "content-encoding": encoding})

    assert len(bomb) < MIB
    assert answer.status == 413


@both
def test_the_response_is_far_below_its_limit_however_many_spans_are_rejected(
    receiver: Running, transport: str
) -> None:
    payload = request(*(span(each, span_id=b"") for each in range(5000))).SerializeToString()

    response = send(receiver, transport, payload)

    assert response.partial_success.rejected_spans == 5000
    assert response.ByteSize() < 1024


@both
def test_an_error_message_that_is_too_long_for_the_response_is_shortened(
    receiver: Running, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Decoded.reject
    monkeypatch.setattr(
        Decoded, "reject", lambda part, reason, count=1: plain(part, reason.ljust(5 * MIB, "."), count)
    )

    response = send(receiver, transport, request(span(1, span_id=b"")).SerializeToString())

    assert response.partial_success.rejected_spans == 1
    assert len(response.partial_success.error_message) == MAX_MESSAGE


@both
def test_an_empty_request_is_a_success(receiver: Running, transport: str) -> None:
    response = send(receiver, transport, b"")

    assert not response.HasField("partial_success")


@both
def test_empty_envelopes_are_a_success(receiver: Running, transport: str) -> None:
    response = send(receiver, transport, request().SerializeToString())

    assert not response.HasField("partial_success")
    assert receiver.taker.spans == []


@both
def test_full_success_leaves_partial_success_unset(receiver: Running, transport: str) -> None:
    assert not send(receiver, transport, batch(2)).HasField("partial_success")


@both
def test_rejected_spans_are_counted_in_partial_success_and_the_others_are_taken(
    receiver: Running, transport: str
) -> None:
    payload = request(span(1), span(2, trace_id=b"short"), span(3)).SerializeToString()

    response = send(receiver, transport, payload)

    assert receiver.taker.names == ["span 1", "span 3"]
    assert response.partial_success.rejected_spans == 1
    assert "trace id" in response.partial_success.error_message


@both
def test_success_with_a_warning_has_no_rejected_spans_and_a_message(
    receiver: Running, transport: str
) -> None:
    payload = request(span(1, end_time_unix_nano=1), span(2)).SerializeToString()

    response = send(receiver, transport, payload)

    assert receiver.taker.names == ["span 1", "span 2"]
    assert response.HasField("partial_success")
    assert response.partial_success.rejected_spans == 0
    assert response.partial_success.error_message.startswith("1 of 2 spans end before they start")


@both
def test_what_a_retry_would_save_is_never_reported_as_rejected(receiver: Running, transport: str) -> None:
    """A partial success is not repeated: an overload refuses the batch whole, bad spans in it or not."""
    receiver.taker.errors = [Overloaded(1)]
    payload = request(span(1), span(2, span_id=b"")).SerializeToString()

    told = refusal(receiver, transport, payload)
    response = send(receiver, transport, payload)

    assert told.retryable
    assert receiver.taker.names == ["span 1"]
    assert response.partial_success.rejected_spans == 1


@both
def test_a_sender_without_its_token_is_told_that_it_is_unauthenticated(transport: str) -> None:
    with serving(Tokens(clients=["secret"])) as receiver:
        if transport == "grpc":
            metadata = (("authorization", "Bearer wrong"),)
            assert receiver.refused(batch(1)).code() is grpc.StatusCode.UNAUTHENTICATED
            assert receiver.refused(batch(1), metadata=metadata).code() is grpc.StatusCode.UNAUTHENTICATED
        else:
            assert receiver.post(batch(1), PROTOBUF).status == 401
            answer = receiver.post(batch(1), {**PROTOBUF, "authorization": "Bearer wrong"})
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert receiver.taker.spans == []


@both
def test_a_sender_with_its_token_is_let_in(transport: str) -> None:
    with serving(Tokens(clients=["secret"])) as receiver:
        if transport == "grpc":
            receiver.export(batch(1), metadata=(("authorization", "Bearer secret"),))
        else:
            receiver.post(batch(1), {**PROTOBUF, "authorization": "Bearer secret"})
        assert len(receiver.taker.spans) == 1
