"""What OTLP/HTTP demands of a receiver, point by point, over real sockets."""

from __future__ import annotations

import contextlib
import json

import pytest
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status
from tests.receiver.builders import TRACE, batch, json_request, json_span
from tests.receiver.serving import JSON, PROTOBUF, Answer, Running, ask

from spanfuse_processor.receiver.intake import Overloaded

RETRYABLE = {429, 502, 503, 504}


def status(answer: Answer) -> Status:
    """The google.rpc.Status of a refusal in protobuf."""
    assert answer.headers["content-type"] == "application/x-protobuf"
    return Status.FromString(answer.body)


def test_protobuf_is_answered_in_protobuf(receiver: Running) -> None:
    answer = receiver.post(batch(1), PROTOBUF)

    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "application/x-protobuf"


def test_json_is_answered_in_json(receiver: Running) -> None:
    answer = receiver.post(json_request(json_span()), JSON)

    assert (answer.status, answer.body) == (200, b"{}")
    assert answer.headers["content-type"] == "application/json"
    assert receiver.taker.names == ["span 1"]


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "Application/JSON;charset=UTF-8"]
)
def test_parameters_and_case_of_the_content_type_do_not_matter(receiver: Running, content_type: str) -> None:
    answer = receiver.post(json_request(json_span()), {"content-type": content_type})

    assert answer.status == 200
    assert len(receiver.taker.spans) == 1


@pytest.mark.parametrize("headers", [{"content-type": "text/plain"}, {}])
def test_other_content_types_are_415_with_a_status_body(receiver: Running, headers: dict[str, str]) -> None:
    answer = receiver.post(batch(1), headers)

    assert answer.status == 415
    assert "application/x-protobuf" in json.loads(answer.body)["message"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_405_with_allow(receiver: Running, method: str) -> None:
    answer = receiver.ask(method, "/v1/traces")

    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert status(answer).message


@pytest.mark.parametrize("path", ["/v1/metrics", "/v1/logs"])
def test_metrics_and_logs_are_404_with_a_status_body(receiver: Running, path: str) -> None:
    in_protobuf, in_json = receiver.post(b"", PROTOBUF, path), receiver.post(b"{}", JSON, path)

    assert (in_protobuf.status, in_json.status) == (404, 404)
    assert path in status(in_protobuf).message
    assert path in json.loads(in_json.body)["message"]


@pytest.mark.parametrize("path", ["/v1/traces/", "//v1/traces", "/"])
def test_a_path_beside_the_right_one_is_never_redirected(receiver: Running, path: str) -> None:
    """The Python exporter takes every answer from 200 to 399 for success."""
    assert receiver.post(batch(1), PROTOBUF, path).status == 404


def test_an_undecodable_protobuf_body_is_400_with_bad_request(receiver: Running) -> None:
    answer = receiver.post(b"\xff\xff", PROTOBUF)

    unpacked = BadRequest()
    assert answer.status == 400
    assert status(answer).details[0].Unpack(unpacked)
    assert unpacked.field_violations[0].description == status(answer).message


@pytest.mark.parametrize("body", [b"{", b"[]", b"nonsense", b'{"resourceSpans": 1}', b"\xff"])
def test_an_undecodable_json_body_is_400_with_bad_request_in_json(receiver: Running, body: bytes) -> None:
    answer = receiver.post(body, JSON)

    details = json.loads(answer.body)["details"][0]
    assert answer.status == 400
    assert details["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert details["fieldViolations"][0]["description"]


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_body_that_is_not_compressed_as_it_says_is_400(receiver: Running, encoding: str) -> None:
    answer = receiver.post(batch(1), {**PROTOBUF, "content-encoding": encoding})

    assert answer.status == 400


def test_an_unknown_content_encoding_is_415(receiver: Running) -> None:
    assert receiver.post(batch(1), {**PROTOBUF, "content-encoding": "br"}).status == 415


@pytest.mark.parametrize("headers", [PROTOBUF, JSON])
def test_overload_is_a_retryable_status_with_retry_after(receiver: Running, headers: dict[str, str]) -> None:
    receiver.taker.error = Overloaded(retry_after=3)
    body = batch(1) if headers is PROTOBUF else json_request(json_span())

    answer = receiver.post(body, headers)

    assert answer.status in RETRYABLE
    assert answer.headers["retry-after"] == "3"
    assert answer.headers["content-type"] == headers["content-type"]


def test_rejected_spans_are_counted_in_partial_success_as_text(receiver: Running) -> None:
    answer = receiver.post(json_request(json_span(1), json_span(2, traceId="")), JSON)

    partial = json.loads(answer.body)["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert partial["errorMessage"].startswith("1 of 2 spans rejected")
    assert receiver.taker.names == ["span 1"]


def test_a_connection_stays_open_after_successes_and_refusals(receiver: Running) -> None:
    requests = [
        (batch(1), PROTOBUF, 200),
        (b"\xff", PROTOBUF, 400),
        (bytes(9 << 20), PROTOBUF, 413),
        (json_request(json_span()), JSON, 200),
        (batch(1), {"content-type": "text/plain"}, 415),
        (batch(1), PROTOBUF, 200),
    ]
    with contextlib.closing(receiver.connection()) as connection:
        connection.connect()
        first = connection.sock

        statuses = [
            ask(connection, "POST", "/v1/traces", body, headers).status for body, headers, _ in requests
        ]

        assert statuses == [expected for *_, expected in requests]
        assert connection.sock is first


def test_json_ids_are_hexadecimal_in_either_case_also_in_links(receiver: Running) -> None:
    upper = {"traceId": TRACE.hex().upper(), "spanId": "AB" * 8, "parentSpanId": "Cd" * 8}
    link = {"traceId": "EF" * 16, "spanId": "0a" * 8}

    receiver.post(json_request(json_span(**upper, links=[link])), JSON)

    (span,) = receiver.taker.spans
    assert (span.trace_id, span.span_id) == (TRACE, b"\xab" * 8)
    assert span.parent_span_id == b"\xcd" * 8
    assert span.links == ((b"\xef" * 16, b"\x0a" * 8),)


def test_json_ids_in_base64_are_rejected_and_not_taken_for_something_else(receiver: Running) -> None:
    answer = receiver.post(json_request(json_span(traceId="AQIDBAUGBwgJCgsMDQ4PEA=="), json_span(2)), JSON)

    assert json.loads(answer.body)["partialSuccess"]["rejectedSpans"] == "1"
    assert receiver.taker.names == ["span 2"]


def test_json_takes_what_proto3_allows(receiver: Running) -> None:
    values: dict[str, object] = {
        "text": {"intValue": "-42"},
        "number": {"intValue": 42},
        "nan": {"doubleValue": "NaN"},
        "infinity": {"doubleValue": "-Infinity"},
        "bytes": {"bytesValue": "AP8="},
        "null": {"stringValue": None},
        "unknown": {"futureValue": 1},
    }
    attributes = [{"key": key, "value": value} for key, value in values.items()]
    sent = json_span(
        attributes=attributes,
        status={"code": 2},
        endTimeUnixNano=1_796_013_134_000_000_009,
        flags=257,
        new={},
    )

    receiver.post(json_request(sent), JSON)

    (span,) = receiver.taker.spans
    get = span.attributes.get
    assert (get("text"), get("number"), get("bytes")) == (-42, 42, b"\x00\xff")
    assert (str(get("nan")), get("infinity")) == ("nan", float("-inf"))
    assert (get("null"), get("unknown")) == (None, None)
    assert (span.status, span.end_ns) == (2, 1_796_013_134_000_000_009)


def test_json_with_only_ids_takes_the_defaults_for_all_else(receiver: Running) -> None:
    receiver.post(json_request({"traceId": TRACE.hex(), "spanId": "01" * 8}), JSON)

    (span,) = receiver.taker.spans
    assert (span.name, span.parent_span_id, span.status, span.links) == ("", b"", 0, ())
    assert (span.start_ns, span.end_ns, dict(span.attributes)) == (0, 0, {})


def test_json_keys_in_snake_case_are_unknown(receiver: Running) -> None:
    sent = json_span(parent_span_id="ab" * 8, dropped_attributes_count=3)

    receiver.post(json_request(sent), JSON)

    assert receiver.taker.spans[0].parent_span_id == b""
    assert receiver.taker.spans[0].dropped_attributes == 0
