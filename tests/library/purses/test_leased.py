"""The purse of leases: what is held is spent here, what is missing is asked for, nothing is spent twice."""

from __future__ import annotations

import pytest
from tests.engine.budgets.leasing import OneNumber
from tests.library.making import Clock

from spanfuse.board import Board
from spanfuse.purse import Short, Taken
from spanfuse.purses.leased import IDLE, LeasedPurse
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk, Result
from spanfuse_processor.engine.budgets.leasing import AGAIN, TTL, LeaseOffice
from spanfuse_processor.engine.budgets.requirements import requirement, requirement_id
from spanfuse_processor.engine.reach import Payer, Reach
from spanfuse_processor.engine.verdicts import Mode

DAILY = Account("daily")
BUDGET = Budget("daily", 1_000, strict=True)
ANN = Payer(user="ann", model="gpt-4o")
TEN = Amounts(usd=10)


class Lent:
    """A purse, its clock, and a processor that answers when the test says so."""

    def __init__(self, *budgets: Budget, limit: int = 1_000, safe: int = 0, clean: bool = True) -> None:
        self.clock = Clock()
        self.board = Board(self.clock)
        self.rings = 0
        self.till = OneNumber(limit, safe=safe)
        self.office = LeaseOffice(self.till, self.clock(), clean=clean)
        for number, budget in enumerate(budgets or (BUDGET,)):
            self.board.post(requirement(budget, number + 1))
        self.purse = LeasedPurse(self.board, self._ring)

    def _ring(self) -> None:
        self.rings += 1

    def talk(self) -> list[LeaseAsk]:
        """What is due is asked, and answered."""
        due = self.purse.due()
        for pool, ask in due:
            self.purse.heard(pool, ask, self.office.ask(ask, self.clock()), self.clock())
        return [ask for _, ask in due]

    def take(self, amount: int, waiter: object | None = None) -> Taken | Short:
        return self.purse.take(ANN, Amounts(usd=amount), waiter or object())

    def taken(self, amount: int) -> Taken:
        """Takes, after having asked where it must."""
        waiter = object()
        first = self.take(amount, waiter)
        if isinstance(first, Short):
            self.talk()
            first = self.take(amount, waiter)
        assert not isinstance(first, Short), first
        return first


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

    assert short == Short(DAILY, Measure.USD, 100, None, can_come=True, patience=5.0)
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


def test_several_who_wait_are_asked_for_together() -> None:
    lent = Lent()
    for _ in range(3):
        lent.take(100)

    assert [(ask.want, ask.least) for ask in lent.talk()] == [(300, 100)]


def test_who_has_gone_is_not_asked_for() -> None:
    lent, waiter = Lent(), object()
    lent.take(100, waiter)

    lent.purse.leave(waiter)

    assert lent.talk() == []


def test_when_all_is_spent_nobody_waits() -> None:
    lent = Lent(limit=50)
    waiter = object()
    assert isinstance(short := lent.take(100, waiter), Short)
    assert short.can_come
    lent.talk()

    short = lent.take(100, waiter)

    assert isinstance(short, Short)
    assert (short.left, short.can_come) == (50, False)


def test_an_answer_of_long_ago_refuses_nobody() -> None:
    """The period may be another by now."""
    lent = Lent(limit=50)
    lent.take(100)
    lent.talk()
    lent.clock.pass_(1.0)

    short = lent.take(100)

    assert isinstance(short, Short)
    assert short.can_come


def test_who_was_denied_gives_up_what_is_of_no_use_to_it_and_asks_again_later() -> None:
    lent = Lent(limit=100)
    lent.taken(60).settle(Amounts(usd=30))  # 30 is free here
    other = lent.office.ask(LeaseAsk(DAILY, "other", "1", want=40), lent.clock())
    assert other.granted == 40

    lent.take(50)
    lent.talk()  # denied: 30 and 20 more is not there
    assert [(ask.held, ask.want) for ask in lent.talk()] == [(0, 0)]
    assert lent.till.left == 30
    assert lent.talk() == []

    lent.clock.pass_(AGAIN)
    assert [ask.want for ask in lent.talk()] == [50]


def test_it_asks_ahead_when_half_is_used() -> None:
    lent = Lent()
    lent.taken(100)
    lent.clock.pass_(1.0)
    pool = lent.purse.pools[0]
    pool.heard(pool.ask(lent.clock()), LeaseAnswer(Result.GRANTED, "", 200, 500, TTL, TTL / 3), 0.0, 0.0)
    rings = lent.rings

    lent.take(60)

    assert lent.rings == rings + 1
    assert len(lent.purse.due()) == 1


def test_a_lease_that_ran_out_is_worth_nothing() -> None:
    lent = Lent()
    lent.taken(100).cancel()

    lent.clock.pass_(TTL)

    assert isinstance(lent.take(1), Short)


def test_but_for_its_safe_part() -> None:
    lent = Lent(safe=30)
    lent.taken(100).cancel()
    lent.clock.pass_(TTL)

    assert isinstance(lent.take(40), Short)
    assert not isinstance(lent.take(30), Short)
    assert isinstance(lent.take(1), Short)


def test_who_comes_back_after_its_lease_ran_out_is_refunded() -> None:
    lent = Lent()
    lent.taken(100).settle(Amounts(usd=40))
    lent.clock.pass_(TTL)
    lent.office.expire(lent.clock())
    assert lent.till.spent == 100

    lent.take(1)
    lent.talk()

    assert lent.till.spent == 40


def test_who_cannot_be_asked_says_so_and_is_asked_again() -> None:
    lent, waiter = Lent(), object()
    lent.take(100, waiter)
    pool, _ = lent.purse.due()[0]

    lent.purse.unheard(pool, "UNAVAILABLE", 0.5)

    short = lent.take(100, waiter)
    assert isinstance(short, Short)
    assert short.problem == "UNAVAILABLE"
    assert lent.talk() == []
    lent.clock.pass_(0.5)
    assert len(lent.talk()) == 1
    assert not isinstance(lent.take(100, waiter), Short)


def test_a_new_processor_is_told_at_once_what_is_held() -> None:
    lent = Lent()
    lent.taken(100).settle(Amounts(usd=40))
    lent.office = LeaseOffice(lent.till, lent.clock(), clean=False)
    lent.till.spent = lent.till.granted = 0
    assert lent.talk() == []

    lent.purse.announce()

    assert [(ask.used, ask.held) for ask in lent.talk()] == [(40, 60)]
    assert (lent.till.spent, lent.till.granted) == (40, 60)
    assert lent.purse.told


def test_an_order_that_the_processor_does_not_know_is_void_until_it_comes_anew() -> None:
    lent = Lent()
    lent.take(100)

    lent.purse.void(DAILY)
    assert lent.purse.idle

    lent.board.post(requirement(BUDGET, 7))
    assert not lent.purse.idle


def test_at_the_end_all_is_given_back_and_what_is_under_way_counts_as_spent() -> None:
    lent = Lent()
    lent.taken(100)
    lent.taken(50).cancel()

    for _, ask in lent.purse.farewells():
        lent.office.ask(ask, lent.clock())

    assert (lent.till.spent, lent.till.granted) == (100, 0)
    assert lent.purse.farewells() == []


def test_what_nobody_uses_is_given_up() -> None:
    lent = Lent()
    lent.taken(100).settle(Amounts(usd=40))
    for _ in range(3):
        lent.clock.pass_(IDLE / 2)
        lent.talk()

    assert lent.purse.pools == []
    assert (lent.till.spent, lent.till.granted) == (40, 0)


def test_the_next_look_is_when_something_is_due() -> None:
    lent = Lent()
    assert lent.purse.next_due() == IDLE
    lent.taken(100)
    assert lent.purse.next_due() == 0  # more than half is used
    lent.talk()

    assert lent.purse.next_due() == pytest.approx(TTL / 3)
