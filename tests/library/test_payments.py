"""Calls of strict budgets: what they take before they are made, how long they wait, and for how much."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.library.making import Clock, chat, scope, tool
from tests.library.purses.till import Till
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.expecting import Expecting
from spanfuse.gate import Gate
from spanfuse.payments import OPENING, PRICED, Payment, Payments, Sources
from spanfuse.provider import Intent
from spanfuse.testing import directive
from spanfuse_processor.engine import names
from spanfuse_processor.engine.budget import Amounts, Measure
from spanfuse_processor.engine.nouns import BreakerKey, Kind, Level, Usage
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.pricing import PENDING, YOCTO_PER_MICRO, Pending, Rates

RATES = Rates(0, 100 * YOCTO_PER_MICRO)  # 100 USD a million of what is said: 100 micro-dollars a token
COST = 1_000  # of ten tokens


class Book:
    """A book with one answer."""

    def __init__(self, answer: Rates | Pending | None = RATES) -> None:
        self.answer = answer

    def rates(self, provider: str, model: str, day: int) -> Rates | Pending | None:
        return self.answer


def payments(till: Till, book: Book | None = None, clock: Clock | None = None, **more: Any) -> Payments:
    board = Board(clock or Clock())
    sources = Sources(Expecting(), book or Book(), {"search": ToolRule(fee=0.002), "free": ToolRule()})
    return Payments(board, Gate(board), till, sources, **more)


def asked(most: int = 10) -> Intent:
    """A model call that is to say so many tokens at most."""
    return chat("hi", attributes={names.MAX_TOKENS: most})


def paid(by: Payments, intent: Intent | None = None) -> Payment:
    payment = by.pay(intent or asked(), scope())
    assert payment is not None
    return payment


def refused(by: Payments, intent: Intent | None = None) -> BreakerOpen:
    with pytest.raises(BreakerOpen) as caught:
        by.pay(intent or asked(), scope())
    return caught.value


def test_where_no_budget_is_strict_nothing_is_asked() -> None:
    till = Till(0, idle=True)

    assert payments(till).pay(asked(), scope()) is None
    assert till.payers == []


@pytest.mark.parametrize("kind", [Kind.AGENT, Kind.WORKFLOW, Kind.OTHER])
def test_what_only_contains_calls_pays_nothing(kind: Kind) -> None:
    assert payments(Till(0)).pay(Intent(kind, "invoke_agent", "a"), scope()) is None


def test_a_call_takes_what_it_may_cost_at_most() -> None:
    till = Till(5_000)

    payment = paid(payments(till))

    assert till.free == 5_000 - COST
    assert payment.accounts == ("daily",)
    assert (till.payers[0].model, till.payers[0].run) == ("gpt-4o-mini", "r1")


def test_it_is_settled_by_what_it_used() -> None:
    till = Till(5_000)

    paid(payments(till)).answered(Usage(7, 4))

    assert till.ends == [("settled", Amounts(400, 11, 1))]


def test_what_nobody_knows_is_forfeited() -> None:
    till = Till(5_000)

    paid(payments(till)).answered(None)

    assert [how for how, _ in till.ends] == ["forfeited"]


class Answered(Exception):
    status_code = 503


class ConnectError(Exception):
    """Nothing was sent."""


@pytest.mark.parametrize("error", [Answered(), ConnectError()])
def test_what_the_provider_did_not_do_costs_nothing_but_counts(error: Exception) -> None:
    till = Till(5_000)

    paid(payments(till)).failed(error)

    assert till.ends == [("settled", Amounts(0, 0, 1))]


@pytest.mark.parametrize("error", [TimeoutError(), asyncio.CancelledError(), ConnectionResetError()])
def test_of_a_call_that_broke_off_all_is_forfeited(error: BaseException) -> None:
    till = Till(5_000)

    paid(payments(till)).failed(error)

    assert till.ends == [("forfeited", Amounts(COST, till.ends[0][1].tokens, 1))]


def test_unless_it_is_known_what_it_used() -> None:
    till = Till(5_000)

    paid(payments(till)).failed(TimeoutError(), Usage(1, 2))

    assert till.ends == [("settled", Amounts(200, 3, 1))]


def test_a_tool_pays_its_fee_however_it_ends() -> None:
    till = Till(5_000)
    by = payments(till)

    paid(by, tool("search")).failed(Answered())
    paid(by, tool("search")).answered(None)

    assert till.ends == [("forfeited", Amounts(2_000, 0, 1))] * 2


def test_a_tool_without_a_fee_pays_no_money() -> None:
    assert payments(Till(0)).pay(tool("free"), scope()) is None
    assert payments(Till(0)).pay(tool("other"), scope()) is None


def test_but_it_is_a_call() -> None:
    till = Till(5_000, measures=frozenset({Measure.CALLS}))

    paid(payments(till), tool("free")).answered(None)

    assert till.ends == [("forfeited", Amounts(0, 0, 1))]


def test_a_price_that_nobody_knows_is_not_nothing() -> None:
    refusal = refused(payments(Till(5_000), Book(None)))

    assert refusal.reason == "UNPRICED"
    assert "gpt-4o-mini" in str(refusal)


def test_where_only_tokens_are_counted_no_price_is_needed() -> None:
    till = Till(5_000, measures=frozenset({Measure.TOKENS}))

    paid(payments(till, Book(None))).answered(Usage(5, 5))

    assert till.ends == [("settled", Amounts(0, 10, 1))]


def waits(by: Payments, meanwhile: Callable[[], object]) -> list[object]:
    """What a thread got that had to wait while something happened."""
    results: list[object] = []

    def pay() -> None:
        try:
            results.append(by.pay(asked(), scope()))
        except BreakerOpen as refusal:
            results.append(refusal)

    thread = threading.Thread(target=pay)
    thread.start()
    until(lambda: by.purse.room.waiting)
    meanwhile()
    by.purse.room.made()
    thread.join(5.0)
    assert by.purse.room.waiting == 0
    return results


def test_a_price_that_is_being_looked_up_is_waited_for() -> None:
    book = Book(PENDING)

    [payment] = waits(payments(Till(5_000), book), lambda: setattr(book, "answer", RATES))

    assert isinstance(payment, Payment)


def test_but_not_for_ever() -> None:
    clock = Clock()

    [refusal] = waits(payments(Till(5_000), Book(PENDING), clock), lambda: clock.pass_(PRICED))

    assert isinstance(refusal, BreakerOpen)
    assert refusal.reason == "UNPRICED"


def test_what_others_hold_is_waited_for() -> None:
    till = Till(COST)
    by = payments(till)
    other = paid(by)

    [payment] = waits(by, other.cancel)

    assert isinstance(payment, Payment)
    assert till.left == 1


def test_but_no_longer_than_the_budget_says() -> None:
    till, clock = Till(0, patience=3.0), Clock()
    by = payments(till, clock=clock)

    [refusal] = waits(by, lambda: clock.pass_(3.0))

    assert isinstance(refusal, BreakerOpen)
    assert refusal.reason == "BUDGET"
    assert "within 3 s" in str(refusal)


def test_where_nothing_can_come_nobody_waits() -> None:
    assert refused(payments(Till(0, can_come=False))).reason == "BUDGET"


def test_a_stop_ends_the_wait() -> None:
    by = payments(Till(0))
    key = BreakerKey(Level.RUN, "r1")

    def stop() -> None:
        by.gate._board.post(directive(key))

    [refusal] = waits(by, stop)

    assert isinstance(refusal, BreakerOpen)
    assert refusal.directive.key == key


def test_the_end_of_the_library_ends_the_wait() -> None:
    by = payments(Till(0))

    assert waits(by, by.let_go) == [None]


async def test_a_task_waits_while_others_run() -> None:
    till = Till(COST)
    by = payments(till)
    other = await by.pay_async(asked(), scope())
    assert other is not None
    waiting = asyncio.create_task(by.pay_async(asked(), scope()))
    await asyncio.sleep(0)
    assert till.room.waiting == 1

    other.cancel()

    assert isinstance(await waiting, Payment)


async def test_a_task_that_is_cancelled_while_it_waits_has_taken_nothing() -> None:
    till = Till(0)
    waiting = asyncio.create_task(payments(till).pay_async(asked(), scope()))
    await asyncio.sleep(0)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert (till.ends, till.left, till.room.waiting) == ([], 1, 0)


def test_where_nobody_knows_how_to_wait_it_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanfuse.payments.running_loop", lambda: None)

    with pytest.raises(BreakerOpen):
        asyncio.run(payments(Till(0)).pay_async(asked(), scope()))


def test_strict_waits_to_be_told_what_must_be_paid_for() -> None:
    till = Till(5_000, idle=True, told=False)

    [payment] = waits(payments(till, strict=True), lambda: setattr(till, "told", True))

    assert isinstance(payment, Payment)


def test_and_is_refused_when_nobody_tells() -> None:
    till, clock = Till(5_000, idle=True, told=False), Clock()

    [refusal] = waits(payments(till, clock=clock, strict=True), lambda: clock.pass_(OPENING))

    assert isinstance(refusal, BreakerOpen)
    assert "strict is set" in str(refusal)


def test_without_it_calls_are_made() -> None:
    assert payments(Till(0, idle=True, told=False)).pay(asked(), scope()) is None


def test_a_fault_of_ours_costs_the_payment_and_not_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")
    by = payments(Till(5_000))
    monkeypatch.setattr(by.sources.expecting, "expect", lambda intent: 1 / 0)

    assert by.pay(asked(), scope()) is None


def test_a_request_that_goes_to_another_model_after_all_is_paid_by_that_ones_price() -> None:
    till, book = Till(5_000), Book()
    payment = paid(payments(till, book))

    book.answer = Rates(0, 300 * YOCTO_PER_MICRO)
    payment.answered(Usage(5, 4))

    assert till.ends == [("settled", Amounts(1_200, 9, 1))]
