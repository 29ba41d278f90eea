"""Budgets as series: one unit in a name, absent where nothing is known, never infinite, bounded."""

from __future__ import annotations

import math

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from tests.engine.budgets.days import DAILY, HOURLY, Day

from spanfuse_processor.engine.alerts import Condition
from spanfuse_processor.engine.budget import Budget, Measure, Period
from spanfuse_processor.telemetry.budgets import MAX_BUDGETS, STATUSES, BudgetBoard, BudgetSeries

TOKENS = Budget("tokens", 1_000_000, measure=Measure.TOKENS)
RUN = Budget("run-cap", 1_000_000, period=Period.RUN)


def shown(day: Day, board: BudgetBoard | None = None) -> str:
    board = board or BudgetBoard()
    board.expect([each.name for each in day.budgets])
    board.views = day.treasury.front(day.wall)
    board.spent = {each.name: (each.measure, day.treasury.spent[each.name]) for each in day.budgets}
    registry = CollectorRegistry()
    registry.register(BudgetSeries(board))
    return generate_latest(registry).decode()


def test_money_is_in_dollars_and_tokens_are_tokens() -> None:
    day = Day(DAILY, TOKENS)
    day.spend(2.5)

    page = shown(day)

    assert 'spanfuse_budget_limit_usd{budget="daily"} 10.0' in page
    assert 'spanfuse_budget_window_spent_usd{budget="daily"} 2.5' in page
    assert 'spanfuse_budget_spend_usd_total{budget="daily"} 2.5' in page
    assert 'spanfuse_budget_reserved_usd{budget="daily"} 0.0' in page
    assert 'spanfuse_budget_limit_tokens{budget="tokens"} 1e+06' in page
    assert 'spanfuse_budget_window_spent_tokens{budget="tokens"} 100.0' in page
    assert 'spanfuse_budget_limit_usd{budget="tokens"}' not in page


def test_a_window_has_a_length_and_an_end() -> None:
    page = shown(Day(HOURLY))

    assert 'spanfuse_budget_window_seconds{budget="hourly"} 3600.0' in page
    assert 'spanfuse_budget_window_end_timestamp_seconds{budget="hourly"} 1.70001e+09' in page
    assert 'spanfuse_budget_warn_horizon_seconds{budget="hourly"} 540.0' in page


def test_exhaustion_is_there_only_while_it_is_forecast() -> None:
    day = Day(HOURLY)
    before = shown(day)
    for _ in range(200):
        day.spend(0.002, after=5.0)
    steady = shown(day)

    assert "forecast_exhaustion_timestamp_seconds{" not in before
    assert 'forecast_status{budget="hourly",status="insufficient_data"} 1.0' in before
    assert 'spanfuse_budget_forecast_exhaustion_timestamp_seconds{budget="hourly"}' in steady
    assert 'forecast_status{budget="hourly",status="exhausting"} 1.0' in steady
    assert 'spanfuse_budget_forecast_window_end_usd{band="p50",budget="hourly"}' in steady


def test_a_status_is_always_there_and_only_one_holds() -> None:
    day = Day(HOURLY)
    day.spend(2.0)

    page = shown(day)

    values = {status: f'forecast_status{{budget="hourly",status="{status}"}} ' for status in STATUSES}
    assert [status for status, text in values.items() if f"{text}1.0" in page] == ["exhausted"]
    assert sum(f"{text}0.0" in page for text in values.values()) == 3


def test_alerts_exist_at_zero_for_every_budget_and_for_runs() -> None:
    board = BudgetBoard()
    board.expect(["daily"])
    board.told("daily", Condition.MARK)

    page = shown(Day(DAILY), board)

    for condition in Condition:
        expected = 1.0 if condition is Condition.MARK else 0.0
        text = f'spanfuse_budget_alerts_total{{budget="daily",condition="{condition.value}"}} {expected}'
        assert text in page
    assert 'spanfuse_budget_alerts_total{budget="run",condition="steps"} 0.0' in page


def test_nothing_is_infinite_or_no_number() -> None:
    day = Day(DAILY, HOURLY, RUN, TOKENS, Budget("rolling", 100, period=Period.ROLLING, window=60.0))
    for _ in range(60):
        day.spend(0.01, run="r1")

    families = list(text_string_to_metric_families(shown(day)))

    assert families
    for family in families:
        for sample in family.samples:
            assert math.isfinite(sample.value), sample
    assert "spanfuse_budget_window_seconds" in {family.name for family in families}


def test_budgets_past_the_bound_share_a_counter_and_are_counted() -> None:
    budgets = [Budget(f"b{number}", 1_000_000) for number in range(MAX_BUDGETS + 10)]
    day, board = Day(*budgets), BudgetBoard()
    day.spend(0.5)

    page = shown(day, board)

    assert page.count("spanfuse_budget_limit_usd{") == MAX_BUDGETS
    folded = len(budgets) - MAX_BUDGETS
    assert f'spanfuse_budget_spend_usd_total{{budget="other"}} {0.5 * folded}' in page
    assert board.names.overflow > 0
