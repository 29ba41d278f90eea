"""The purse of leases: when more is asked for, and what happens when nobody answers."""

from __future__ import annotations

import pytest
from tests.library.purses.lent import BUDGET, DAILY, Lent

from spanfuse.purse import Short
from spanfuse.purses.leased import IDLE
from spanfuse_processor.engine.budget import Amounts
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk, Result
from spanfuse_processor.engine.budgets.leasing import AGAIN, TTL, LeaseOffice
from spanfuse_processor.engine.budgets.requirements import requirement


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


def test_who_has_enough_and_has_not_looked_yet_is_not_asked_for_again() -> None:
    lent, waiter = Lent(), object()
    lent.take(100, waiter)
    lent.talk()

    assert lent.talk() == []


def test_what_holds_nothing_and_has_told_all_is_not_refreshed() -> None:
    lent = Lent()
    lent.taken(100).settle(Amounts(usd=100))
    lent.talk()
    lent.clock.pass_(TTL / 3)
    lent.talk()

    for _ in range(5):
        lent.clock.pass_(TTL)
        assert lent.talk() == []

    lent.purse.announce()
    assert [ask.used for ask in lent.talk()] == [100]
