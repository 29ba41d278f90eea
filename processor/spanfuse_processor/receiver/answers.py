"""What a sender is told, on every transport: the one place that knows which refusals may be retried.

Rule 1: retryable is what a retry can save (overload, a fault of ours) and nothing else; the wait is 1 to 5
seconds, because the Python exporter drops a batch at once when it is told to wait longer than it may. Rule 2:
no refusal is UNKNOWN, INTERNAL or 500: senders lose data on these. Rule 3: messages are bounded.
This file does not know how an answer is sent.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple, cast

import orjson
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2  # type: ignore[import-untyped]

from spanfuse_processor.receiver.spans_pb2 import ExportResponse

MAX_MESSAGE: Final = 512
"""Characters of a message to a sender."""

MIN_WAIT, MAX_WAIT = 1, 5  # seconds


class Reason(NamedTuple):
    """A kind of refusal: its google.rpc code and its HTTP status."""

    code: int
    http: int


BAD_DATA: Final = Reason(code_pb2.INVALID_ARGUMENT, 400)
NOBODY: Final = Reason(code_pb2.UNAUTHENTICATED, 401)
NOT_SERVED: Final = Reason(code_pb2.UNIMPLEMENTED, 404)
WRONG_METHOD: Final = Reason(code_pb2.UNIMPLEMENTED, 405)
TOO_LARGE: Final = Reason(code_pb2.RESOURCE_EXHAUSTED, 413)
WRONG_TYPE: Final = Reason(code_pb2.INVALID_ARGUMENT, 415)
OVERLOAD: Final = Reason(code_pb2.UNAVAILABLE, 503)


class Refused(Exception):
    """A request that is not taken. `retry_after` is 0, or whole seconds after which to send it again."""

    def __init__(self, reason: Reason, message: str, retry_after: float = 0.0) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message[:MAX_MESSAGE]
        self.retry_after = min(max(math.ceil(retry_after), MIN_WAIT), MAX_WAIT) if reason is OVERLOAD else 0


class Receipt(NamedTuple):
    """A request that was taken: how many of its spans were not, and why; a message alone is a warning."""

    rejected: int = 0
    message: str = ""


def receipt_bytes(receipt: Receipt) -> bytes:
    """An ExportTraceServiceResponse; empty when every span was taken as it is."""
    if not any(receipt):
        return b""
    response = ExportResponse()
    response.partial_success.rejected_spans = receipt.rejected
    response.partial_success.error_message = receipt.message[:MAX_MESSAGE]
    return response.SerializeToString()


def receipt_json(receipt: Receipt) -> bytes:
    """The same as proto3 JSON, where a 64-bit integer is text."""
    if not any(receipt):
        return b"{}"
    partial = {"rejectedSpans": str(receipt.rejected), "errorMessage": receipt.message[:MAX_MESSAGE]}
    return orjson.dumps({"partialSuccess": partial})


def status_bytes(refused: Refused) -> bytes:
    """The refusal as a google.rpc.Status with its details."""
    return _status(refused).SerializeToString()


def status_json(refused: Refused) -> bytes:
    """The same as proto3 JSON."""
    return orjson.dumps(MessageToDict(_status(refused)))


def trailers(refused: Refused) -> tuple[tuple[str, bytes], ...]:
    """The refusal's details as gRPC trailers; the Python exporter reads the second of them only."""
    details = (("grpc-status-details-bin", status_bytes(refused)),)
    if not refused.retry_after:
        return details
    return (*details, ("google.rpc.retryinfo-bin", _retry_info(refused).SerializeToString()))


def _status(refused: Refused) -> Message:
    status = status_pb2.Status(code=refused.reason.code, message=refused.message)
    if refused.reason is BAD_DATA:
        violation = error_details_pb2.BadRequest.FieldViolation(description=refused.message)
        status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    if refused.retry_after:
        status.details.add().Pack(_retry_info(refused))
    return cast(Message, status)


def _retry_info(refused: Refused) -> Message:
    info = error_details_pb2.RetryInfo()
    info.retry_delay.seconds = refused.retry_after
    return cast(Message, info)
