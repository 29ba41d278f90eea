"""The desk of leases, over real sockets: who asks is answered by the office, and by nothing else."""

from __future__ import annotations

import grpc
import pytest
from tests.control.serving import CLIENT, TOKENS, bearer, controlling, refusal
from tests.engine.budgets.leasing import DAILY, OneNumber

from spanfuse_processor.engine.budget import Account
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk, Result
from spanfuse_processor.engine.budgets.leasing import LeaseOffice
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import leases

T = 1_000.0
ASK = LeaseAsk(DAILY, "lease-1", "1", want=200)


class Office:
    """An office over one number, and what it was asked."""

    def __init__(self) -> None:
        self.till = OneNumber(1_000)
        self.office = LeaseOffice(self.till, T)
        self.asked: list[LeaseAsk] = []

    def __call__(self, ask: LeaseAsk) -> LeaseAnswer:
        self.asked.append(ask)
        return self.office.ask(ask, T)


@pytest.fixture
def office() -> Office:
    return Office()


async def test_who_asks_is_answered_what_it_holds(office: Office) -> None:
    async with controlling(on_lease=office) as running:
        answer = leases.decode_answer(await running.stub.Lease(leases.encode(ASK)))

    assert (answer.result, answer.granted, answer.lease) == (Result.GRANTED, 200, "lease-1")
    assert office.asked == [ASK]


async def test_an_account_that_needs_no_lease_is_not_found(office: Office) -> None:
    async with controlling(on_lease=office) as running:
        ask = LeaseAsk(Account("nightly"), "lease-1", "1", want=200)

        assert await refusal(running.stub.Lease(leases.encode(ask))) is grpc.StatusCode.NOT_FOUND
        assert running.faults == []


async def test_an_ask_for_nothing_in_particular_is_refused(office: Office) -> None:
    async with controlling(on_lease=office) as running:
        code = await refusal(running.stub.Lease(pb.LeaseRequest()))

    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert office.asked == []


async def test_only_clients_hold_leases(office: Office) -> None:
    async with controlling(TOKENS, on_lease=office) as running:
        nobody = await refusal(running.stub.Lease(leases.encode(ASK)))
        somebody = await running.stub.Lease(leases.encode(ASK), metadata=bearer(CLIENT))

    assert nobody is grpc.StatusCode.UNAUTHENTICATED
    assert somebody.granted_micro_usd == 200
    assert len(office.asked) == 1


async def test_a_fault_of_the_office_is_reported_and_answered() -> None:
    def broken(ask: LeaseAsk) -> LeaseAnswer:
        raise RuntimeError("the till is stuck")

    async with controlling(on_lease=broken) as running:
        assert await refusal(running.stub.Lease(leases.encode(ASK))) is grpc.StatusCode.INTERNAL
        assert running.faults == ["control lease: RuntimeError('the till is stuck')"]
