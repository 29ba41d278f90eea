"""Budgets that are no more: what was spent of them is spent still when they are there again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.engine.budgets.ledgers import CHAT, DAILY, DAY, NOON, ledger, usd

from spanfuse_processor.engine.budget import Account, Budget, Measure, Period
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer

BUDGET = Budget("daily", 100, strict=True)
USERS = Budget("users", 40, per=("user",), strict=True)


def spent(money: Ledger, wall: float = NOON, account: Account = DAILY) -> int:
    return money.balance(account, wall).spent


def crashed(money: Ledger, budgets: list[Budget], dump: str) -> Ledger:
    return Ledger.load(budgets, json.loads(dump), NOON, entries=money.drain())


def test_what_was_spent_is_spent_still_when_a_budget_is_there_again() -> None:
    money = ledger(BUDGET, USERS)
    money.charge(b"a", CHAT, usd(30), NOON, NOON)
    money.renew([], NOON)
    money.charge(b"b", CHAT, usd(9), NOON, NOON)  # nobody counts this
    assert money.balances(NOON) == {}
    assert money.accounts(CHAT) == ()
    with pytest.raises(KeyError):
        money.balance(DAILY, NOON)

    money.renew([BUDGET, replace(USERS, limit=35)], NOON)

    assert (spent(money), spent(money, account=Account("users", ("ann",)))) == (30, 30)
    assert money.reserve(b"c", CHAT, usd(6), NOON) == Account("users", ("ann",))


def test_over_many_policies_without_it() -> None:
    money = ledger(BUDGET)
    money.charge(b"a", CHAT, usd(30), NOON, NOON)
    for other in ([], [USERS], [Budget("new", 5)], []):
        money.renew(other, NOON)
    money.renew([BUDGET], NOON)

    assert spent(money) == 30


def test_not_into_another_period() -> None:
    money = ledger(BUDGET)
    money.charge(b"a", CHAT, usd(30), NOON, NOON)
    money.renew([], NOON)
    money.renew([BUDGET], NOON + DAY)

    assert spent(money, NOON + DAY) == 0


@pytest.mark.parametrize(
    "other",
    [
        replace(BUDGET, measure=Measure.TOKENS),
        replace(BUDGET, period=Period.HOURLY),
        replace(BUDGET, per=("user",)),
    ],
)
def test_a_budget_that_counts_otherwise_begins_anew_and_so_does_the_one_before_after_it(
    other: Budget,
) -> None:
    money = ledger(BUDGET)
    money.charge(b"a", CHAT, usd(30), NOON, NOON)
    money.renew([], NOON)
    money.renew([other], NOON)
    assert all(each.spent == 0 for each in money.balances(NOON).values())
    money.renew([BUDGET], NOON)

    assert spent(money) == 0


def test_what_was_promised_is_charged_while_the_budget_is_away() -> None:
    money = ledger(BUDGET, USERS)
    money.reserve(b"a", CHAT, usd(30), NOON)
    money.renew([], NOON)
    money.settle(b"a", usd(20), NOON)
    money.renew([BUDGET], NOON)

    assert money.balance(DAILY, NOON)[1:3] == (20, 0)


def test_what_comes_late_is_put_right_while_the_budget_is_away() -> None:
    money = ledger(BUDGET)
    money.charge(b"a", CHAT, usd(30), NOON, NOON)
    money.grant(DAILY, 40, NOON)
    money.renew([], NOON)
    money.correct(b"a", usd(25), NOON)
    money.used(DAILY, 10, NOON)
    money.give_back(DAILY, 30, NOON)
    money.renew([BUDGET], NOON)

    assert money.balance(DAILY, NOON)[1:3] == (35, 0)


def test_a_dump_and_its_entries_know_what_the_living_ledger_knows() -> None:
    money = ledger(BUDGET, journal=100)
    dump = json.dumps(money.dump())
    money.charge(b"a", CHAT, usd(30), NOON, NOON)
    money.reserve(b"b", CHAT, usd(20), NOON)
    money.renew([], NOON)
    money.settle(b"b", usd(10), NOON)

    restored = crashed(money, [], dump)
    restored.renew([BUDGET], NOON)
    dumped = Ledger.load([], json.loads(json.dumps(money.dump())), NOON)
    dumped.renew([BUDGET], NOON)
    money.renew([BUDGET], NOON)

    assert money.balance(DAILY, NOON) == restored.balance(DAILY, NOON) == dumped.balance(DAILY, NOON)
    assert spent(money) == 40


def test_a_dump_of_before_there_were_definitions_in_it_is_read() -> None:
    money = ledger(BUDGET)
    money.charge(b"a", CHAT, usd(30), NOON, NOON)
    dump = money.dump()
    del dump["budgets"]

    assert spent(Ledger.load([BUDGET], dump, NOON)) == 30


def test_books_of_former_budgets_go_with_their_period() -> None:
    money = ledger(BUDGET, USERS)
    for number in range(10):
        money.charge(bytes([number]), Payer(user=f"u{number}"), usd(1), NOON, NOON)
    money.renew([], NOON)
    assert len(money.dump()["books"]) == 11

    money.close(NOON + DAY)

    assert money.dump()["books"] == []
