"""The purse of leases: what is held is spent here, and nothing is spent twice."""

from __future__ import annotations

import pytest
from tests.library.purses.lent import ANN, BUDGET, DAILY, Lent

from spanfuse.purse import Short
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, Result
from spanfuse_processor.engine.budgets.leasing import TTL
from spanfuse_processor.engine.budgets.requirements import requirement, requirement_id
from spanfuse_processor.engine.reach import Payer, Reach
from spanfuse_processor.engine.verdicts import Mode

TEN = Amounts(usd=10)


def test_where_no_order_stands_nothing_is_taken() -> None:
    lent = Lent()
    assert not lent.purse.idle

    lent.board.withdraw(requirement_id("daily"), 9)

    assert lent.purse.idle
    assert lent.purse.wanted(ANN) == frozenset()


def test_an_order_that_is_not_enforced_takes_nothing() -> None:
    assert Lent(Budget("daily", 1, strict=True, mode=Mode.WARN)).purse.idle


def test_an_order_that_comes_later_holds_from_then_on() -> None:
    lent = Lent()

    lent.board.post(requirement(Budget("t", 1, Measure.TOKENS, reach=Reach(user=("ann",)), strict=True), 5))

    assert lent.purse.wanted(ANN) == {Measure.USD, Measure.TOKENS}
    assert lent.purse.wanted(Payer(user="bob")) == {Measure.USD}


def test_the_first_call_is_short_and_has_it_asked_for() -> None:
    lent = Lent()

    short = lent.take(100)

    (order,) = lent.board.directives()
    assert short == Short(DAILY, Measure.USD, 100, None, can_come=True, patience=5.0, order=order)
    assert lent.rings == 1
    assert [(ask.want, ask.least) for ask in lent.talk()] == [(100, 100)]


def test_what_is_held_is_taken_without_asking() -> None:
    lent = Lent()
    lent.taken(100).settle(Amounts(usd=40))

    assert not isinstance(lent.take(60), Short)


def test_what_was_spent_is_told_with_the_next_ask() -> None:
    lent = Lent()
    lent.taken(100).settle(Amounts(usd=40))
    lent.clock.pass_(TTL / 3)

    asks = lent.talk()

    assert [(ask.used, ask.held, ask.want) for ask in asks] == [(40, 60, 0)]
    assert lent.till.spent == 40


def test_a_call_names_the_accounts_that_it_took_from() -> None:
    each = Budget("each", 100, Measure.CALLS, per=("user",), strict=True)
    lent = Lent(each)

    assert isinstance(lent.purse.take(ANN, TEN, self_ := object()), Short)
    pool, ask = lent.purse.due()[0]
    lent.purse.heard(pool, ask, LeaseAnswer(Result.GRANTED, ask.lease, 5, 100, TTL, TTL / 3), lent.clock())
    taken = lent.purse.take(ANN, TEN, self_)

    assert not isinstance(taken, Short)
    assert (ask.account, ask.want, taken.accounts) == (Account("each", ("ann",)), 1, ("each[ann]",))


def test_who_is_not_known_by_what_a_budget_counts_by_is_not_covered() -> None:
    lent = Lent(Budget("each", 100, per=("user",), strict=True))

    assert lent.purse.wanted(Payer(model="gpt-4o")) == frozenset()


@pytest.mark.parametrize(
    ("end", "spent"),
    [("settle", 70), ("forfeit", 100), ("cancel", 0)],
)
def test_what_was_taken_ends_once(end: str, spent: int) -> None:
    lent = Lent()
    taken = lent.taken(100)
    ends = {
        "settle": lambda: taken.settle(Amounts(usd=70)),
        "forfeit": taken.forfeit,
        "cancel": taken.cancel,
    }

    ends[end]()
    for other in ends.values():
        other()

    pool = lent.purse.pools[0]
    assert (pool.used, pool.taken) == (spent, 0)


def test_who_costs_more_than_it_took_leaves_less_for_the_next() -> None:
    lent = Lent()
    lent.taken(100).settle(Amounts(usd=130))

    pool = lent.purse.pools[0]
    assert (pool.free, pool.overrun) == (-30, 30)
    assert isinstance(lent.take(1), Short)
    assert [ask.used for ask in lent.talk()] == [130]
    assert (lent.till.spent, lent.till.overrun) == (130, 30)


def test_what_costs_nothing_of_an_account_is_not_said_to_be_paid_from_it() -> None:
    """A tool without a fee: what it says itself that it cost is charged by its span."""
    lent = Lent(BUDGET, Budget("calls", 100, Measure.CALLS, strict=True))
    fee, waiter = Amounts(0, 0, 1), object()
    lent.purse.take(ANN, fee, waiter)
    [(pool, ask)] = lent.purse.due()
    answer = LeaseAnswer(Result.GRANTED, ask.lease, 5, 100, TTL, TTL / 3)
    lent.purse.heard(pool, ask, answer, lent.clock())

    taken = lent.purse.take(ANN, fee, waiter)

    assert not isinstance(taken, Short)
    assert taken.accounts == ("calls",)
