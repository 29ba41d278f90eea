"""What a destination says is read as OTLP means it: taken, again, or never."""

from __future__ import annotations

import pytest
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from spanfuse_processor.forwarding.answer import Answer, Outcome, of_grpc, of_http, of_receipt, seconds_of

OK, CANCELLED, UNKNOWN, INVALID, DEADLINE, NOT_FOUND, EXISTS, DENIED, EXHAUSTED = range(9)
PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, NOBODY = range(9, 17)


def told(seconds: float) -> bytes:
    info = RetryInfo()
    info.retry_delay.FromMilliseconds(int(seconds * 1000))
    return info.SerializeToString()


@pytest.mark.parametrize("code", [CANCELLED, DEADLINE, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS])
def test_what_otlp_calls_retryable_is_sent_again(code: int) -> None:
    assert of_grpc(code, "busy", {}) == Answer(Outcome.AGAIN, words="busy")


@pytest.mark.parametrize(
    "code",
    [UNKNOWN, INVALID, NOT_FOUND, EXISTS, DENIED, PRECONDITION, UNIMPLEMENTED, INTERNAL, NOBODY, EXHAUSTED],
)
def test_all_else_is_refused_for_good(code: int) -> None:
    assert of_grpc(code, "no", {}).outcome is Outcome.NEVER


def test_an_exhausted_resource_comes_back_where_the_destination_says_when() -> None:
    answer = of_grpc(EXHAUSTED, "", {"google.rpc.retryinfo-bin": told(2.5)})

    assert (answer.outcome, answer.wait) == (Outcome.AGAIN, 2.5)


def test_a_wait_may_stand_among_the_details_of_a_status() -> None:
    status = Status()
    status.details.add().Pack(BadRequest())
    status.details.add().Pack(RetryInfo.FromString(told(3)))

    answer = of_grpc(UNAVAILABLE, "", {"grpc-status-details-bin": status.SerializeToString()})

    assert answer.wait == 3.0


@pytest.mark.parametrize("name", ["google.rpc.retryinfo-bin", "grpc-status-details-bin"])
def test_details_that_are_none_say_nothing(name: str) -> None:
    assert of_grpc(UNAVAILABLE, "", {name: b"\xff"}) == Answer(Outcome.AGAIN)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_over_http_four_answers_ask_to_come_again(status: int) -> None:
    assert of_http(status, "7", 0.0) == Answer(Outcome.AGAIN, 7.0, words=f"it answered {status}")


@pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404, 408, 413, 500, 501])
def test_over_http_all_other_answers_are_for_good(status: int) -> None:
    assert of_http(status, "7", 0.0).outcome is Outcome.NEVER


def test_a_date_that_is_over_asks_for_no_wait() -> None:
    assert seconds_of("Thu, 01 Jan 1970 00:00:30 GMT", 100.0) == 0.0
    assert seconds_of("9" * 400, 0.0) == 0.0


def test_a_partial_success_is_a_success_that_says_what_it_rejects() -> None:
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = 3
    response.partial_success.error_message = "too old"
    same = b'{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "too old"}}'

    assert of_receipt(response.SerializeToString()) == Answer(Outcome.TAKEN, rejected=3, words="too old")
    assert of_receipt(same, "application/json; charset=utf-8") == of_receipt(response.SerializeToString())


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", ""),
        (b"\xff", ""),
        (b"", "application/json"),
        (b"{}", "application/json"),
        (b"[]", "application/json"),
        (b'{"partialSuccess": {"rejectedSpans": "many"}}', "application/json"),
        (b"<html>", "text/html"),
    ],
)
def test_a_success_that_says_nothing_is_one(body: bytes, content_type: str) -> None:
    assert of_receipt(body, content_type) == Answer(Outcome.TAKEN)
