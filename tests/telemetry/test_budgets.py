"""Budgets as series: one unit in a name, absent where nothing is known, never infinite, bounded."""

from __future__ import annotations

import math

from prometheus_client.parser import text_string_to_metric_families
from tests.engine.budgets.days import DAILY, HOURLY, Day
from tests.telemetry.pages import page

from spanfuse_processor.engine.alerts import Condition
from spanfuse_processor.engine.budget import Budget, Measure, Period
from spanfuse_processor.telemetry.budgets import MAX_BUDGETS, STATUSES, BudgetBoard

TOKENS = Budget("tokens", 1_000_000, measure=Measure.TOKENS)
RUN = Budget("run-cap", 1_000_000, period=Period.RUN)


def shown(day: Day, board: BudgetBoard | None = None) -> str:
    board = board or BudgetBoard()
    board.expect([each.name for each in day.budgets])
    board.views = day.treasury.front(day.wall)
    board.spent = {each.name: (each.measure, day.treasury.spent[each.name]) for each in day.budgets}
    return page(board.rows())


def test_money_is_in_dollars_and_tokens_are_tokens() -> None:
    day = Day(DAILY, TOKENS)
    day.spend(2.5)

    text = shown(day)

    assert 'spanfuse_budget_limit_usd{budget="daily"} 10.0' in text
    assert 'spanfuse_budget_window_spent_usd{budget="daily"} 2.5' in text
    assert 'spanfuse_budget_spend_usd_total{budget="daily"} 2.5' in text
    assert 'spanfuse_budget_reserved_usd{budget="daily"} 0.0' in text
    assert 'spanfuse_budget_limit_tokens{budget="tokens"} 1e+06' in text
    assert 'spanfuse_budget_window_spent_tokens{budget="tokens"} 100.0' in text
    assert 'spanfuse_budget_limit_usd{budget="tokens"}' not in text


def test_a_window_has_a_length_and_an_end() -> None:
    text = shown(Day(HOURLY))

    assert 'spanfuse_budget_window_seconds{budget="hourly"} 3600.0' in text
    assert 'spanfuse_budget_window_end_timestamp_seconds{budget="hourly"} 1.70001e+09' in text
    assert 'spanfuse_budget_warn_horizon_seconds{budget="hourly"} 540.0' in text


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

    text = shown(day)

    values = {status: f'forecast_status{{budget="hourly",status="{status}"}} ' for status in STATUSES}
    assert [status for status, line in values.items() if f"{line}1.0" in text] == ["exhausted"]
    assert sum(f"{line}0.0" in text for line in values.values()) == 3


def test_alerts_exist_at_zero_for_every_budget_and_for_runs() -> None:
    board = BudgetBoard()
    board.expect(["daily"])
    board.told("daily", Condition.MARK)

    text = shown(Day(DAILY), board)

    for condition in Condition:
        expected = 1.0 if condition is Condition.MARK else 0.0
        line = f'spanfuse_budget_alerts_total{{budget="daily",condition="{condition.value}"}} {expected}'
        assert line in text
    assert 'spanfuse_budget_alerts_total{budget="run",condition="steps"} 0.0' in text


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

    text = shown(day, board)

    assert text.count("spanfuse_budget_limit_usd{") == MAX_BUDGETS
    folded = len(budgets) - MAX_BUDGETS
    assert f'spanfuse_budget_spend_usd_total{{budget="other"}} {0.5 * folded}' in text
    assert board.names.overflow > 0


def test_numbers_from_arrays_are_made_plain() -> None:
    day = Day(HOURLY)
    for _ in range(200):
        day.spend(0.002, after=5.0)
    board = BudgetBoard()
    board.expect(["hourly"])
    board.views = day.treasury.front(day.wall)

    assert {type(row[2]) for row in board.rows() if row[0].startswith("spanfuse_budget_forecast")} == {float}


def test_how_long_a_look_ahead_took_is_there_before_the_first() -> None:
    board = BudgetBoard()
    before = page(board.rows())
    board.took.observe(seconds=0.003)

    assert "spanfuse_forecast_duration_seconds_count 0.0" in before
    assert 'spanfuse_forecast_duration_seconds_bucket{le="0.005"} 1.0' in page(board.rows())
