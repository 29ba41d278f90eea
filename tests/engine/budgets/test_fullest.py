"""The account of a budget that is shown: the fullest, for as long as its period lasts."""

from __future__ import annotations

from spanfuse_processor.engine.budget import Account
from spanfuse_processor.engine.budgets.fullest import Fullest

ANN, BOB = Account("users", ("ann",)), Account("users", ("bob",))


def test_a_budget_that_is_not_counted_apart_has_one_account() -> None:
    assert Fullest().of("daily") == Account("daily")


def test_the_fullest_holds_until_another_is_fuller() -> None:
    fullest = Fullest()
    for account, share in ((ANN, 0.5), (BOB, 0.4)):
        fullest.note(account, share, 100.0, 1.0)
    assert fullest.of("users") == ANN

    fullest.note(BOB, 0.6, 100.0, 2.0)

    assert fullest.of("users") == BOB


def test_what_was_full_in_a_period_that_is_over_is_not_so_now() -> None:
    fullest = Fullest()
    fullest.note(ANN, 0.9, 100.0, 1.0)

    fullest.note(BOB, 0.1, 200.0, 100.0)

    assert fullest.of("users") == BOB


def test_it_goes_with_its_account() -> None:
    fullest = Fullest()
    fullest.note(ANN, 0.9, 100.0, 1.0)

    fullest.keep({BOB})

    assert fullest.of("users") == Account("users")
