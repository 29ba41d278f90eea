"""The keeper of leases, over a real socket: it asks, goes on when nobody answers, gives back at the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.engine.budgets.leasing import DAILY, OneNumber
from tests.library.remote_hosts import is_in, remote
from tests.library.stub_processor import StubProcessor, stub_processor
from tests.waiting import until

from spanfuse.host import HostState
from spanfuse.hosts.remote import RemoteHost
from spanfuse.purse import Short, Taken
from spanfuse_processor.engine.budget import Amounts, Budget
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk
from spanfuse_processor.engine.budgets.leasing import LeaseOffice
from spanfuse_processor.engine.budgets.requirements import requirement
from spanfuse_processor.engine.reach import Payer

BUDGET = Budget("daily", 1_000, strict=True)
T = 1_000.0


class Lender:
    """A processor with one strict budget, whose clock stands still."""

    def __init__(self, stub: StubProcessor) -> None:
        self.stub = stub
        self.asked: list[LeaseAsk] = []
        stub.on_lease = self.ask
        self.forget(clean=True)

    def forget(self, *, clean: bool = False) -> None:
        """Begins with nothing."""
        self.till = OneNumber(1_000)
        self.office = LeaseOffice(self.till, T, clean=clean)

    def ask(self, ask: LeaseAsk) -> LeaseAnswer:
        self.asked.append(ask)
        return self.office.ask(ask, T)


@pytest.fixture
def lender() -> Iterator[Lender]:
    with stub_processor() as stub:
        made = Lender(stub)
        stub.stop()
        stub.start()  # with the desk
        stub.publish(requirement(BUDGET, 1))
        yield made


def take(host: RemoteHost, amount: int) -> Taken:
    """Takes, waiting as a call does."""
    result: list[Taken] = []
    waiter = object()

    def attempt() -> float:
        taken = host.purse.take(Payer(), Amounts(usd=amount), waiter)
        if isinstance(taken, Short):
            return 5.0
        result.append(taken)
        return 0.0

    host.purse.room.wait(attempt)
    return result[0]


def keepers() -> int:
    return sum(thread.name == "spanfuse-leases" for thread in threading.enumerate())


def test_what_a_call_needs_is_asked_for(lender: Lender) -> None:
    with remote(lender.stub.endpoint) as (host, _):
        until(lambda: not host.purse.idle)

        take(host, 100).settle(Amounts(usd=70))

        assert lender.asked[0].want == 100
        assert lender.asked[0].account == DAILY
    assert (lender.till.spent, lender.till.granted) == (70, 0)  # given back at the end


def test_where_no_budget_is_strict_there_is_no_thread() -> None:
    before = keepers()
    with stub_processor() as stub, remote(stub.endpoint) as (host, _):
        until(is_in(host, HostState.CONNECTED))

        assert host.purse.told
        assert host.purse.idle
        assert keepers() == before


def test_while_nobody_answers_what_is_held_is_spent_and_the_rest_is_asked_for_again(lender: Lender) -> None:
    with remote(lender.stub.endpoint) as (host, _):
        until(lambda: not host.purse.idle)
        take(host, 100).settle(Amounts(usd=40))
        lender.stub.stop()

        take(host, 60).settle(Amounts(usd=60))
        short = host.purse.take(Payer(), Amounts(usd=10), waiter := object())
        assert isinstance(short, Short)
        until(lambda: "UNAVAILABLE" in _problem(host, waiter))

        lender.stub.start()
        take(host, 10)
        until(lambda: lender.till.spent == 100)


def _problem(host: RemoteHost, waiter: object) -> str:
    short = host.purse.take(Payer(), Amounts(usd=10), waiter)
    assert isinstance(short, Short)
    return short.problem


def test_a_processor_that_has_forgotten_everything_is_told(lender: Lender) -> None:
    with remote(lender.stub.endpoint) as (host, _):
        until(lambda: not host.purse.idle)
        take(host, 100).settle(Amounts(usd=40))
        lender.stub.stop()
        lender.forget()
        lender.stub.forget()
        lender.stub.start()
        lender.stub.publish(requirement(BUDGET, 1))

        until(lambda: (lender.till.spent, lender.till.granted) == (40, 60), 10.0)


def test_an_order_of_an_earlier_life_is_void(lender: Lender) -> None:
    lender.stub.publish(
        requirement(Budget("nightly", 1_000, strict=True), 2), withdraw=("budget/daily/lease",)
    )
    with remote(lender.stub.endpoint) as (host, _):
        until(lambda: not host.purse.idle)

        host.purse.take(Payer(), Amounts(usd=10), object())

        until(lambda: host.purse.idle)
