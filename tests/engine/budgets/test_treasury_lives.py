"""A treasury that goes on: with other budgets, and in another life of its process."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.engine.budgets.days import DAILY, HOURLY, Day

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Period
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.verdicts import Action


class TestRenewal:
    def test_spent_money_carries_over_to_a_changed_limit(self) -> None:
        day = Day(DAILY)
        day.spend(6.0)
        said = day.treasury.renew([replace(DAILY, limit=5_000_000)], day.wall)

        (directive,) = [note.directive for note in said if note.directive]
        assert directive.action is Action.STOP

    def test_a_raised_limit_lifts_the_stop(self) -> None:
        day = Day(DAILY)
        day.spend(10.0)
        day.notes += day.treasury.renew([replace(DAILY, limit=50_000_000)], day.wall)

        assert day.orders == ["stop", "-stop"]

    def test_revisions_only_grow(self) -> None:
        day = Day(DAILY)
        day.spend(10.0)
        day.notes += day.treasury.renew([replace(DAILY, limit=50_000_000)], day.wall)
        day.spend(45.0)

        revisions = [
            each.revision for note in day.notes for each in (note.directive, note.removal) if each is not None
        ]
        assert revisions == sorted(set(revisions))

    def test_what_was_told_of_an_unchanged_budget_is_not_told_again(self) -> None:
        other = replace(HOURLY, limit=100_000_000)
        day = Day(DAILY, other)
        day.spend(6.0)
        before = len(day.notes)
        day.notes += day.treasury.renew([DAILY, replace(other, limit=200_000_000)], day.wall)
        day.spend(0.1)

        assert day.notes[before:] == []

    def test_an_event_of_another_limit_is_another_event(self) -> None:
        day = Day(DAILY)
        day.spend(6.0)
        day.notes += day.treasury.renew([replace(DAILY, limit=8_000_000)], day.wall)

        names = [note.event.id for note in day.notes if note.event and note.event.share == 0.5]
        assert len(set(names)) == len(names) == 2


class TestAnotherLife:
    def reborn(self, day: Day) -> Day:
        """As after a restart: what is kept is plain data."""
        kept = json.loads(json.dumps([day.treasury.ledger.dump(), day.treasury.dump()]))
        after = Day(*day.budgets, wall=day.wall)
        ledger = Ledger.load(day.budgets, kept[0], day.wall)
        after.calls = day.calls
        after.notes += after.treasury.resume(ledger, kept[1], day.wall)
        return after

    def test_what_was_told_is_not_told_again_and_what_is_due_is_ordered_again(self) -> None:
        day = Day(DAILY)
        day.spend(12.0)

        after = self.reborn(day)

        assert after.told == []
        assert after.orders == ["stop"]
        (directive,) = [note.directive for note in after.notes if note.directive]
        assert "has reached its limit: 12.00 of 10.00 USD" in directive.message

    def test_marks_that_come_later_are_told(self) -> None:
        day = Day(DAILY)
        day.spend(6.0)

        after = self.reborn(day)
        after.spend(3.0)

        assert after.told == [("mark", 0.8)]

    def test_rates_are_known_as_before(self) -> None:
        day = Day(HOURLY)
        for _ in range(200):
            day.spend(0.002, after=5.0)
        (before,) = day.treasury.views(day.wall)

        (view,) = self.reborn(day).treasury.views(day.wall)

        assert before.forecast is not None
        assert view.forecast == before.forecast

    def test_restored_spend_is_no_new_spend(self) -> None:
        day = Day(DAILY)
        day.spend(6.0)

        assert self.reborn(day).treasury.spent == {"daily": 0}


class TestFront:
    def test_of_a_budget_counted_apart_the_fullest_account_is_shown(self) -> None:
        day = Day(replace(DAILY, per=("user",)))
        day.spend(1.0, user="ann")
        day.spend(3.0, user="bob")
        day.spend(2.0, user="cid")

        (view,) = day.treasury.front(day.wall)

        assert (view.account.values, view.balance.spent) == (("bob",), 3_000_000)
        assert day.treasury.spent == {"daily": 6_000_000}

    def test_a_budget_that_nothing_was_charged_to_is_shown_too(self) -> None:
        day = Day(DAILY, replace(HOURLY, per=("user",)))

        views = day.treasury.front(day.wall)

        assert [(view.budget.name, view.balance.spent) for view in views] == [("daily", 0), ("hourly", 0)]
        assert [view.balance.limit for view in views] == [10_000_000, 1_000_000]


def test_a_budget_that_is_away_for_a_while_is_not_granted_twice_and_stops_again() -> None:
    day = Day(DAILY)
    day.spend(11.0)
    away = day.treasury.renew([], day.wall)
    assert [note.removal is not None for note in away] == [True]
    assert day.treasury.correct((1).to_bytes(8, "big"), Amounts(10_500_000), day.wall) == ()

    back = day.treasury.renew([DAILY], day.wall)

    assert [note.directive.action for note in back if note.directive] == [Action.STOP]


def test_accounts_of_rolling_budgets_that_are_stopped_are_looked_at_when_spend_falls_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    day = Day(Budget("rolling", 1_000_000, period=Period.ROLLING, window=3_600.0, per=("user",)))
    for number in range(40):
        day.spend(1.0, user=f"u{number}")
    looked: list[Account] = []
    balance = day.treasury.ledger.balance

    def looking(account: Account, wall: float) -> Balance:
        looked.append(account)
        return balance(account, wall)

    monkeypatch.setattr(Ledger, "balance", lambda ledger, account, wall: looking(account, wall))
    for _ in range(60):
        day.wait(1.0)
    assert looked == []

    due = day.treasury.next_deadline(day.wall)
    day.wait(due - day.wall)
    assert 0 < len(looked) <= 40
    day.wait(3_700.0)

    assert (day.orders.count("stop"), day.orders.count("-stop")) == (40, 40)
