"""The last act's facts: a policy that can be obeyed, and a beginning that would never run out."""

from __future__ import annotations

from decimal import Decimal
from itertools import islice

import yaml

from spanfuse.demo import allowance
from spanfuse.demo.accounts import price
from spanfuse.demo.provider_server import MODELS
from spanfuse.demo.scenarios import MODEL
from spanfuse.demo.scripts import reply_to
from spanfuse.demo.usage import Tally, measure
from spanfuse_processor.engine.budget import Budget, Mark, Measure, Reaction
from spanfuse_processor.engine.policy_file import policy_from_mapping

ASKED = {"role": "user", "content": next(allowance.requests())}


def budgets() -> dict[str, Budget]:
    policy = policy_from_mapping(yaml.safe_load(allowance.POLICY)["policy"])
    return {budget.name: budget for budget in policy.budgets}


def bill(model: str) -> Decimal:
    """US dollars for one report."""
    tally = Tally()
    tally.add(measure([ASKED], []), 0)
    tally.produced(reply_to([ASKED], frozenset()))
    return price(model, tally)


def test_the_policy_degrades_by_forecast_and_throttles_at_a_mark() -> None:
    money, calls = budgets()[allowance.MONEY], budgets()[allowance.CALLS]

    assert (money.measure, money.limit, money.window) == (Measure.USD, 1_000_000, allowance.PERIOD)
    assert money.forecast.react is Reaction.DEGRADE
    assert money.degrading.instead_of(MODEL) == allowance.CHEAPER
    assert money.degrading.output_tokens == allowance.FEWER
    assert (calls.measure, calls.marks[0]) == (Measure.CALLS, Mark(0.75, Reaction.THROTTLE))
    assert calls.forecast.within == 0


def test_what_one_helper_does_could_go_on_for_ever() -> None:
    a_period = allowance.PERIOD / (MODELS[MODEL] * 0.75 + allowance.PAUSE)
    calls = budgets()[allowance.CALLS]

    assert a_period <= calls.marks[0].at * calls.limit
    assert a_period * float(bill(MODEL)) < 0.75 * allowance.LIMIT_USD


def test_what_all_helpers_do_would_not_last_for_half_an_hour() -> None:
    a_second = allowance.HELPERS / (MODELS[MODEL] * 1.25 + allowance.PAUSE)

    assert a_second * allowance.PERIOD / 2 * float(bill(MODEL)) > allowance.LIMIT_USD


def test_no_two_requests_are_alike() -> None:
    assert len(set(islice(allowance.requests(), 200))) == 200
