"""OTLP checklist, section "gRPC (4317)": codes, details in trailers, connections; over real sockets.

Keepalive is checked by the server's options only: a grpc client pings every 10 s at the most, and the
hang-up it must not get comes after several pings.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, RetryInfo
from tests.receiver.builders import batch
from tests.receiver.checklist.senders import GRPC_RETRYABLE, MIB, details, told_to_wait, trailers
from tests.receiver.serving import BOUND, Running

from spanfuse_processor.receiver.intake import Overloaded
from spanfuse_processor.receiver.otlp_grpc import SERVICE, server_options

METRICS = "opentelemetry.proto.collector.metrics.v1.MetricsService"
LOGS = "opentelemetry.proto.collector.logs.v1.LogsService"


def test_traces_are_taken_by_the_method_that_otlp_names(receiver: Running) -> None:
    receiver.export(batch(1), "opentelemetry.proto.collector.trace.v1.TraceService")

    assert receiver.taker.names == ["span 1"]


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
    assert details(error).code == grpc.StatusCode.UNAVAILABLE.value[0]
    assert details(error).details[0].Unpack(unpacked)
    assert unpacked == info


@pytest.mark.parametrize(("asked", "told"), [(0.0, 1), (0.2, 1), (30.0, 5)])
def test_the_wait_that_is_told_is_one_to_five_seconds(receiver: Running, asked: float, told: int) -> None:
    """The Python exporter drops a batch at once if it is told to wait longer than it may."""
    receiver.taker.error = Overloaded(asked)

    assert told_to_wait(receiver.refused(batch(1))) == told


def test_bad_data_is_an_invalid_argument_with_bad_request(receiver: Running) -> None:
    error = receiver.refused(b"\xff\xff\xff")

    unpacked = BadRequest()
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert details(error).code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert details(error).details[0].Unpack(unpacked)
    assert unpacked.field_violations[0].description


def test_bad_data_and_a_request_over_the_limit_are_not_retryable(receiver: Running) -> None:
    bad, large = receiver.refused(b"\xff\xff\xff"), receiver.refused(bytes(9 * MIB))

    assert bad.code() not in GRPC_RETRYABLE
    assert large.code() is grpc.StatusCode.RESOURCE_EXHAUSTED  # retryable only with RetryInfo
    assert (told_to_wait(bad), told_to_wait(large)) == (0, 0)


def test_an_exception_of_ours_is_never_unknown_or_internal(receiver: Running) -> None:
    """On these two a sender loses its data."""
    receiver.taker.error = RuntimeError("a bug")

    error = receiver.refused(batch(1))

    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert "bug" not in (error.details() or "")
    assert [str(fault) for fault in receiver.faults] == ["a bug"]


def test_exports_on_one_channel_run_at_the_same_time(receiver: Running) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        export = channel.unary_unary(f"/{SERVICE}/Export")

        answers = [export.future(batch(64), timeout=BOUND) for _ in range(30)]

        assert [answer.result() for answer in answers] == [b""] * 30
    assert len(receiver.taker.spans) == 30 * 64


def test_exports_on_many_channels_run_at_the_same_time(receiver: Running) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: receiver.export(batch(64)), range(24)))

    assert answers == [b""] * 24
    assert len(receiver.taker.spans) == 24 * 64


def test_a_refused_export_leaves_its_channel_usable(receiver: Running) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        export = channel.unary_unary(f"/{SERVICE}/Export")
        for refused in (b"\xff\xff\xff", bytes(9 * MIB)):
            with pytest.raises(grpc.RpcError):
                export(refused, timeout=BOUND)

        export(batch(1), timeout=BOUND)

    assert receiver.taker.names == ["span 1"]


def test_a_sender_that_goes_away_disturbs_nobody(receiver: Running) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        for _ in range(5):
            channel.unary_unary(f"/{SERVICE}/Export").future(batch(512)).cancel()

    assert receiver.export(batch(1)) == b""
    assert receiver.faults == []


def test_pings_every_ten_seconds_are_tolerated_also_without_calls() -> None:
    options = dict(server_options())

    assert options["grpc.http2.min_ping_interval_without_data_ms"] <= 10_000
    assert options["grpc.keepalive_permit_without_calls"] == 1


def test_the_server_pings_every_20_to_30_seconds() -> None:
    assert 20_000 <= dict(server_options())["grpc.keepalive_time_ms"] <= 30_000


def test_the_limit_of_a_request_is_64_mib_unless_it_is_configured() -> None:
    assert dict(server_options())["grpc.max_receive_message_length"] == 64 * MIB
    assert dict(server_options(max_request=123))["grpc.max_receive_message_length"] == 123
