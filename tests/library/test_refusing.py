"""Why a call is not paid for, in words that say what to do."""

from __future__ import annotations

import pytest
from tests.library.making import chat

from spanfuse.errors import BreakerOpen
from spanfuse.purse import Short
from spanfuse.refusing import Refusal, never_reached, unopened, unpriced, unready
from spanfuse_processor.engine.budget import Account, Measure

ANN = Account("daily", ("ann",))


def words(refusal: Refusal) -> str:
    return str(BreakerOpen(refusal.directive()))


def test_it_says_what_the_call_needs_and_what_is_left() -> None:
    said = words(Refusal.of(Short(ANN, Measure.USD, 100_000, 40_000, False, 5.0)))

    assert said == ("budget/daily[ann] is stopped (BUDGET): the call may cost 0.10 USD; 0.04 USD is left.")


def test_it_says_of_how_much_when_there_is_more_and_what_helps() -> None:
    short = Short(ANN, Measure.USD, 1_100, 700, False, 5.0, limit=50_000, renews_in=11_520.0)

    said = words(Refusal.of(short))

    assert "the call may cost 0.0011 USD; 0.0007 of 0.0500 USD is left. The budget begins anew at 20" in said
    assert "UTC, in 3 h 12 min; a higher limit helps at once" in said


def test_where_there_is_no_next_period_a_higher_limit_helps() -> None:
    said = words(Refusal.of(Short(ANN, Measure.CALLS, 1, 0, False, 5.0, limit=200)))

    assert "the call may take 1 call; 0 of 200 calls are left. A higher limit helps at once" in said


def test_a_call_that_is_larger_than_the_limit_is_told_so() -> None:
    said = words(
        Refusal.of(Short(ANN, Measure.USD, 60_000, 50_000, False, 5.0, limit=50_000, renews_in=60.0))
    )

    assert "more than the whole limit" in said
    assert "begins anew" not in said


@pytest.mark.parametrize("can_come", [True, False])
def test_a_processor_that_has_just_started_is_the_reason_and_not_others(can_come: bool) -> None:
    short = Short(ANN, Measure.USD, 1_100, 50_000, can_come, 5.0, limit=50_000, renews_in=60.0, lends_in=22.4)

    said = words(Refusal.of(short))

    assert "the processor has just started" in said
    assert "lends again in 22 s" in said
    assert "nothing came back" not in said
    assert "0.05" not in said


@pytest.mark.parametrize("amount", [1, 7, 90, 1_100])
def test_small_money_is_never_said_to_be_nothing(amount: int) -> None:
    said = words(Refusal.of(Short(ANN, Measure.USD, 2 * amount, amount, False, 5.0, limit=50_000)))

    assert "cost 0.00 " not in said
    assert "0.0000 " not in said


def test_it_says_that_others_hold_it() -> None:
    said = words(Refusal.of(Short(ANN, Measure.TOKENS, 5_000, 9_000, True, 2.5)))

    assert "the call may take 5,000 tokens; 9,000 tokens are left, which others hold" in said
    assert "within 2.5 s" in said


def test_it_says_that_nobody_could_be_asked() -> None:
    said = words(Refusal.of(Short(ANN, Measure.USD, 1, None, True, 5.0, "UNAVAILABLE")))

    assert "nobody could say how much is left (UNAVAILABLE)" in said


def test_an_unknown_price_names_the_model_and_where_to_write_it() -> None:
    refusal = unpriced(chat())

    assert refusal.reason == "UNPRICED"
    assert "openai/gpt-4o-mini" in refusal.message
    assert "policy.prices" in refusal.message
    assert unready(chat()).reason == "UNPRICED"


def test_who_is_not_told_what_must_be_paid_for_says_so() -> None:
    assert "strict is set" in unopened().message


def test_it_is_an_order_of_this_process_alone() -> None:
    assert unopened().directive().issuer == "local"


class Answered(Exception):
    """As an SDK raises it for an answer that is an error."""

    status_code = 429


class ConnectError(Exception):
    """As the HTTP library raises it; the SDK wraps it."""


class ReadTimeout(Exception):
    """Likewise."""


def wrapped(cause: Exception) -> Exception:
    try:
        raise RuntimeError("connection error") from cause
    except RuntimeError as error:
        return error


@pytest.mark.parametrize("error", [Answered(), wrapped(ConnectError())])
def test_what_the_provider_refused_or_never_got_costs_nothing(error: Exception) -> None:
    assert never_reached(error)


@pytest.mark.parametrize("error", [wrapped(ReadTimeout()), ValueError("odd"), KeyboardInterrupt()])
def test_of_anything_else_nobody_knows(error: BaseException) -> None:
    assert not never_reached(error)
