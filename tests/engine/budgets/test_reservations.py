"""Reservations: what stands is promised, and only that."""

from __future__ import annotations

import math

from tests.engine.budgets.ledgers import CHAT, NOON, usd

from spanfuse_processor.engine.budget import Account, Budget
from spanfuse_processor.engine.budgets.reservations import Held, Reservations
from spanfuse_processor.engine.budgets.shelf import Plan, Shelf

BUDGETS = (Budget("soft", 100), Budget("hard", 100, strict=True))


def plan(*budgets: Budget) -> Plan:
    return Shelf(budgets or BUDGETS, print, 100).plan(CHAT, NOON)


def promises(books: Plan) -> list[int]:
    return [each.reserved for each in books.books]


def test_only_strict_books_have_promises_and_they_are_taken_back_once() -> None:
    held, books = Reservations(), plan()
    held.take(b"a", Held(CHAT, books, usd(30), NOON + 60))
    held.take(b"b", Held(CHAT, books, usd(5), NOON + 60))
    assert promises(books) == [0, 35]

    released = held.release(b"a")
    assert released is not None
    assert released.amounts == usd(30)
    assert held.release(b"a") is None
    assert promises(books) == [0, 5]
    assert [key for key, _ in held] == [b"b"]


def test_what_is_due_is_known_without_looking_at_all() -> None:
    held, books = Reservations(), plan()
    assert held.soonest == math.inf
    for key, seconds in ((b"a", 60), (b"b", 20), (b"c", 40)):
        held.take(key, Held(CHAT, books, usd(1), NOON + seconds))

    assert held.soonest == NOON + 20
    assert held.due(NOON + 19) == []
    assert set(held.due(NOON + 40)) == {b"b", b"c"}
    assert held.soonest == NOON + 60


def test_everything_is_promised_anew_in_other_books() -> None:
    held, books = Reservations(), plan()
    held.take(b"a", Held(CHAT, books, usd(30), NOON + 60))
    shelf = Shelf([Budget("soft", 9, strict=True)], print, 100)
    held.move(shelf, NOON)

    assert promises(shelf.plan(CHAT, NOON)) == [30]
    assert len(held) == 1
    assert b"a" in held


def test_of_a_budget_that_is_no_more_the_promise_stays() -> None:
    shelf = Shelf(BUDGETS, print, 100)
    held = Reservations()
    held.take(b"a", Held(CHAT, shelf.plan(CHAT, NOON), usd(30), NOON + 60))
    later = shelf.anew([])
    held.move(later, NOON)

    assert [(each.name, each.reserved) for each in later] == [("hard", 30)]
    assert held.promised() == {Account("hard")}
