"""OTLP checklist, section "Bugs users report most": each row of the table as a test, over real sockets.

Duplicates are judged by the real engine behind the receiver. That a connection sticks to one replica is
checked by the server's options only: what ends it is grpc's own, after minutes.
"""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Iterator

import grpc
import pytest
from google.rpc.status_pb2 import Status
from tests.receiver.builders import TRACE, batch, json_request, json_span, request, span
from tests.receiver.checklist.senders import MIB, both, refusal, send
from tests.receiver.checklist.takers import HeldTaker, JudgingTaker
from tests.receiver.serving import BOUND, JSON, PROTOBUF, Running, serving
from tests.waiting import until

from spanfuse_processor.receiver.intake import Overloaded
from spanfuse_processor.receiver.otlp_grpc import SERVICE, server_options

CHAT: dict[str, object] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 10,
}


@pytest.fixture
def judge() -> JudgingTaker:
    """The engine, as a taker of spans."""
    return JudgingTaker()


@pytest.fixture
def judging(judge: JudgingTaker) -> Iterator[Running]:
    """A receiver in front of the engine."""
    with serving(taker=judge) as running:
        yield running


def chats(count: int, **usage: object) -> bytes:
    """A batch of model calls of one trace."""
    told = CHAT | {f"gen_ai.usage.{name}": value for name, value in usage.items()}
    return request(*(span(each + 1, told) for each in range(count))).SerializeToString()


def lose_the_answer(receiver: Running, judge: JudgingTaker, transport: str, payload: bytes) -> None:
    """Sends a batch and goes away when it is judged and before its answer is read."""
    if transport == "grpc":
        with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
            answer = channel.unary_unary(f"/{SERVICE}/Export").future(payload, timeout=BOUND)
            until(lambda: judge.slices)
            answer.cancel()
    else:
        with contextlib.closing(receiver.connection()) as connection:
            connection.request("POST", "/v1/traces", payload, PROTOBUF)
            until(lambda: judge.slices)


@both
def test_gzip_is_not_refused(receiver: Running, transport: str) -> None:
    """It is the default of every Collector exporter."""
    if transport == "grpc":
        receiver.export(batch(2), compression=grpc.Compression.Gzip)
    else:
        headers = {**PROTOBUF, "content-encoding": "gzip"}
        assert receiver.post(gzip.compress(batch(2)), headers).status == 200

    assert receiver.taker.names == ["span 1", "span 2"]


def test_gzip_of_json_is_not_refused(receiver: Running) -> None:
    answer = receiver.post(gzip.compress(json_request(json_span())), {**JSON, "content-encoding": "gzip"})

    assert (answer.status, answer.body) == (200, b"{}")


@pytest.mark.parametrize("headers", [PROTOBUF, JSON], ids=["protobuf", "json"])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_bad_body_is_not_a_500(receiver: Running, headers: dict[str, str], encoding: str) -> None:
    answer = receiver.post(b"\xff\xff\xff", {**headers, "content-encoding": encoding})

    assert answer.status == 400
    assert receiver.faults == []


def test_a_sender_of_protobuf_is_not_answered_in_json(receiver: Running) -> None:
    success, refused = receiver.post(batch(1), PROTOBUF), receiver.post(b"\xff", PROTOBUF)

    assert {each.headers["content-type"] for each in (success, refused)} == {"application/x-protobuf"}
    assert Status.FromString(refused.body).message


@both
def test_dropped_spans_are_no_silent_success(receiver: Running, transport: str) -> None:
    response = send(receiver, transport, request(span(1, span_id=b"")).SerializeToString())

    assert response.partial_success.rejected_spans == 1
    assert response.partial_success.error_message


def test_json_ids_are_not_read_as_base64(receiver: Running) -> None:
    receiver.post(json_request(json_span(traceId="0af7651916cd43dd8448eb211c80319c")), JSON)

    (found,) = receiver.taker.spans
    assert found.trace_id == bytes.fromhex("0af7651916cd43dd8448eb211c80319c")


def test_spans_in_json_and_in_protobuf_meet_in_one_trace(receiver: Running) -> None:
    receiver.post(json_request(json_span(1)), JSON)
    receiver.export(request(span(2)).SerializeToString())

    assert [each.trace_id for each in receiver.taker.spans] == [TRACE, TRACE]


@pytest.mark.parametrize(
    "bad",
    [
        {"trace_id": b""},
        {"trace_id": bytes(16)},
        {"trace_id": TRACE[:8]},
        {"trace_id": TRACE + b"\x00"},
        {"span_id": b""},
        {"span_id": bytes(8)},
        {"span_id": b"\x01" * 7},
    ],
    ids=str,
)
@both
def test_a_batch_is_not_refused_for_one_bad_span(
    receiver: Running, transport: str, bad: dict[str, bytes]
) -> None:
    payload = request(span(1), span(2, **bad), span(3)).SerializeToString()

    response = send(receiver, transport, payload)

    assert response.partial_success.rejected_spans == 1
    assert receiver.taker.names == ["span 1", "span 3"]


@both
def test_an_omitted_kind_drops_no_span(receiver: Running, transport: str) -> None:
    response = send(receiver, transport, request(span(1, kind=0)).SerializeToString())

    assert not response.HasField("partial_success")
    assert receiver.taker.names == ["span 1"]


def test_an_omitted_kind_in_json_drops_no_span(receiver: Running) -> None:
    assert receiver.post(json_request(json_span(1)), JSON).body == b"{}"
    assert receiver.taker.names == ["span 1"]


@both
def test_a_batch_over_4_mib_is_taken(receiver: Running, transport: str) -> None:
    send(receiver, transport, request(span(1, {"text": "x" * (5 * MIB)})).SerializeToString())

    assert len(str(receiver.taker.spans[0].attributes.get("text"))) == 5 * MIB


@both
def test_the_limit_is_not_silent(receiver: Running, transport: str) -> None:
    assert str(8 * MIB) in refusal(receiver, transport, bytes(9 * MIB)).message


def test_a_body_without_a_length_is_limited_too() -> None:
    with serving(max_request=64 * 1024) as receiver:
        chunks = iter([bytes(16 * 1024)] * 5)
        with contextlib.closing(receiver.connection()) as connection:
            connection.request("POST", "/v1/traces", chunks, PROTOBUF, encode_chunked=True)
            answer = connection.getresponse()

            assert answer.status == 413
            assert Status.FromString(answer.read()).message


@both
def test_memory_pressure_is_retryable_and_what_is_in_progress_is_kept(transport: str) -> None:
    held = HeldTaker()
    with serving(taker=held, max_waiting=100) as receiver, contextlib.ExitStack() as stack:
        stack.callback(held.go_on.set)
        channel = stack.enter_context(grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}"))
        connection = stack.enter_context(contextlib.closing(receiver.connection()))
        first = channel.unary_unary(f"/{SERVICE}/Export").future(batch(2), timeout=BOUND)
        connection.request("POST", "/v1/traces", batch(2), PROTOBUF)
        until(lambda: receiver.grpc.waiting and receiver.http.waiting)

        told = refusal(receiver, transport, batch(3))
        held.go_on.set()

        assert told.retryable
        assert 1 <= told.wait <= 5
        assert first.result() == b""
        assert connection.getresponse().status == 200
        assert len(held.spans) == 4


@both
def test_the_same_batch_twice_after_a_lost_answer_counts_once(
    judging: Running, judge: JudgingTaker, transport: str
) -> None:
    lose_the_answer(judging, judge, transport, chats(3))

    response = send(judging, transport, chats(3))

    (run,) = judge.engine.runs()
    assert not response.HasField("partial_success")
    assert (run.calls, judge.engine.stats().duplicates) == (3, 3)
    assert (run.input_tokens, run.output_tokens) == (300, 30)


@both
def test_a_batch_that_is_refused_half_way_and_sent_again_counts_once(
    judging: Running, judge: JudgingTaker, transport: str
) -> None:
    judge.refuse_slice = 2
    payload = chats(100)

    told = refusal(judging, transport, payload)
    send(judging, transport, payload)

    (run,) = judge.engine.runs()
    assert told.retryable
    assert (run.calls, judge.engine.stats().duplicates) == (100, 64)


def test_the_same_batch_over_both_transports_counts_once(judging: Running, judge: JudgingTaker) -> None:
    for transport in ("grpc", "http"):
        send(judging, transport, chats(3))

    assert (judge.engine.stats().calls, judge.engine.stats().duplicates) == (3, 3)


@both
def test_one_span_id_with_two_outcomes_counts_once_and_is_told_as_a_conflict(
    judging: Running, judge: JudgingTaker, transport: str
) -> None:
    send(judging, transport, chats(1))

    send(judging, transport, chats(1, output_tokens=15))

    (run,), stats = judge.engine.runs(), judge.engine.stats()
    assert (run.calls, run.input_tokens, run.output_tokens) == (1, 100, 15)
    assert (stats.calls, stats.duplicates, stats.conflicts) == (1, 1, 1)


@both
def test_the_codes_that_are_retryable_are_those_that_a_retry_can_save(
    receiver: Running, transport: str
) -> None:
    troubles = {Overloaded(1): batch(1), RuntimeError("a bug"): batch(1), None: b"\xff\xff\xff"}

    told = []
    for receiver.taker.error, payload in troubles.items():
        told.append(refusal(receiver, transport, payload).retryable)

    assert told == [True, True, False]


def test_connections_are_renewed_so_that_they_do_not_stick_to_one_replica() -> None:
    options = dict(server_options())

    assert 300_000 <= options["grpc.max_connection_age_ms"] <= 600_000
    assert options["grpc.max_connection_age_grace_ms"] >= BOUND * 1000


def test_rejections_of_a_json_batch_are_told_in_json(receiver: Running) -> None:
    answer = receiver.post(json_request(json_span(1), json_span(2, spanId="")), JSON)

    assert json.loads(answer.body)["partialSuccess"]["rejectedSpans"] == "1"
