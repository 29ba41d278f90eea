"""The treasury: what is told and ordered when a forecast says that money will run short."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engine.budgets.days import HOUR, HOURLY, MIDNIGHT, Day

from spanfuse_processor.engine.alerts import Condition
from spanfuse_processor.engine.budget import (
    Forecasting,
    Reaction,
)
from spanfuse_processor.engine.budgets.watch import CALM
from spanfuse_processor.engine.forecast import Alarm, alarm
from spanfuse_processor.engine.reach import Degrading


class TestForecast:
    REACTING = replace(
        HOURLY,
        limit=10_000_000,
        marks=(),
        forecast=Forecasting(react=Reaction.DEGRADE),
        degrading=Degrading(models=(("*", "small"),)),
    )

    def steady(self, day: Day, usd: float, calls: int, every: float = 5.0) -> None:
        for _ in range(calls):
            day.spend(usd, after=every)

    def test_it_is_told_and_reacted_to_well_before_the_limit(self) -> None:
        day = Day(self.REACTING)
        self.steady(day, 0.005, 120)
        assert day.notes == []
        self.steady(day, 0.25, 20)

        first = next(note.event for note in day.notes if note.event)
        assert first.condition in (Condition.IMMINENT, Condition.RUNAWAY)
        assert first.spent < 0.7 * first.limit
        assert first.exhausted_at is not None
        assert day.orders[0] == "degrade"
        directive = next(note.directive for note in day.notes if note.directive)
        assert directive.degrading == self.REACTING.degrading

    def test_when_it_has_been_calm_for_a_while_the_order_is_lifted_and_not_told_again(self) -> None:
        day = Day(self.REACTING)
        self.steady(day, 0.005, 120)
        self.steady(day, 0.25, 20)
        assert day.orders == ["degrade"]
        for _ in range(120):
            day.wait(10.0)

        assert day.orders == ["degrade", "-degrade"]
        assert len([said for said, _ in day.told if said in ("imminent", "runaway")]) == len(
            {said for said, _ in day.told if said in ("imminent", "runaway")}
        )

    def test_a_moment_of_calm_lifts_nothing(self) -> None:
        day = Day(self.REACTING)
        self.steady(day, 0.005, 120)
        self.steady(day, 0.25, 20)
        calm_since = 0.0
        while "-degrade" not in day.orders:
            day.wait(10.0)
            (view,) = day.treasury.views(day.wall)
            if view.forecast is not None and alarm(view.forecast, self.REACTING.forecast) in (
                None,
                Alarm.LIKELY,
            ):
                calm_since = calm_since or day.wall

        assert day.wall - calm_since >= CALM * HOUR - 10.0

    @pytest.mark.parametrize(
        ("react", "orders"),
        [
            (Reaction.WARN, []),
            (Reaction.THROTTLE, ["throttle"]),
            (Reaction.DEGRADE, ["degrade"]),
            (Reaction.STOP, ["stop"]),
        ],
    )
    def test_what_is_done_about_it_is_the_policys_to_say(self, react: Reaction, orders: list[str]) -> None:
        day = Day(replace(self.REACTING, forecast=Forecasting(react=react), block_after=0.0))
        self.steady(day, 0.005, 120)
        self.steady(day, 0.25, 20)

        assert {note.event.reaction for note in day.notes if note.event} == {react}
        assert day.orders == orders

    def test_it_is_told_once_a_period_however_often_it_comes_back_and_anew_in_the_next(self) -> None:
        day = Day(replace(self.REACTING, limit=20_000_000))
        for period in (1, 2):
            for _ in range(3):
                self.steady(day, 0.005, 60)
                self.steady(day, 0.25, 20)
                for _ in range(40):
                    day.wait(10.0)
            assert day.told == [("imminent", 0.0)] * period
            day.wait(HOUR - (day.wall - MIDNIGHT) % HOUR)

        assert day.orders == ["degrade", "-degrade"] * 2

    def test_a_steady_pace_within_the_limit_is_not_told_of(self) -> None:
        day = Day(self.REACTING)
        self.steady(day, 0.01, 700)

        assert day.notes == []
