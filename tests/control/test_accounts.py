"""Budgets and spend are shown in decimal money, and nothing that is shown is infinite."""

from __future__ import annotations

import json

from tests.control.spending import DAILY, NOON, forecast, of_tokens, view

from spanfuse_processor.control.accounts import show_account, show_spend
from spanfuse_processor.engine.budget import Reaction
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.store import MOST_ROWS, SpendRow


def test_money_is_shown_in_dollars() -> None:
    shown = show_account(view(), NOON)

    assert (shown["account"], shown["values"]) == ("daily[ann]", {"user": "ann"})
    assert (shown["limit"], shown["spent"], shown["reserved"], shown["left"]) == (10.0, 8.1, 0.2, 1.7)
    assert (shown["share"], shown["resets_in_seconds"]) == (0.81, 7_200)
    assert shown["forecast"] is None


def test_tokens_are_shown_as_they_are_and_a_run_never_resets() -> None:
    shown = show_account(of_tokens(), NOON)

    assert (shown["limit"], shown["spent"], shown["measure"]) == (1_000, 10, "tokens")
    assert (shown["end"], shown["resets_in_seconds"]) == (None, None)
    assert "Infinity" not in json.dumps(shown)


def test_a_budget_of_nothing_has_no_share() -> None:
    assert show_account(view(balance=Balance(0), budget=DAILY), NOON)["share"] is None


def test_a_forecast_is_shown_with_its_band_and_its_own_record() -> None:
    shown = show_account(view(forecast=forecast(), reactions=frozenset({Reaction.THROTTLE})), NOON)

    assert shown["reactions"] == ["throttle"]
    assert shown["forecast"] == {
        "exhausted_at": NOON + 3_600,
        "exhausted_in_seconds": 3_600,
        "rate_short": 0.0005,
        "rate_long": 0.0004,
        "total_low": 9.0,
        "total_mid": 11.0,
        "total_high": 12.5,
        "exceed_probability": 0.8,
        "coverage": 0.79,
    }


def test_what_is_not_forecast_is_null() -> None:
    shown = show_account(view(forecast=forecast(exhausted_at=None, total_low=None)), NOON)["forecast"]

    assert (shown["exhausted_at"], shown["exhausted_in_seconds"], shown["total_low"]) == (None, None, None)


def test_spend_has_its_fields_its_figures_and_its_sum() -> None:
    rows = [
        SpendRow(("mail", "gpt-4o"), 2, 30, 4, 5, 1_500_000, 500_000, 1),
        SpendRow(("", "x"), 1, 1, 1, 0, 1, 0, 0),
    ]

    shown = show_spend(("feature", "model"), 1.0, 2.0, rows)

    assert shown["rows"][0] == {
        "feature": "mail",
        "model": "gpt-4o",
        "calls": 2,
        "input_tokens": 30,
        "output_tokens": 4,
        "cached_tokens": 5,
        "cost_usd": 1.5,
        "estimated_cost_usd": 0.5,
        "unpriced_calls": 1,
    }
    assert (shown["total"]["calls"], shown["total"]["cost_usd"]) == (3, 1.500001)
    assert shown["complete"]


def test_no_spend_sums_up_to_nothing() -> None:
    shown = show_spend((), 1.0, 2.0, [])

    assert (shown["rows"], shown["total"]["cost_usd"]) == ([], 0.0)


def test_an_answer_that_was_cut_says_so() -> None:
    row = SpendRow(("x",), 1, 1, 1, 0, 1, 0, 0)

    assert not show_spend(("run",), 1.0, 2.0, [row] * MOST_ROWS)["complete"]
