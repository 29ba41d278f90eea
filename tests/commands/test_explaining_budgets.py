"""What budgets mean for a call: which it is charged to, and what it would take to know."""

from __future__ import annotations

import pytest

from spanfuse_processor.commands.explaining_budgets import describe, explain_budgets
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.policy_file import policy_from_mapping
from spanfuse_processor.engine.reach import Payer

BUDGETS = {
    "all": {"usd": 500, "period": "monthly", "day": 3, "reset": "06:00", "zone": "Europe/Berlin"},
    "each": {"usd": 2.5, "per": "user", "strict": True, "marks": [{"at": "90%", "react": "throttle"}]},
    "mail": {"tokens": 1_000_000, "match": {"feature": "mail"}, "period": "rolling", "window": "90m"},
    "run": {"calls": 40, "period": "run", "mode": "shadow", "marks": []},
}
POLICY = policy_from_mapping({"budgets": BUDGETS})


def test_a_call_is_charged_to_every_budget_that_covers_it() -> None:
    assert list(explain_budgets(POLICY, Payer(feature="mail", user="ann", run="r1"))) == [
        "budgets:",
        "  all: 500 USD a month from day 3 06:00 (Europe/Berlin); "
        "warns at 50 %, warns at 80 %, stops at 100 %",
        "  each[ann]: 2.5 USD a day (UTC), strict; throttles at 90 %",
        "  mail: 1,000,000 tokens in any 90 minutes; warns at 50 %, warns at 80 %, stops at 100 %",
        "  run[r1]: 40 calls a run; no marks (mode: shadow)",
    ]


def test_what_is_counted_by_something_unsaid_is_named_with_it() -> None:
    lines = list(explain_budgets(POLICY, Payer(feature="chat")))

    assert lines[2:] == [
        "  each: counted by user, which the call does not say",
        "  run: counted by run, which the call does not say",
    ]


def test_that_no_budget_covers_a_call_is_said_and_of_no_budgets_nothing() -> None:
    policy = policy_from_mapping({"budgets": {"mail": BUDGETS["mail"]}})

    assert list(explain_budgets(policy, Payer(feature="chat"))) == ["budgets: none covers it"]
    assert list(explain_budgets(Policy(), Payer(feature="chat"))) == []


def test_periods_are_said_with_where_they_begin() -> None:
    said = {
        "hour": {"usd": 1, "period": "hourly", "reset": "00:15"},
        "week": {"usd": 1, "period": "weekly", "weekday": "sunday"},
        "two": {"usd": 1, "period": "rolling", "window": "7d"},
        "odd": {"usd": 0.000001, "period": "rolling", "window": 61},
    }
    lines = [describe(each).partition(";")[0] for each in policy_from_mapping({"budgets": said}).budgets]

    assert lines == [
        "1 USD an hour from :15 (UTC)",
        "1 USD a week from Sunday (UTC)",
        "1 USD in any 7 days",
        "0.000001 USD in any 61 seconds",
    ]


@pytest.mark.parametrize(
    ("forecast", "said"),
    [
        ({}, "stops at 100 %"),
        ({"react": "throttle"}, "stops at 100 %, throttles when a forecast has it run out early"),
        ({"react": "stop", "within": 0}, "stops at 100 %"),
    ],
)
def test_what_a_forecast_may_do_is_said(forecast: dict[str, object], said: str) -> None:
    [budget] = policy_from_mapping({"budgets": {"all": {"usd": 1, "forecast": forecast}}}).budgets

    assert describe(budget).endswith(said)
