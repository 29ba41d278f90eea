"""Where periods begin and end: by the calendar of their zone, also where clocks are changed."""

from __future__ import annotations

import math
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from tests.engine.budgets.ledgers import at

from spanfuse_processor.engine.budget import Budget, Period
from spanfuse_processor.engine.budgets.periods import window_of

BERLIN, NEW_YORK, HAVANA, HOWE = "Europe/Berlin", "America/New_York", "America/Havana", "Australia/Lord_Howe"


def window(budget: Budget, text: str, fold: int = 0) -> tuple[str, str, float]:
    """Start and end as the zone's clocks show them, and the hours between."""
    start, end = window_of(budget, at(budget.zone, text, fold))
    clock = [
        datetime.fromtimestamp(each, ZoneInfo(budget.zone)).strftime("%m-%d %H:%M") for each in (start, end)
    ]
    return clock[0], clock[1], (end - start) / 3_600


@pytest.mark.parametrize(
    ("budget", "now", "expected"),
    [
        (Budget("d", 1, zone=BERLIN), "2026-03-29 12:00", ("03-29 00:00", "03-30 00:00", 23)),
        (Budget("d", 1, zone=BERLIN), "2026-10-25 12:00", ("10-25 00:00", "10-26 00:00", 25)),
        (Budget("d", 1, zone=NEW_YORK), "2026-07-01 00:00", ("07-01 00:00", "07-02 00:00", 24)),
        (Budget("d", 1, zone=BERLIN, reset=21_600), "2026-07-01 05:59", ("06-30 06:00", "07-01 06:00", 24)),
        (Budget("d", 1, zone=BERLIN, reset=21_600), "2026-07-01 06:00", ("07-01 06:00", "07-02 06:00", 24)),
        # Clocks skip from 2 to 3: what begins at half past 2 begins when that would have been.
        (Budget("d", 1, zone=BERLIN, reset=9_000), "2026-03-29 04:00", ("03-29 03:30", "03-30 02:30", 23)),
        # They show half past 2 twice: it begins at the first.
        (Budget("d", 1, zone=BERLIN, reset=9_000), "2026-10-25 04:00", ("10-25 02:30", "10-26 02:30", 25)),
        # Midnight comes twice in Havana, and is skipped in spring.
        (Budget("d", 1, zone=HAVANA), "2026-11-01 06:00", ("11-01 00:00", "11-02 00:00", 25)),
        (Budget("d", 1, zone=HAVANA), "2026-03-08 06:00", ("03-08 01:00", "03-09 00:00", 23)),
        (Budget("w", 1, period=Period.WEEKLY), "2026-07-01 12:00", ("06-29 00:00", "07-06 00:00", 168)),
        (
            Budget("w", 1, period=Period.WEEKLY, weekday=6, zone=BERLIN),
            "2026-03-28 12:00",
            ("03-22 00:00", "03-29 00:00", 168),
        ),
        (
            Budget("m", 1, period=Period.MONTHLY, zone=BERLIN),
            "2026-03-31 23:59",
            ("03-01 00:00", "04-01 00:00", 743),
        ),
        (
            Budget("m", 1, period=Period.MONTHLY, day=15, reset=43_200),
            "2027-01-15 11:59",
            ("12-15 12:00", "01-15 12:00", 744),
        ),
        (Budget("h", 1, period=Period.HOURLY), "2026-07-01 10:59", ("07-01 10:00", "07-01 11:00", 1)),
        (
            Budget("h", 1, period=Period.HOURLY, reset=900, zone="Asia/Kolkata"),
            "2026-07-01 10:10",
            ("07-01 09:15", "07-01 10:15", 1),
        ),
        # Half an hour is skipped, and shown twice, on Lord Howe.
        (
            Budget("h", 1, period=Period.HOURLY, zone=HOWE),
            "2026-10-04 02:40",
            ("10-04 02:30", "10-04 03:00", 0.5),
        ),
        (
            Budget("h", 1, period=Period.HOURLY, zone=HOWE),
            "2026-04-05 01:45",
            ("04-05 01:00", "04-05 02:00", 1.5),
        ),
    ],
)
def test_a_period_is_where_its_zone_has_it(
    budget: Budget, now: str, expected: tuple[str, str, float]
) -> None:
    assert window(budget, now) == expected


def test_an_hour_that_comes_twice_is_two() -> None:
    hourly = Budget("h", 1, period=Period.HOURLY, zone=BERLIN)

    first = window_of(hourly, at(BERLIN, "2026-10-25 02:30", fold=0))
    second = window_of(hourly, at(BERLIN, "2026-10-25 02:30", fold=1))

    assert first[1] == second[0]
    assert [end - start for start, end in (first, second)] == [3_600.0, 3_600.0]


@pytest.mark.parametrize("period", [Period.HOURLY, Period.DAILY, Period.WEEKLY, Period.MONTHLY])
@pytest.mark.parametrize("zone", [BERLIN, NEW_YORK, HAVANA, HOWE, "Asia/Kolkata", "UTC"])
def test_a_year_of_periods_has_neither_gap_nor_overlap(period: Period, zone: str) -> None:
    budget = Budget("b", 1, period=period, zone=zone, reset=1_800, day=28, weekday=3)
    wall, last = at(zone, "2026-01-01 00:00"), at(zone, "2027-01-01 00:00")
    if period is Period.HOURLY:
        wall, last = at(zone, "2026-03-01 00:00"), at(zone, "2026-04-10 00:00")
    while wall < last:
        start, end = window_of(budget, wall)
        assert start <= wall < end
        assert window_of(budget, end)[0] == end
        assert window_of(budget, start) == window_of(budget, end - 0.5) == (start, end)
        wall = end


def test_a_rolling_window_ends_now_and_a_run_never() -> None:
    assert window_of(Budget("r", 1, period=Period.ROLLING, window=90.0), 1_000.0) == (910.0, 1_000.0)
    assert window_of(Budget("r", 1, period=Period.RUN), 1_000.0) == (0.0, math.inf)
