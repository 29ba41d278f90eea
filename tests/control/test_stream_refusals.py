"""Whom and what the control service refuses, with which code, over real sockets."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from tests.control.serving import CLIENT, OPERATOR, TOKENS, bearer, controlling, refusal

from spanfuse_processor.control.stream import MAX_REQUEST
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.messages import SERVICE


@pytest.mark.parametrize("metadata", [(), bearer("wrong"), (("authorization", "Basic eDp5"),)])
@pytest.mark.parametrize("method", ["Watch", "List", "Report", "Lease"])
async def test_who_has_no_token_is_let_into_nothing(method: str, metadata: Any) -> None:
    async with controlling(TOKENS) as running:
        request = {"Watch": pb.WatchRequest, "List": pb.ListRequest, "Report": pb.ReportRequest}
        call = getattr(running.stub, method)(request.get(method, pb.LeaseRequest)(), metadata=metadata)

        assert await refusal(call.read() if method == "Watch" else call) is grpc.StatusCode.UNAUTHENTICATED
        assert running.hub.stats.subscribed == 0
        assert running.faults == []


@pytest.mark.parametrize("token", [CLIENT, OPERATOR])
async def test_clients_and_operators_may_watch(token: str) -> None:
    async with controlling(TOKENS) as running:
        event = await running.stub.Watch(pb.WatchRequest(), metadata=bearer(token)).read()

    assert event.WhichOneof("event") == "snapshot"


async def test_leases_are_not_offered() -> None:
    async with controlling() as running:
        code = await refusal(running.stub.Lease(pb.LeaseRequest()))

    assert code is grpc.StatusCode.UNIMPLEMENTED


async def test_a_service_or_method_that_does_not_exist_is_unimplemented() -> None:
    async with controlling() as running:
        for path in ("/spanfuse.control.v2.Control/Watch", f"/{SERVICE}/Launch"):
            assert await refusal(running.channel.unary_unary(path)(b"")) is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("method", ["List", "Report"])
async def test_what_is_no_request_is_refused(method: str) -> None:
    async with controlling() as running:
        send = running.channel.unary_unary(f"/{SERVICE}/{method}")

        assert await refusal(send(b"\xff\xff\xff")) is grpc.StatusCode.INVALID_ARGUMENT
        assert running.faults == []


async def test_a_report_that_is_too_large_is_refused() -> None:
    request = pb.ReportRequest(instance={"service_name": "s" * MAX_REQUEST}).SerializeToString()
    async with controlling() as running:
        code = await refusal(running.channel.unary_unary(f"/{SERVICE}/Report")(request))

    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("method", ["Watch", "List"])
async def test_a_fault_of_ours_is_reported_and_answered(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    async with controlling() as running:
        for name in ("subscribe", "standing"):
            monkeypatch.setattr(running.hub, name, fail)
        call = getattr(running.stub, method)(pb.WatchRequest() if method == "Watch" else pb.ListRequest())
        code = await refusal(call.read() if method == "Watch" else call)

    assert code is grpc.StatusCode.INTERNAL
    assert running.faults == [f"control {method.lower()}: RuntimeError('broken')"]
