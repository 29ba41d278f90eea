"""One account's count: over its periods, and in a window that rolls."""

from __future__ import annotations

import math

from tests.engine.budgets.ledgers import DAILY, DAY, NOON

from spanfuse_processor.engine.budget import Account, Budget, Period
from spanfuse_processor.engine.budgets.book import SLOTS, Balance, Book, Closed

ROLLING = Budget("rolling", 100, period=Period.ROLLING, window=600.0, strict=True)
WIDTH = 10.0
T0 = 6_000_000.0


def book(budget: Budget = ROLLING, wall: float = T0, closed: list[Closed] | None = None) -> Book:
    return Book(Account(budget.name), budget, wall, ([] if closed is None else closed).append)


def test_what_was_spent_counts_for_the_whole_window_and_at_most_a_sixtieth_longer() -> None:
    rolling = book()
    for at in (0.0, 9.0, 300.0):
        rolling.spend(10, T0 + at, T0 + at)

    assert WIDTH == ROLLING.window / SLOTS
    assert [rolling.balance(T0 + at).spent for at in (600, 609.9, 610, 909.9, 910)] == [30, 30, 10, 10, 0]
    assert rolling.end == math.inf


def test_a_window_counts_its_own_calls_and_ends_now() -> None:
    rolling = book()
    rolling.spend(10, T0, T0)
    rolling.count(T0 + 300)

    assert rolling.balance(T0 + 300)[:6] == (100, 10, 0, T0 - 300, T0 + 300, 2)
    assert rolling.balance(T0 + 700).calls == 1


def test_a_clock_that_goes_back_forgets_nothing_too_early() -> None:
    rolling = book()
    rolling.spend(10, T0 + 300, T0 + 300)
    rolling.spend(5, T0, T0)

    assert rolling.balance(T0 + 899).spent == 15
    assert rolling.balance(T0 + 910).spent == 0


def test_slots_are_bounded_whatever_comes() -> None:
    rolling = book()
    for number in range(5_000):
        rolling.spend(1, T0 + number, T0 + number)

    assert rolling.slots is not None
    assert len(rolling.slots) <= SLOTS + 1
    assert rolling.balance(T0 + 4_999).spent == 600 + 10


def test_a_call_that_ended_before_the_window_is_late() -> None:
    rolling = book()
    rolling.spend(10, T0, T0 - 601)
    rolling.spend(10, T0, T0 - 600)

    assert rolling.balance(T0).late == 10


def test_a_period_that_is_over_is_closed_and_counted_anew() -> None:
    closed: list[Closed] = []
    daily = book(Budget("daily", 100, strict=True), NOON, closed)
    daily.spend(30, NOON, NOON, reserved=10)
    daily.reserved, daily.unpriced = 5, 2

    midnight = NOON + DAY / 2
    daily.turn(midnight - 1)
    assert closed == []
    assert daily.balance(midnight) == Balance(100, 0, 5, midnight, midnight + DAY)
    assert closed == [Closed(DAILY, midnight - DAY, midnight, 30, 1)]


def test_a_clock_that_goes_back_over_midnight_stays_in_the_new_day() -> None:
    daily = book(Budget("daily", 100), NOON)
    daily.spend(1, NOON + DAY, NOON)
    daily.spend(2, NOON, NOON)

    assert daily.balance(NOON).spent == 3


def test_spend_never_falls_below_nothing() -> None:
    daily = book(Budget("daily", 100), NOON)
    daily.spend(5, NOON, NOON)

    assert daily.add(-9, NOON, NOON) == -5
    assert daily.balance(NOON).spent == 0


def test_only_a_strict_account_is_overrun() -> None:
    soft, strict = book(Budget("a", 100), NOON), book(Budget("b", 100, strict=True), NOON)
    for each in (soft, strict):
        each.spend(30, NOON, NOON, reserved=20)
        each.add(5, NOON, NOON)
        each.granted = 4
        each.use(6, NOON, 4)

    assert (soft.overrun, strict.overrun) == (0, 10 + 5 + 2)
    assert soft.spent == strict.spent == 41
    assert soft.granted == 0


def test_what_is_left_is_neither_spent_nor_promised_and_never_negative() -> None:
    assert Balance(100, 60, 30).left == 10
    assert Balance(100, 60, 60).left == 0
