"""How the checklist talks to a receiver: the same batch over either transport, and what came of it in
common terms.

Rule 1: everything goes over real sockets. Rule 2: nothing is asserted here but that a batch was taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from tests.receiver.serving import JSON, PROTOBUF, Answer, Running

MIB = 1 << 20

GRPC_RETRYABLE = {
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DATA_LOSS,
}
HTTP_RETRYABLE = {429, 502, 503, 504}

both = pytest.mark.parametrize("transport", ["grpc", "http"])
"""The same point on both transports."""

either_encoding = pytest.mark.parametrize("headers", [PROTOBUF, JSON], ids=["protobuf", "json"])
"""The same point in both encodings of OTLP/HTTP."""


@dataclass
class Refusal:
    """What a sender is told. `wait` is in seconds, 0 where it was told none."""

    retryable: bool
    wait: int
    message: str


def send(receiver: Running, transport: str, payload: bytes) -> ExportTraceServiceResponse:
    """An export that must be accepted, over either transport."""
    if transport == "grpc":
        return ExportTraceServiceResponse.FromString(receiver.export(payload))
    answer = receiver.post(payload, PROTOBUF)
    assert answer.status == 200
    return ExportTraceServiceResponse.FromString(answer.body)


def refusal(receiver: Running, transport: str, payload: bytes) -> Refusal:
    """An export that must fail, over either transport: what its sender is told."""
    if transport == "grpc":
        error = receiver.refused(payload)
        return Refusal(error.code() in GRPC_RETRYABLE, told_to_wait(error), error.details() or "")
    answer = receiver.post(payload, PROTOBUF)
    assert answer.status >= 400
    wait = int(answer.headers.get("retry-after", 0))
    return Refusal(answer.status in HTTP_RETRYABLE, wait, status(answer).message)


def status(answer: Answer) -> Status:
    """The google.rpc.Status of an HTTP refusal in protobuf."""
    assert answer.headers["content-type"] == PROTOBUF["content-type"]
    return Status.FromString(answer.body)


def trailers(error: grpc.Call) -> dict[str, bytes]:
    """The binary trailers of a gRPC refusal."""
    return {key: value for key, value in error.trailing_metadata() or () if isinstance(value, bytes)}


def details(error: grpc.Call) -> Status:
    """The google.rpc.Status of a gRPC refusal."""
    return Status.FromString(trailers(error)["grpc-status-details-bin"])


def told_to_wait(error: grpc.Call) -> int:
    """The seconds of a gRPC refusal's RetryInfo, where the Python exporter looks for it."""
    return int(RetryInfo.FromString(trailers(error).get("google.rpc.retryinfo-bin", b"")).retry_delay.seconds)
