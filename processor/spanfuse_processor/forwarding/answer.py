"""What a destination said to a request: it is taken, it may be sent again, or it never will be taken.

Rule 1: only what OTLP calls retryable is sent again; all else is refused for good. Rule 2: how long to wait
is the destination's to say, where it says it. Rule 3: a partial success is a success: what it rejects is
counted and never sent again. It does not know how the answer came.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Final, NamedTuple

import orjson
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

RETRYABLE_CODES: Final = frozenset({1, 4, 10, 11, 14, 15})
"""google.rpc codes: CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS."""
RESOURCE_EXHAUSTED: Final = 8
"""Retryable where the destination says after how long, and only there."""
RETRYABLE_STATUSES: Final = frozenset({429, 502, 503, 504})

_STATUS, _RETRY_INFO = "grpc-status-details-bin", "google.rpc.retryinfo-bin"
_LONGEST: Final = 300  # characters of what it said


class Outcome(Enum):
    """What came of a request."""

    TAKEN = "taken"
    AGAIN = "again"
    NEVER = "never"


class Answer(NamedTuple):
    """`wait` is what the destination asks for, in seconds (0: it does not say); `rejected` are spans that it
    did not take of a request that it took; `words` are for a person."""

    outcome: Outcome
    wait: float = 0.0
    rejected: int = 0
    words: str = ""


def unreached(words: str) -> Answer:
    """Nobody answered."""
    return Answer(Outcome.AGAIN, words=words[:_LONGEST])


def of_receipt(body: bytes, content_type: str = "") -> Answer:
    """A success, with the ExportTraceServiceResponse that came with it; what is none is taken for empty."""
    try:
        rejected, words = _from_json(body) if "json" in content_type else _from_protobuf(body)
    except (DecodeError, ValueError, TypeError, AttributeError):
        return Answer(Outcome.TAKEN)
    return Answer(Outcome.TAKEN, rejected=max(0, rejected), words=words[:_LONGEST])


def _from_protobuf(body: bytes) -> tuple[int, str]:
    partial = ExportTraceServiceResponse.FromString(body).partial_success
    return partial.rejected_spans, partial.error_message


def _from_json(body: bytes) -> tuple[int, str]:
    partial = (orjson.loads(body) if body else {}).get("partialSuccess") or {}
    return int(partial.get("rejectedSpans") or 0), str(partial.get("errorMessage") or "")


def of_grpc(code: int, words: str, trailers: Mapping[str, str | bytes]) -> Answer:
    """A refusal over gRPC: its code, what it says, its trailers."""
    wait = _told(trailers)
    again = code in RETRYABLE_CODES or (code == RESOURCE_EXHAUSTED and wait is not None)
    return Answer(Outcome.AGAIN if again else Outcome.NEVER, wait or 0.0, words=words[:_LONGEST])


def _told(trailers: Mapping[str, str | bytes]) -> float | None:
    """The seconds of a RetryInfo; None: there is none."""
    try:
        info = RetryInfo()
        if isinstance(alone := trailers.get(_RETRY_INFO), bytes):
            return _seconds(RetryInfo.FromString(alone))
        if isinstance(status := trailers.get(_STATUS), bytes):
            for detail in Status.FromString(status).details:
                if detail.Unpack(info):
                    return _seconds(info)
    except DecodeError:
        pass
    return None


def _seconds(info: RetryInfo) -> float:
    delay = info.retry_delay
    return max(0.0, float(delay.seconds) + float(delay.nanos) / 1e9)


def of_http(status: int, retry_after: str, now: float) -> Answer:
    """A refusal over HTTP: its status and `Retry-After`; `now` is wall time in seconds."""
    words = f"it answered {status}"
    if status in RETRYABLE_STATUSES:
        return Answer(Outcome.AGAIN, seconds_of(retry_after, now), words=words)
    return Answer(Outcome.NEVER, words=words)


def seconds_of(retry_after: str, now: float) -> float:
    """The seconds that a `Retry-After` asks for, as a number or as a date; 0 where it is neither.

    >>> seconds_of("3", 0.0), seconds_of("Thu, 01 Jan 1970 00:00:30 GMT", 10.0), seconds_of("soon", 0.0)
    (3.0, 20.0, 0.0)
    """
    text = retry_after.strip()
    if text.isdecimal() and len(text) < 10:
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return 0.0
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.fromtimestamp(now, UTC)).total_seconds())
