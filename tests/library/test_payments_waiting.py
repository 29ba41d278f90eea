"""Calls of strict budgets: for what they wait, and for how long."""

from __future__ import annotations

import asyncio
import threading

import pytest
from tests.library.making import Clock, scope
from tests.library.paying import COST, RATES, Book, asked, paid, payments, refused, waits
from tests.library.purses.till import Till
from tests.waiting import until

from spanfuse import reaper
from spanfuse.errors import BreakerOpen
from spanfuse.payment import Payment
from spanfuse.payments import IN_LOOP, OPENING, PRICED
from spanfuse.testing import directive
from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.budgets.requirements import requirement
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.pricing import PENDING
from spanfuse_processor.wire.answers import BOUNDS, Blind


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


class Dropped:
    """A stream as SDKs have them: in a cycle, so that only the collector finds it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_a_dropped_stream_of_this_process_holds_is_found_before_anybody_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reaper, "_next_sweep", 0.0)
    till = Till(COST)
    by = payments(till)
    reaper.when_dropped(Dropped(), paid(by).cancel)
    till.patience = 0.0  # who waits is refused

    assert isinstance(paid(by), Payment)


def test_but_no_longer_than_the_budget_says() -> None:
    till, clock = Till(0, patience=3.0), Clock()
    by = payments(till, clock=clock)

    [refusal] = waits(by, lambda: clock.pass_(3.0))

    assert isinstance(refusal, BreakerOpen)
    assert refusal.reason == "BUDGET"
    assert "within 3 s" in str(refusal)


def test_where_nothing_can_come_nobody_waits() -> None:
    assert refused(payments(Till(0, can_come=False))).reason == "BUDGET"


def test_the_processor_hears_how_many_were_refused_by_its_order() -> None:
    by = payments(Till(0, can_come=False, order=requirement(Budget("daily", 1, strict=True), 1)))

    refused(by)
    refused(by)

    heard = {each.directive.id: each.calls_refused for each in by.effects.drain()}
    assert heard["budget/daily/lease"] == 2


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


async def test_a_thread_that_runs_tasks_does_not_wait_long_for_what_they_may_hold() -> None:
    clock = Clock()
    by = payments(Till(0, patience=60.0), clock=clock)

    def let_time_pass() -> None:
        until(lambda: by.purse.room.waiting)
        clock.pass_(IN_LOOP)
        by.purse.room.made()

    meanwhile = threading.Thread(target=let_time_pass)
    meanwhile.start()
    refusal = refused(by)
    meanwhile.join()

    assert refusal.reason == "BUDGET"


def test_how_long_an_answer_took_is_counted_where_it_was_not_given_at_once() -> None:
    till, clock = Till(COST), Clock()
    by = payments(till, clock=clock)
    other = paid(by)

    def come_back() -> None:
        clock.pass_(0.2)
        other.cancel()

    waits(by, come_back)

    answers = by.effects.answering.take()
    assert answers is not None
    assert list(answers.waits) == ["allow"]
    assert answers.waits["allow"].seconds == pytest.approx(0.2)
    assert answers.waits["allow"].counts[BOUNDS.index(0.25)] == 1
    assert by.effects.answering.take() is None


def test_a_refusal_after_waiting_is_counted_as_that_and_as_blind_where_nobody_could_be_asked() -> None:
    till, clock = Till(5_000, idle=True, told=False), Clock()
    by = payments(till, clock=clock, strict=True)

    waits(by, lambda: clock.pass_(OPENING))

    answers = by.effects.answering.take()
    assert answers is not None
    assert list(answers.waits) == ["deny"]
    assert answers.blind == {"": Blind(denied=1)}


def test_a_call_that_is_let_through_for_want_of_anybody_to_ask_is_counted() -> None:
    by = payments(Till(0, idle=True, told=False))
    by.pay(asked(), scope())

    answers = by.effects.answering.take()
    assert answers is not None
    assert (answers.waits, answers.blind) == ({}, {"": Blind(allowed=1)})
