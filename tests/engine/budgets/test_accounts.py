"""Accounts: every budget that covers a payer has one for it."""

from __future__ import annotations

import pytest
from tests.engine.budgets.ledgers import CHAT

from spanfuse_processor.engine.budget import Account, Budget, Period
from spanfuse_processor.engine.budgets.accounts import KEPT, Accounts, counted_by
from spanfuse_processor.engine.reach import Payer, Reach

BUDGETS = (
    Budget("everything", 1),
    Budget("chat", 1, reach=Reach(feature=("chat", "support-*"))),
    Budget("users", 1, per=("tenant", "user")),
    Budget("tools", 1, per=("tool",)),
    Budget("runs", 1, period=Period.RUN),
    Budget("user-runs", 1, period=Period.RUN, per=("run", "user")),
)


def test_a_call_is_charged_to_every_budget_that_covers_it_in_their_order() -> None:
    assert Accounts(BUDGETS).of(CHAT._replace(tenant="acme")) == (
        Account("everything"),
        Account("chat"),
        Account("users", ("acme", "ann")),
        Account("runs", ("r1",)),
        Account("user-runs", ("r1", "ann")),
    )


def test_a_budget_that_counts_by_what_is_not_known_does_not_cover_the_call() -> None:
    assert Accounts(BUDGETS).of(Payer(tool="search")) == (
        Account("everything"),
        Account("tools", ("search",)),
    )


def test_payers_that_no_budget_tells_apart_are_kept_as_one() -> None:
    accounts = Accounts(BUDGETS[:2])

    assert accounts.asked(CHAT) == accounts.asked(CHAT._replace(user="bob", run="r2"))
    assert accounts.asked(CHAT) != accounts.asked(CHAT._replace(feature="mail"))
    assert Accounts(()).of(CHAT) == ()


def test_what_is_kept_of_payers_is_bounded() -> None:
    accounts = Accounts(BUDGETS[4:5])

    for number in range(KEPT + 10):
        assert accounts.of(Payer(run=f"r{number}")) == (Account("runs", (f"r{number}",)),)
    assert len(accounts._known) <= KEPT


def test_an_account_knows_its_budget_and_others_are_none() -> None:
    accounts = Accounts(BUDGETS)

    assert accounts.budget(Account("chat")) is BUDGETS[1]
    assert Account("chat") in accounts
    assert Account("chat", ("ann",)) not in accounts
    assert Account("mail") not in accounts
    with pytest.raises(KeyError):
        accounts.budget(Account("mail"))


def test_runs_are_counted_by_run_once() -> None:
    assert [counted_by(each) for each in BUDGETS[4:]] == [("run",), ("run", "user")]
