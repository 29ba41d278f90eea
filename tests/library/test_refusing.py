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

    assert said.startswith("budget/daily[ann] is stopped (BUDGET): the call may cost 0.1000 USD; ")
    assert "0.0400 USD is left" in said
    assert "others" not in said


def test_it_says_that_others_hold_it() -> None:
    said = words(Refusal.of(Short(ANN, Measure.TOKENS, 5_000, 9_000, True, 2.5)))

    assert "the call may cost 5,000 tokens; 9,000 tokens is left, which others hold" in said
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
