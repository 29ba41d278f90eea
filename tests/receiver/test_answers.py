"""Answers say what a sender may do next, in both encodings, within bounds."""

from __future__ import annotations

import json

import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from spanfuse_processor.receiver import answers
from spanfuse_processor.receiver.answers import MAX_MESSAGE, Reason, Receipt, Refused

REASONS = [each for each in vars(answers).values() if isinstance(each, Reason)]
RETRYABLE_HTTP = {429, 502, 503, 504}
RETRYABLE_GRPC = {1, 4, 10, 11, 14, 15}  # of the specification, by code


def test_a_full_success_is_empty() -> None:
    assert answers.receipt_bytes(Receipt()) == b""
    assert answers.receipt_json(Receipt()) == b"{}"


def test_a_partial_success_says_how_many_and_why() -> None:
    receipt = Receipt(3, "because")

    partial = ExportTraceServiceResponse.FromString(answers.receipt_bytes(receipt)).partial_success

    assert (partial.rejected_spans, partial.error_message) == (3, "because")
    assert json.loads(answers.receipt_json(receipt)) == {
        "partialSuccess": {"rejectedSpans": "3", "errorMessage": "because"}
    }


def test_a_message_without_rejections_is_a_success_with_a_warning() -> None:
    receipt = Receipt(0, "mind this")

    partial = ExportTraceServiceResponse.FromString(answers.receipt_bytes(receipt)).partial_success

    assert (partial.rejected_spans, partial.error_message) == (0, "mind this")
    assert json.loads(answers.receipt_json(receipt)) == {
        "partialSuccess": {"rejectedSpans": "0", "errorMessage": "mind this"}
    }


@pytest.mark.parametrize("reason", REASONS, ids=str)
def test_a_reason_is_retryable_on_both_transports_or_on_none(reason: Reason) -> None:
    assert (reason.http in RETRYABLE_HTTP) == (reason.code in RETRYABLE_GRPC)


@pytest.mark.parametrize("reason", REASONS, ids=str)
def test_no_reason_is_one_that_loses_data_in_silence(reason: Reason) -> None:
    unknown, internal = 2, 13

    assert reason.code not in {unknown, internal}
    assert reason.http not in {408, 500}


@pytest.mark.parametrize("reason", REASONS, ids=str)
def test_only_what_is_retryable_says_when(reason: Reason) -> None:
    refused = Refused(reason, "message", retry_after=2)

    keys = [key for key, _ in answers.trailers(refused)]

    assert ("google.rpc.retryinfo-bin" in keys) == (reason.http in RETRYABLE_HTTP)
    assert (refused.retry_after > 0) == (reason.http in RETRYABLE_HTTP)


@pytest.mark.parametrize("reason", REASONS, ids=str)
def test_both_encodings_say_the_same(reason: Reason) -> None:
    refused = Refused(reason, "message", retry_after=2)

    in_protobuf = Status.FromString(answers.status_bytes(refused))
    in_json = json.loads(answers.status_json(refused))

    assert (in_protobuf.code, in_protobuf.message) == (in_json["code"], in_json["message"])
    assert [each.type_url for each in in_protobuf.details] == [
        each["@type"] for each in in_json.get("details", [])
    ]


def test_messages_are_bounded() -> None:
    endless = "x" * 1_000_000

    refused = Refused(answers.BAD_DATA, endless)

    assert len(refused.message) == MAX_MESSAGE
    assert len(answers.status_bytes(refused)) < 4 * MAX_MESSAGE
    assert len(answers.receipt_bytes(Receipt(1, endless))) < 2 * MAX_MESSAGE
    assert len(answers.receipt_json(Receipt(1, endless))) < 2 * MAX_MESSAGE
