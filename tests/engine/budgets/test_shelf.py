"""The open books: bounded, and never one put away that something is promised of."""

from __future__ import annotations

import math

import pytest
from tests.engine.budgets.ledgers import DAY, NOON

from spanfuse_processor.engine.budget import Account, Budget, Period
from spanfuse_processor.engine.budgets.book import Closed
from spanfuse_processor.engine.budgets.shelf import Shelf
from spanfuse_processor.engine.reach import Payer

USERS = Budget("users", 100, per=("user",), strict=True)


def shelf(*budgets: Budget, limit: int = 16, closed: list[Closed] | None = None) -> Shelf:
    return Shelf(budgets or (USERS,), ([] if closed is None else closed).append, limit)


def user(number: int) -> Payer:
    return Payer(user=f"u{number}")


def test_a_payer_is_written_into_the_same_books_each_time() -> None:
    shelves = shelf(USERS, Budget("all", 5))
    plan = shelves.plan(user(1), NOON)

    assert shelves.plan(user(1)._replace(model="gpt-4o"), NOON) is plan
    assert [each.name for each in plan.books] == ["users[u1]", "all"]
    assert [each.name for each in plan.strict] == ["users[u1]"]
    assert plan.accounts == (Account("users", ("u1",)), Account("all"))
    assert shelves.plan(user(2), NOON).books[1] is plan.books[1]


def test_of_too_many_books_those_charged_longest_ago_are_put_away() -> None:
    shelves = shelf()
    for number in range(17):
        shelves.plan(user(number), NOON).books[0].spend(1, NOON + number, NOON)

    assert len(shelves) == 16 - 2 + 1
    assert {each.name for each in shelves} == {f"users[u{number}]" for number in range(2, 17)}
    assert shelves.evicted == 2


def test_books_whose_day_is_over_go_first_and_are_closed() -> None:
    closed: list[Closed] = []
    shelves = shelf(limit=8, closed=closed)
    shelves.plan(user(0), NOON).books[0].spend(7, NOON, NOON)
    for number in range(1, 9):
        shelves.plan(user(number), NOON + DAY)

    assert [(each.account.values, each.spent) for each in closed] == [(("u0",), 7)]
    assert shelves.evicted == 0


def test_what_something_is_promised_of_stays() -> None:
    shelves = shelf(limit=8)
    promised, leased = (shelves.plan(user(number), NOON).books[0] for number in (0, 1))
    promised.reserved, leased.granted = 5, 5
    for number in range(2, 40):
        shelves.plan(user(number), NOON + number)

    assert promised in list(shelves)
    assert leased in list(shelves)
    assert shelves.plan(user(0), NOON).books[0] is promised


def test_a_shelf_knows_when_the_next_period_is_over() -> None:
    closed: list[Closed] = []
    shelves = shelf(
        Budget("daily", 5),
        Budget("hourly", 5, period=Period.HOURLY),
        Budget("runs", 5, period=Period.RUN),
        Budget("rolling", 5, period=Period.ROLLING, window=60.0),
        closed=closed,
    )
    assert shelves.turns == math.inf
    shelves.plan(Payer(run="r1"), NOON)
    assert shelves.turns == NOON + 3_600
    shelves.turn(NOON + 3_600)

    assert [each.account.budget for each in closed] == ["hourly"]
    assert shelves.turns == NOON + 7_200


def test_looking_opens_nothing_and_what_is_of_no_budget_is_refused() -> None:
    shelves = shelf()

    assert shelves.look(Account("users", ("ann",)), NOON).limit == 100
    assert len(shelves) == 0
    with pytest.raises(KeyError):
        shelves.look(Account("none"), NOON)
    assert len(shelves.anew([])) == 0
