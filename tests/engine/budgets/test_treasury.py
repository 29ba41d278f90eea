"""The treasury: what is told and ordered when money runs short, and when that ends."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engine.budgets.days import DAILY, HOUR, HOURLY, MIDNIGHT, SLOWING, Day

from spanfuse_processor.engine.budget import (
    Account,
    Budget,
    Forecasting,
    Mark,
    Measure,
    Period,
    Reaction,
)
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Payer, Reach


class TestMarks:
    def test_each_is_told_once_a_period_and_the_whole_limit_stops(self) -> None:
        day = Day(DAILY)
        for _ in range(120):
            day.spend(0.1)

        assert [each for each in day.told if each[1]] == [("mark", 0.5), ("mark", 0.8), ("mark", 1.0)]
        assert day.orders == ["stop"]

    def test_a_big_call_passes_several_at_once(self) -> None:
        day = Day(DAILY)

        said = day.spend(12.0)

        assert [note.event.share for note in said if note.event] == [0.5, 0.8, 1.0]

    def test_what_is_ordered_reaches_the_calls_that_are_charged_and_no_others(self) -> None:
        day = Day(Budget("chat", 1_000_000, reach=Reach(feature=("chat-*",)), per=("user",)))
        day.spend(2.0, feature="chat-web", user="ann*")
        directive = day.notes[-1].directive

        assert directive is not None
        assert directive.key == BreakerKey(Level.BUDGET, "chat[ann*]")
        assert directive.reach is not None
        assert directive.reach.covers(Payer(feature="chat-mail", user="ann*"))
        assert not directive.reach.covers(Payer(feature="chat-mail", user="anna"))
        assert not directive.reach.covers(Payer(feature="mail", user="ann*"))

    def test_who_is_not_covered_is_not_charged(self) -> None:
        day = Day(Budget("chat", 1_000_000, reach=Reach(feature=("chat",))))
        day.spend(5.0, feature="mail")

        assert day.notes == []
        assert day.treasury.views(day.wall) == []

    def test_with_the_period_the_order_ends_and_the_marks_begin_anew(self) -> None:
        day = Day(HOURLY)
        day.spend(1.0)
        day.wait(HOUR)
        day.spend(0.6)

        assert day.orders == ["stop", "-stop"]
        assert day.told == [("mark", 0.5), ("mark", 0.8), ("mark", 1.0), ("mark", 0.5)]

    def test_an_order_holds_until_the_period_ends_and_no_longer(self) -> None:
        day = Day(HOURLY)
        day.spend(1.0, after=600.0)

        assert [note.directive.ttl for note in day.notes if note.directive] == [3_000.0]
        assert day.treasury.next_deadline(day.wall) == MIDNIGHT + HOUR

    def test_tokens_and_calls_are_counted_as_such(self) -> None:
        day = Day(
            Budget("tokens", 250, Measure.TOKENS, marks=(Mark(1.0),)),
            Budget("calls", 2, Measure.CALLS, marks=(Mark(1.0),)),
        )
        for _ in range(3):
            day.spend(0.0)

        assert [note.event.account.budget for note in day.notes if note.event] == ["calls", "tokens"]

    def test_a_run_that_spent_its_budget_is_stopped_and_others_go_on(self) -> None:
        day = Day(Budget("per-run", 1_000_000, period=Period.RUN, marks=(Mark(1.0, Reaction.STOP),)))
        day.spend(1.0, run="a")
        day.spend(0.2, run="b")

        (directive,) = [note.directive for note in day.notes if note.directive]
        assert directive.reach is not None
        assert directive.reach.covers(Payer(run="a"))
        assert not directive.reach.covers(Payer(run="b"))

    def test_a_rolling_one_recovers_as_old_spend_falls_out_of_its_window(self) -> None:
        day = Day(Budget("rolling", 1_000_000, period=Period.ROLLING, window=HOUR))
        day.spend(1.0)
        day.wait(1.2 * HOUR)

        assert day.orders == ["stop", "-stop"]

    def test_a_rolling_one_that_hovers_at_a_mark_tells_of_it_once_in_its_window(self) -> None:
        marks = (Mark(0.5, Reaction.DEGRADE),)
        day = Day(Budget("rolling", 1_000_000, period=Period.ROLLING, window=HOUR, marks=marks))
        for _ in range(50):  # ten cents age, ten come: between 0.48 and 0.50
            day.spend(0.01, after=HOUR / 49)
        for _ in range(200):
            day.spend(0.01, after=HOUR / 50)

        assert day.told == [("mark", 0.5)] * len(day.told)
        assert 1 <= len(day.told) <= 5
        assert len(day.orders) <= 2

    def test_and_tells_of_it_again_when_it_comes_back_later(self) -> None:
        day = Day(Budget("rolling", 1_000_000, period=Period.ROLLING, window=HOUR))
        for _ in range(2):
            day.spend(0.6)
            day.wait(1.2 * HOUR)

        assert day.told == [("mark", 0.5)] * 2


class TestThrottling:
    def test_it_goes_at_the_budgets_pace(self) -> None:
        day = Day(replace(DAILY, marks=SLOWING, pace=0.25))
        day.spend(8.0)

        assert [note.directive.params for note in day.notes if note.directive] == [
            (("calls_per_second", 0.25),)
        ]

    def test_after_a_minute_it_turns_into_a_stop(self) -> None:
        day = Day(replace(DAILY, marks=SLOWING))
        day.spend(8.0)
        day.wait(59.0)
        assert day.orders == ["throttle"]
        day.wait(2.0)

        assert day.orders == ["throttle", "-throttle", "stop"]
        assert day.told[-1] == ("blocked", 0.0)

    def test_so_it_does_when_it_still_costs_a_fiftieth_of_the_limit(self) -> None:
        day = Day(replace(DAILY, limit=100_000_000, marks=SLOWING))
        day.spend(80.0)
        day.spend(1.9)
        assert day.orders == ["throttle"]
        day.spend(0.2)

        assert day.orders == ["throttle", "-throttle", "stop"]

    def test_but_a_quarter_of_a_dollar_it_always_may(self) -> None:
        day = Day(replace(DAILY, limit=1_000_000, marks=SLOWING))
        day.spend(0.8)
        day.spend(0.1)

        assert day.orders == ["throttle"]

    def test_of_a_rolling_one_the_stop_ends_with_what_it_was_throttled_for(self) -> None:
        rolling = Budget("rolling", 10_000_000, period=Period.ROLLING, window=HOUR, marks=SLOWING)
        day = Day(rolling)
        day.spend(8.5)
        day.wait(61.0)
        assert day.orders == ["throttle", "-throttle", "stop"]

        day.wait(1.2 * HOUR)

        assert day.orders == ["throttle", "-throttle", "stop", "-stop"]

    def test_so_it_does_when_a_forecast_was_the_reason_and_is_calm_again(self) -> None:
        forecast = Forecasting(react=Reaction.THROTTLE)
        day = Day(replace(HOURLY, limit=10_000_000, marks=(), forecast=forecast))
        for _ in range(120):
            day.spend(0.005, after=5.0)
        for _ in range(20):
            day.spend(0.25, after=5.0)
        day.wait(61.0)
        assert day.orders == ["throttle", "-throttle", "stop"]
        for _ in range(120):
            day.wait(10.0)

        assert day.orders == ["throttle", "-throttle", "stop", "-stop"]

    def test_zero_keeps_it_throttling(self) -> None:
        day = Day(replace(DAILY, marks=SLOWING, block_after=0.0))
        day.spend(8.0)
        day.wait(600.0)

        assert day.orders == ["throttle"]


class TestViews:
    def test_they_show_what_is_spent_and_what_is_done_about_it(self) -> None:
        day = Day(replace(DAILY, marks=SLOWING))
        day.spend(8.5)
        (view,) = day.treasury.views(day.wall)

        assert view.account == Account("daily")
        assert view.balance.spent == 8_500_000
        assert view.reactions == {Reaction.THROTTLE}

    @pytest.mark.parametrize("spent", [0.0, 4.9])
    def test_nothing_is_done_before_a_mark(self, spent: float) -> None:
        day = Day(DAILY)
        day.spend(spent)

        assert day.notes == []
