"""OTLP checklist, section "HTTP (4318)": methods, types, answers in kind, retries, connections; over real
sockets."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json

import pytest
from google.rpc.code_pb2 import INVALID_ARGUMENT
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from google.rpc.status_pb2 import Status
from tests.receiver.builders import batch, json_request, json_span
from tests.receiver.checklist.senders import HTTP_RETRYABLE, either_encoding, status
from tests.receiver.serving import JSON, PROTOBUF, Answer, Running, ask, serving

from spanfuse_processor.auth import Tokens
from spanfuse_processor.receiver.intake import Overloaded

Headers = dict[str, str]
BODIES = {PROTOBUF["content-type"]: batch(1), JSON["content-type"]: json_request(json_span())}


def body_for(headers: Headers) -> bytes:
    """One span in the encoding of the headers."""
    return BODIES[headers["content-type"]]


def in_kind(answer: Answer, headers: Headers) -> tuple[int, str]:
    """The code and message of a refusal, which must be a google.rpc.Status in the request's encoding."""
    assert answer.headers["content-type"] == headers["content-type"]
    if headers is JSON:
        body = json.loads(answer.body)
        return body["code"], body["message"]
    told = Status.FromString(answer.body)
    return told.code, told.message


def test_protobuf_is_answered_in_protobuf_with_an_empty_body(receiver: Running) -> None:
    answer = receiver.post(batch(1), PROTOBUF)

    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "application/x-protobuf"


def test_json_is_answered_in_json_with_an_empty_object(receiver: Running) -> None:
    answer = receiver.post(json_request(json_span()), JSON)

    assert (answer.status, answer.body) == (200, b"{}")
    assert answer.headers["content-type"] == "application/json"
    assert receiver.taker.names == ["span 1"]


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        'application/json ; charset="utf-8"',
    ],
)
def test_parameters_and_case_of_the_content_type_do_not_matter(receiver: Running, content_type: str) -> None:
    answer = receiver.post(json_request(json_span()), {"content-type": content_type})

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert len(receiver.taker.spans) == 1


@pytest.mark.parametrize("headers", [{"content-type": "text/plain"}, {"content-type": "text/json"}, {}])
def test_other_content_types_are_415_and_told_which_are_taken(receiver: Running, headers: Headers) -> None:
    answer = receiver.post(batch(1), headers)

    assert answer.status == 415
    told = json.loads(answer.body)["message"]
    assert told == "Content-Type must be one of application/x-protobuf, application/json"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
@either_encoding
def test_other_methods_are_405_with_allow(receiver: Running, method: str, headers: Headers) -> None:
    answer = receiver.ask(method, "/v1/traces", headers=headers)

    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert in_kind(answer, headers)[1] == f"{method} is not allowed, only POST"


@pytest.mark.parametrize("path", ["/v1/metrics", "/v1/logs"])
@either_encoding
def test_metrics_and_logs_are_404(receiver: Running, path: str, headers: Headers) -> None:
    answer = receiver.post(b"", headers, path)

    assert answer.status == 404
    assert path in in_kind(answer, headers)[1]


@pytest.mark.parametrize("path", ["/v1/traces/", "//v1/traces", "/v1/Traces", "/v1", "/"])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_nothing_is_ever_redirected(receiver: Running, method: str, path: str) -> None:
    """The Python exporter takes every answer from 200 to 399 for success."""
    answer = receiver.ask(method, path, batch(1))

    assert answer.status == 404
    assert "location" not in answer.headers


@either_encoding
def test_undecodable_data_is_400_with_bad_request_in_details(receiver: Running, headers: Headers) -> None:
    answer = receiver.post(b"\xff\xff", headers)

    code, message = in_kind(answer, headers)
    assert (answer.status, code) == (400, INVALID_ARGUMENT)
    if headers is JSON:
        (detail,) = json.loads(answer.body)["details"]
        assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
        assert detail["fieldViolations"] == [{"description": message}]
    else:
        unpacked = BadRequest()
        assert status(answer).details[0].Unpack(unpacked)
        assert [each.description for each in unpacked.field_violations] == [message]


@pytest.mark.parametrize("body", [b"{", b"[]", b"nonsense", b'{"resourceSpans": 1}', b"\xff"])
def test_json_of_another_shape_is_400(receiver: Running, body: bytes) -> None:
    answer = receiver.post(body, JSON)

    assert answer.status == 400
    assert in_kind(answer, JSON) == (INVALID_ARGUMENT, json.loads(answer.body)["message"])


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_body_that_is_not_compressed_as_it_says_is_400(receiver: Running, encoding: str) -> None:
    answer = receiver.post(batch(1), {**PROTOBUF, "content-encoding": encoding})

    assert answer.status == 400


def test_a_compressed_body_that_ends_too_early_is_400(receiver: Running) -> None:
    answer = receiver.post(gzip.compress(batch(3))[:-9], {**PROTOBUF, "content-encoding": "gzip"})

    assert answer.status == 400
    assert receiver.taker.spans == []


@either_encoding
def test_an_unknown_content_encoding_is_415(receiver: Running, headers: Headers) -> None:
    answer = receiver.post(body_for(headers), {**headers, "content-encoding": "br"})

    assert answer.status == 415
    assert in_kind(answer, headers)[1].startswith("Content-Encoding must be one of identity, gzip")


@either_encoding
def test_a_body_over_the_limit_is_413(receiver: Running, headers: Headers) -> None:
    answer = receiver.post(bytes(9 << 20), headers)

    assert answer.status == 413
    assert "8388608 bytes" in in_kind(answer, headers)[1]


@either_encoding
def test_a_wrong_token_is_401(headers: Headers) -> None:
    with serving(Tokens(clients=["secret"])) as receiver:
        answer = receiver.post(body_for(headers), headers)

    assert answer.status == 401
    assert in_kind(answer, headers)[1]


@either_encoding
def test_overload_is_retryable_with_retry_after_in_seconds(receiver: Running, headers: Headers) -> None:
    receiver.taker.error = Overloaded(retry_after=3)

    answer = receiver.post(body_for(headers), headers)

    assert answer.status == 503
    assert answer.headers["retry-after"] == "3"
    assert in_kind(answer, headers)[1] == "overloaded"


def test_overload_carries_retry_info_too(receiver: Running) -> None:
    receiver.taker.error = Overloaded(retry_after=3)

    told = RetryInfo()
    assert status(receiver.post(batch(1), PROTOBUF)).details[0].Unpack(told)

    assert told.retry_delay.seconds == 3


@pytest.mark.parametrize(("asked", "told"), [(0.0, "1"), (0.2, "1"), (30.0, "5")])
def test_retry_after_is_one_to_five_seconds(receiver: Running, asked: float, told: str) -> None:
    receiver.taker.error = Overloaded(asked)

    assert receiver.post(batch(1), PROTOBUF).headers["retry-after"] == told


@either_encoding
def test_a_fault_of_ours_is_503_and_never_500(receiver: Running, headers: Headers) -> None:
    receiver.taker.error = RuntimeError("a bug")

    answer = receiver.post(body_for(headers), headers)

    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert "bug" not in in_kind(answer, headers)[1]
    assert [str(fault) for fault in receiver.faults] == ["a bug"]


def test_what_a_retry_cannot_save_is_not_retryable_and_says_no_time(receiver: Running) -> None:
    refused = [
        receiver.post(b"\xff", PROTOBUF),
        receiver.post(bytes(9 << 20), PROTOBUF),
        receiver.post(batch(1), {"content-type": "text/plain"}),
        receiver.post(batch(1), PROTOBUF, "/v1/metrics"),
        receiver.ask("GET", "/v1/traces"),
    ]

    assert [each.status for each in refused] == [400, 413, 415, 404, 405]
    assert not {each.status for each in refused} & HTTP_RETRYABLE
    assert not any("retry-after" in each.headers for each in refused)


def test_http_1_1_is_spoken_and_the_connection_kept_alive(receiver: Running) -> None:
    with contextlib.closing(receiver.connection()) as connection:
        connection.request("POST", "/v1/traces", batch(1), PROTOBUF)
        response = connection.getresponse()
        response.read()

        assert response.version == 11
        assert not response.will_close


def test_one_connection_carries_many_requests_successes_and_refusals(receiver: Running) -> None:
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

        statuses = [posted(connection, body, headers) for body, headers, _ in requests]

        assert statuses == [expected for *_, expected in requests]
        assert connection.sock is first


def posted(connection: http.client.HTTPConnection, body: bytes, headers: Headers) -> int:
    """The status of one request on an open connection."""
    return ask(connection, "POST", "/v1/traces", body, headers).status
