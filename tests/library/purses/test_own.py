"""The purse over the judge's own ledger: what is reserved is settled once, by whoever comes first."""

from __future__ import annotations

import pytest
from tests.library.making import Clock
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.judge import Judge
from spanfuse.purse import Short, Taken
from spanfuse.purses.own import OwnPurse
from spanfuse_processor.engine import NoPrices
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure
from spanfuse_processor.engine.budgets.ledger import Balance
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.reach import Payer, Reach
from spanfuse_processor.engine.verdicts import Mode

DAILY = Account("daily")
T = 1_700_000_000.0
ANN = Payer(user="ann", model="gpt-4o")
KEY = b"t" * 16 + b"s" * 8


def a_purse(*budgets: Budget) -> OwnPurse:
    policy = Policy(budgets=budgets or (Budget("daily", 1_000, strict=True, patience=2.0),))
    judge = Judge(Board(Clock()), policy, NoPrices(), issuer="test", wall=lambda: T)
    return OwnPurse(judge, policy.budgets)


def balance(purse: OwnPurse, account: Account = DAILY) -> Balance:
    return purse.judge.money(lambda treasury, wall: treasury.ledger.balance(account, wall))


def taken(purse: OwnPurse, amounts: Amounts) -> Taken:
    result = purse.take(ANN, amounts, object())
    assert not isinstance(result, Short)
    return result


def test_what_is_taken_is_reserved_and_then_charged() -> None:
    purse = a_purse()
    slice_ = taken(purse, Amounts(usd=600))
    assert balance(purse).reserved == 600

    slice_.named(KEY)
    slice_.settle(Amounts(usd=450))

    assert (balance(purse).reserved, balance(purse).spent) == (0, 450)


def test_who_counts_money_is_told_it_also_where_only_tokens_were_taken() -> None:
    purse = a_purse(Budget("tokens", 1_000, Measure.TOKENS, strict=True), Budget("daily", 1_000))
    slice_ = taken(purse, Amounts(tokens=600))
    slice_.named(KEY)

    slice_.settle(Amounts(usd=70, tokens=600))

    assert (balance(purse).spent, balance(purse, Account("tokens")).spent) == (70, 600)


def test_the_charge_of_its_span_is_the_same_charge() -> None:
    purse = a_purse()
    slice_ = taken(purse, Amounts(usd=600))
    slice_.named(KEY)
    slice_.settle(Amounts(usd=450))

    purse.judge.money(lambda treasury, wall: treasury.ledger.charge(KEY, ANN, Amounts(usd=450), wall, wall))

    assert balance(purse).spent == 450


def test_where_no_money_was_taken_the_span_settles() -> None:
    purse = a_purse(Budget("daily", 1_000, Measure.TOKENS, strict=True), Budget("usd", 10**6))
    slice_ = taken(purse, Amounts(usd=0, tokens=500))
    slice_.named(KEY)
    slice_.settle(Amounts(usd=0, tokens=300))
    assert balance(purse).reserved == 500

    purse.judge.money(lambda treasury, wall: treasury.ledger.charge(KEY, ANN, Amounts(70, 300), wall, wall))

    assert (balance(purse).reserved, balance(purse).spent) == (0, 300)
    assert balance(purse, Account("usd")).spent == 70


def test_what_nobody_knows_is_charged_as_it_was_taken() -> None:
    purse = a_purse()
    slice_ = taken(purse, Amounts(usd=600))
    slice_.named(KEY)

    slice_.forfeit()
    slice_.settle(Amounts(usd=1))
    slice_.cancel()

    assert balance(purse).spent == 600


def test_what_is_cancelled_is_free_again_and_told() -> None:
    purse, told = a_purse(), []
    slice_ = taken(purse, Amounts(usd=600))
    purse.room._wakers[self_ := object()] = lambda: told.append(self_)

    slice_.cancel()

    assert balance(purse).left == 1_000
    assert told == [self_]


def test_who_is_short_hears_whether_it_may_come_back() -> None:
    purse = a_purse()
    first = taken(purse, Amounts(usd=600))

    short = purse.take(ANN, Amounts(usd=500), object())
    assert short == Short(
        DAILY, Measure.USD, 500, 1_000, can_come=True, patience=2.0, limit=1_000, renews_in=6_400.0
    )

    first.settle(Amounts(usd=600))
    short = purse.take(ANN, Amounts(usd=500), object())
    assert isinstance(short, Short)
    assert (short.left, short.can_come) == (400, False)


@pytest.mark.parametrize("budget", [Budget("d", 1), Budget("d", 1, strict=True, mode=Mode.SHADOW)])
def test_what_is_not_strict_or_not_enforced_takes_nothing(budget: Budget) -> None:
    purse = a_purse(budget)

    assert purse.idle
    assert purse.wanted(ANN) == frozenset()


def test_what_is_wanted_goes_by_who_pays() -> None:
    tokens = Budget("tokens", 1, Measure.TOKENS, reach=Reach(user=("bob",)), strict=True)
    purse = a_purse(Budget("usd", 1, strict=True), tokens)

    assert purse.wanted(ANN) == {Measure.USD}
    assert purse.wanted(Payer(user="bob")) == {Measure.USD, Measure.TOKENS}


def test_budgets_may_change() -> None:
    purse = a_purse()

    purse.renew([])

    assert purse.idle


def test_a_finaliser_inside_the_judge_has_another_thread_settle() -> None:
    purse = a_purse()
    slice_ = taken(purse, Amounts(usd=600))

    purse.judge.money(lambda treasury, wall: slice_.forfeit())

    until(lambda: balance(purse).spent == 600)
