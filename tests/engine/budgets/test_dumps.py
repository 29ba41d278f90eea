"""A ledger as plain data, and back: whole, also with entries that came after, and with other budgets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine.budgets.ledgers import CHAT, DAILY, DAY, NOON, ledger, usd

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure, Period
from spanfuse_processor.engine.budgets.journal import Change
from spanfuse_processor.engine.budgets.ledger import Ledger

BUDGETS = (
    Budget("daily", 100, strict=True),
    Budget("users", 90, Measure.TOKENS, per=("user",)),
    Budget("rolling", 90, period=Period.ROLLING, window=600.0, strict=True),
    Budget("runs", 90, period=Period.RUN),
)


def used() -> Ledger:
    money = ledger(*BUDGETS, journal=100)
    money.charge(b"a", CHAT, Amounts(10, 7), NOON, NOON - DAY, unpriced=True)
    money.reserve(b"b", CHAT, Amounts(20, 5), NOON)
    money.reserve(b"c", CHAT, Amounts(1, 1), NOON, ttl=1.0)
    money.expire(NOON + 1)
    money.grant(DAILY, 15, NOON + 1)
    return money


def plain(money: Ledger) -> Any:
    return json.loads(json.dumps(money.dump()))


def load(dump: Any, *budgets: Budget, wall: float = NOON + 2) -> Ledger:
    return Ledger.load(budgets or BUDGETS, dump, wall)


def test_what_was_dumped_is_what_is_loaded() -> None:
    money = used()
    again = load(plain(money))

    assert again.balances(NOON + 2) == money.balances(NOON + 2)
    assert plain(again) == plain(money)
    assert again.charge(b"a", CHAT, Amounts(10, 7), NOON, NOON) == ()
    assert again.settle(b"c", Amounts(0, 1), NOON + 2) == (
        DAILY,
        Account("rolling"),
        Account("runs", ("r1",)),
    )
    assert DAILY in again.settle(b"b", Amounts(20, 5), NOON + 2)
    assert again.balance(DAILY, NOON + 2)[:3] == (100, 30, 15)


def test_entries_after_the_dump_are_done_again_and_those_before_it_are_not() -> None:
    money = used()
    dump, entries = plain(money), money.drain()
    money.settle(b"b", Amounts(25, 9), NOON + 3)
    money.correct(b"a", Amounts(12, 7), NOON + 3)
    money.used(DAILY, 5, NOON + 3)
    money.refund(DAILY, 2, NOON + 3, at=NOON + 3)
    money.give_back(DAILY, 4, NOON + 3)
    money.charge(b"d", CHAT, Amounts(3, 3), NOON + 3, NOON + 3, leased=("daily",))
    entries += money.drain()

    again = Ledger.load(BUDGETS, dump, NOON + 4, entries=entries)
    assert again.balances(NOON + 4) == money.balances(NOON + 4)
    assert again.settle(b"b", Amounts(25, 9), NOON + 4) == ()
    assert again.charge(b"d", CHAT, Amounts(3, 3), NOON + 4, NOON + 4) == ()
    assert again.correct(b"a", Amounts(12, 7), NOON + 4) == ()


def test_a_reservation_that_was_cancelled_or_renamed_after_the_dump_is_not_charged() -> None:
    money = ledger(journal=100)
    money.reserve(b"a", CHAT, usd(10), NOON)
    money.reserve(b"b", CHAT, usd(10), NOON)
    dump = plain(money)
    money.cancel(b"a", NOON)
    money.rename(b"b", b"span")
    entries = money.drain()

    again = Ledger.load((BUDGETS[0],), dump, NOON, entries=entries)
    assert [each.kind for each in entries] == [Change.CANCEL] * 2
    assert again.expire(NOON + DAY) == ()
    assert again.balances(NOON) == {DAILY: money.balance(DAILY, NOON)._replace(reserved=0)}


def test_a_ledger_that_slept_over_midnight_closes_the_day_it_left() -> None:
    money = load(plain(used()), wall=NOON + DAY)
    midnight = NOON + DAY / 2

    closed = {each.account: each for each in money.close(NOON + DAY)}
    assert closed[DAILY] == (DAILY, midnight - DAY, midnight, 11, 2)
    assert money.balance(DAILY, NOON + DAY)[:3] == (100, 0, 35)


@pytest.mark.parametrize(
    ("budget", "spent", "granted"),
    [
        (Budget("daily", 5), 11, 15),
        (Budget("daily", 5, Measure.TOKENS), 0, 0),
        (Budget("daily", 5, period=Period.HOURLY), 0, 15),
        (Budget("daily", 5, reset=6 * 3_600), 11, 15),
        (Budget("daily", 5, zone="Asia/Kolkata"), 11, 15),
    ],
)
def test_money_goes_over_to_a_budget_that_counts_the_same(budget: Budget, spent: int, granted: int) -> None:
    balance = load(plain(used()), budget).balance(DAILY, NOON + 2)

    assert (balance.limit, balance.spent, balance.granted) == (5, spent, granted)


def test_a_period_that_was_moved_so_that_the_old_is_over_begins_with_nothing() -> None:
    money = load(plain(used()), Budget("daily", 5, reset=6 * 3_600), wall=NOON + DAY)

    assert money.balance(DAILY, NOON + DAY).spent == 0


def test_a_window_that_was_changed_keeps_what_still_lies_in_it() -> None:
    shorter = Budget("rolling", 90, period=Period.ROLLING, window=60.0)
    money = load(plain(used()), shorter)

    assert money.balance(Account("rolling"), NOON + 2).spent == 11
    assert money.balance(Account("rolling"), NOON + 90).spent == 0


def test_a_budget_counted_apart_by_something_else_begins_anew() -> None:
    money = load(plain(used()), Budget("users", 90, Measure.TOKENS, per=("feature",)), BUDGETS[0])

    assert set(money.balances(NOON + 2)) == {DAILY, Account("users", ("chat",))}


def test_receipts_may_be_dumped_from_a_moment_on() -> None:
    money = used()

    assert money.dump(since=NOON + 1)["receipts"]["keys"] == [b"c".hex()]
    assert money.dump()["receipts"]["keys"] == [b"a".hex(), b"c".hex()]


def test_what_is_no_dump_is_refused() -> None:
    with pytest.raises(ValueError, match="version 2"):
        load({"version": 2})
    with pytest.raises(KeyError):
        load({})
