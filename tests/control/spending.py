"""Accounts with money spent in them, for what shows them."""

from __future__ import annotations

from typing import Any

from spanfuse_processor.engine.budget import Account, Budget, Measure
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.treasury import AccountView
from spanfuse_processor.engine.verdicts import Mode

NOON = 1_780_000_000.0
DAILY = Budget("daily", 10_000_000, per=("user",), reach=Reach(), mode=Mode.ENFORCE, strict=True)
BALANCE = Balance(10_000_000, 8_100_000, 200_000, NOON - 3_600, NOON + 7_200, 12, 5, 1, 100_000, 7)


def view(values: tuple[str, ...] = ("ann",), **changes: Any) -> AccountView:
    """Ann's day: 8.10 of 10 USD are spent."""
    usual = AccountView(Account("daily", values), DAILY, BALANCE, None, frozenset())
    return usual._replace(**changes)


def of_tokens() -> AccountView:
    """A budget of tokens without an end."""
    budget = Budget("run", 1_000, measure=Measure.TOKENS, per=("run",))
    return AccountView(Account("run", ("r1",)), budget, Balance(1_000, 10, 0, 0.0), None, frozenset())


def forecast(**changes: Any) -> Forecast:
    """It runs out in an hour."""
    usual = Forecast(
        at=NOON,
        end=NOON + 7_200,
        period=86_400.0,
        spent=8_100_000.0,
        limit=10_000_000.0,
        rate_short=500.0,
        rate_long=400.0,
        tte_short=3_800.0,
        tte_long=4_750.0,
        exhausted_at=NOON + 3_600,
        total_low=9_000_000.0,
        total_mid=11_000_000.0,
        total_high=12_500_000.0,
        exceed_probability=0.8,
        coverage=0.79,
        observations=12,
    )
    return usual._replace(**changes)
