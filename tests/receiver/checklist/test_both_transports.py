"""What OTLP demands of a receiver, point by point, over real sockets, on both transports.

The points are those of opentelemetry-proto's specification and of what users report against receivers.
"""

from __future__ import annotations

import gzip
import zlib

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from tests.receiver.builders import batch, request, span
from tests.receiver.serving import BOUND, PROTOBUF, Running, serving

from spanfuse_processor.auth import Tokens
from spanfuse_processor.receiver.compression import DECOMPRESSORS
from spanfuse_processor.receiver.intake import Overloaded
from spanfuse_processor.receiver.otlp_grpc import SERVICE, server_options

METRICS = "opentelemetry.proto.collector.metrics.v1.MetricsService"
LOGS = "opentelemetry.proto.collector.logs.v1.LogsService"
MIB = 1 << 20


def send(receiver: Running, transport: str, payload: bytes) -> ExportTraceServiceResponse:
    """An export that must be accepted, over either transport."""
    if transport == "grpc":
        return ExportTraceServiceResponse.FromString(receiver.export(payload))
    answer = receiver.post(payload, PROTOBUF)
    assert answer.status == 200
    return ExportTraceServiceResponse.FromString(answer.body)


def trailers(error: grpc.Call) -> dict[str, bytes]:
    return {key: value for key, value in error.trailing_metadata() or () if isinstance(value, bytes)}


def details(error: grpc.Call) -> Status:
    return Status.FromString(trailers(error)["grpc-status-details-bin"])


both = pytest.mark.parametrize("transport", ["grpc", "http"])


@both
def test_uncompressed_requests_are_taken(receiver: Running, transport: str) -> None:
    send(receiver, transport, batch(3))

    assert receiver.taker.names == ["span 1", "span 2", "span 3"]


def test_gzip_is_taken_over_grpc(receiver: Running) -> None:
    receiver.export(batch(3), compression=grpc.Compression.Gzip)

    assert len(receiver.taker.spans) == 3


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "identity"])
def test_compressed_bodies_are_taken_over_http(receiver: Running, encoding: str) -> None:
    squeeze = {"gzip": gzip.compress, "deflate": zlib.compress, "identity": bytes}[encoding]

    answer = receiver.post(squeeze(batch(3)), {**PROTOBUF, "content-encoding": encoding})

    assert answer.status == 200
    assert len(receiver.taker.spans) == 3


def test_zstd_without_its_package_is_refused_with_415(
    receiver: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(DECOMPRESSORS, "zstd", raising=False)

    answer = receiver.post(batch(1), {**PROTOBUF, "content-encoding": "zstd"})

    assert answer.status == 415
    assert "gzip" in Status.FromString(answer.body).message


@both
def test_a_batch_beyond_the_usual_4_mib_is_taken(receiver: Running, transport: str) -> None:
    send(receiver, transport, request(span(1, {"text": "x" * (5 * MIB)})).SerializeToString())

    assert len(str(receiver.taker.spans[0].attributes.get("text"))) == 5 * MIB


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_a_request_over_the_limit_is_not_retryable_over_grpc(
    receiver: Running, compression: grpc.Compression
) -> None:
    error = receiver.refused(bytes(9 * MIB), compression=compression)

    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert trailers(error) == {}


def test_a_body_over_the_limit_is_413(receiver: Running) -> None:
    answer = receiver.post(bytes(9 * MIB), PROTOBUF)

    assert answer.status == 413
    assert Status.FromString(answer.body).message


def test_a_gzip_bomb_is_413(receiver: Running) -> None:
    bomb = gzip.compress(bytes(64 * MIB))

    answer = receiver.post(bomb, {**PROTOBUF, "content-encoding": "gzip"})

    assert len(bomb) < MIB
    assert answer.status == 413


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
def test_a_message_stays_short_however_many_spans_are_rejected(receiver: Running, transport: str) -> None:
    payload = request(*(span(each, span_id=b"") for each in range(5000))).SerializeToString()

    response = send(receiver, transport, payload)

    assert response.partial_success.rejected_spans == 5000
    assert response.ByteSize() < 1024


def test_exports_on_one_connection_run_at_the_same_time(receiver: Running) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        export = channel.unary_unary(f"/{SERVICE}/Export")

        answers = [export.future(batch(64), timeout=BOUND) for _ in range(30)]

        assert [answer.result() for answer in answers] == [b""] * 30
    assert len(receiver.taker.spans) == 30 * 64


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


@pytest.mark.parametrize("service", [METRICS, LOGS])
def test_metrics_and_logs_are_unimplemented(receiver: Running, service: str) -> None:
    assert receiver.refused(b"", service).code() is grpc.StatusCode.UNIMPLEMENTED


def test_overload_is_unavailable_with_retry_info_where_each_sender_looks_for_it(receiver: Running) -> None:
    receiver.taker.error = Overloaded(retry_after=2)

    error = receiver.refused(batch(1))

    info = RetryInfo.FromString(trailers(error)["google.rpc.retryinfo-bin"])
    unpacked = RetryInfo()
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert info.retry_delay.seconds == 2
    assert details(error).details[0].Unpack(unpacked)
    assert unpacked == info


@pytest.mark.parametrize(("asked", "told"), [(0.0, 1), (0.2, 1), (30.0, 5)])
def test_the_wait_that_is_told_is_one_to_five_seconds(receiver: Running, asked: float, told: int) -> None:
    receiver.taker.error = Overloaded(asked)

    error = receiver.refused(batch(1))

    assert RetryInfo.FromString(trailers(error)["google.rpc.retryinfo-bin"]).retry_delay.seconds == told


def test_bad_data_is_an_invalid_argument_with_bad_request(receiver: Running) -> None:
    error = receiver.refused(b"\xff\xff\xff")

    unpacked = BadRequest()
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert details(error).code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert details(error).details[0].Unpack(unpacked)
    assert unpacked.field_violations[0].description


@both
def test_a_fault_of_ours_is_retryable_and_never_unknown_internal_or_500(
    receiver: Running, transport: str
) -> None:
    receiver.taker.error = RuntimeError("a bug")

    if transport == "grpc":
        assert receiver.refused(batch(1)).code() is grpc.StatusCode.UNAVAILABLE
    else:
        assert receiver.post(batch(1), PROTOBUF).status == 503
    assert [str(fault) for fault in receiver.faults] == ["a bug"]


def test_the_server_tolerates_pings_every_ten_seconds_and_renews_connections() -> None:
    options = dict(server_options(max_request=123))

    assert options["grpc.max_receive_message_length"] == 123
    assert options["grpc.http2.min_ping_interval_without_data_ms"] <= 10_000
    assert options["grpc.keepalive_permit_without_calls"] == 1
    assert options["grpc.keepalive_time_ms"] <= 30_000
    assert options["grpc.max_connection_age_ms"] <= 600_000


def test_a_sender_that_goes_away_disturbs_nobody(receiver: Running) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        for _ in range(5):
            channel.unary_unary(f"/{SERVICE}/Export").future(batch(512)).cancel()

    send(receiver, "grpc", batch(1))

    assert receiver.faults == []
