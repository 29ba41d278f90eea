"""The till: a receipt for each call, and the difference when something was wrong."""

from __future__ import annotations

from tests.engine.budgets.ledgers import CHAT, DAILY, DAY, NOON, usd

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure
from spanfuse_processor.engine.budgets.journal import Change, Journal
from spanfuse_processor.engine.budgets.receipts import Receipts
from spanfuse_processor.engine.budgets.shelf import Plan, Shelf
from spanfuse_processor.engine.budgets.till import Till

TOKENS = Budget("tokens", 900, Measure.TOKENS)


def till() -> tuple[Till, Plan]:
    shelf = Shelf((Budget("daily", 100, strict=True), TOKENS), print, 100)
    return Till(shelf, Receipts(100), Journal(100)), shelf.plan(CHAT, NOON)


def test_each_book_is_charged_in_its_own_measure() -> None:
    desk, plan = till()

    assert desk.pay(Change.CHARGE, b"a", plan, Amounts(30, 500), NOON, NOON) == plan.accounts
    assert [each.spent for each in plan.books] == [30, 500]
    receipt = desk.receipts.get(b"a")
    assert receipt is not None
    assert receipt[:3] == (Amounts(30, 500), plan.accounts, NOON)


def test_nothing_is_written_where_nothing_covers_the_call() -> None:
    desk, _ = till()

    assert desk.pay(Change.CHARGE, b"a", Plan(), usd(5), NOON, NOON) == ()
    assert desk.receipts.get(b"a") is None


def test_a_leased_account_is_not_on_the_receipt_and_so_never_corrected() -> None:
    desk, plan = till()
    desk.pay(Change.CHARGE, b"a", plan, Amounts(30, 500), NOON, NOON, leased=("daily",))
    receipt = desk.receipts.get(b"a")
    assert receipt is not None

    assert desk.revise(b"a", receipt, Amounts(40, 600), NOON) == (Account("tokens"),)
    assert [each.spent for each in plan.books] == [0, 600]


def test_the_unpriced_of_yesterday_are_not_taken_from_those_of_today() -> None:
    desk, plan = till()
    desk.pay(Change.CHARGE, b"a", plan, usd(0), NOON, NOON, unpriced=True)
    desk.pay(Change.CHARGE, b"b", plan, usd(0), NOON + DAY, NOON + DAY, unpriced=True)
    receipt = desk.receipts.get(b"a")
    assert receipt is not None

    desk.revise(b"a", receipt, usd(5), NOON + DAY)
    book = plan.books[0]
    assert (book.unpriced, book.spent, book.late) == (1, 5, 5)


def test_every_change_is_noted_with_what_it_changed() -> None:
    desk, plan = till()
    desk.pay(Change.SETTLE, b"a", plan, Amounts(30, 500), NOON, NOON - DAY, usd(20), plan.strict)
    receipt = desk.receipts.get(b"a")
    assert receipt is not None
    desk.revise(b"a", receipt, Amounts(25, 500), NOON)

    noted = [(e.kind, e.account.budget, e.amount, e.total, e.late, e.overrun) for e in desk.journal.drain()]
    assert noted == [
        (Change.SETTLE, "daily", 30, 30, 30, 10),
        (Change.SETTLE, "tokens", 500, 500, 500, 0),
        (Change.CORRECT, "daily", -5, 25, 0, 0),
        (Change.CORRECT, "tokens", 0, 500, 0, 0),
    ]


def test_a_correction_of_an_account_that_is_no_more_is_made_and_of_one_that_never_was_passed_over() -> None:
    desk, plan = till()
    desk.pay(Change.CHARGE, b"a", plan, Amounts(30, 500), NOON, NOON)
    receipt = desk.receipts.get(b"a")
    assert receipt is not None
    desk.shelf = desk.shelf.anew([TOKENS])

    assert desk.revise(b"a", receipt, Amounts(40, 700), NOON) == (DAILY, Account("tokens"))
    assert DAILY not in desk.shelf.accounts
    desk.shelf.former.clear()
    again = desk.receipts.get(b"a")
    assert again is not None
    assert desk.revise(b"a", again, Amounts(50, 800), NOON) == (Account("tokens"),)
