"""Calls of strict budgets: what they take before they are made, and what they are settled by."""

from __future__ import annotations

import asyncio

import pytest
from tests.library.making import scope, tool
from tests.library.paying import COST, Book, asked, paid, payments, refused
from tests.library.purses.till import Till

from spanfuse.provider import Intent
from spanfuse_processor.engine.budget import Amounts, Measure
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates


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

    presumed = paid(payments(till)).answered(None)

    assert [how for how, _ in till.ends] == ["forfeited"]
    assert presumed == COST


def test_what_is_known_is_not_presumed() -> None:
    assert paid(payments(Till(5_000))).answered(Usage(7, 4)) is None
    assert paid(payments(Till(5_000))).failed(ConnectError()) is None
    assert paid(payments(Till(5_000)), tool("search")).answered(None) is None


def test_who_counts_money_that_was_not_taken_has_what_the_span_guesses() -> None:
    till = Till(5_000, measures=frozenset({Measure.TOKENS}))

    presumed = paid(payments(till)).answered(None, guess=Usage(2, 3))

    assert (presumed, till.ends[0][0], till.ends[0][1].usd) == (None, "settled", 300)
    assert till.ends[0][1].tokens > 10


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
