"""The purse of leases: what those who are short hear, and how soon is told what was spent."""

from __future__ import annotations

from tests.library.purses.lent import Lent

from spanfuse.purse import Short
from spanfuse.purses.pool import EVERY
from spanfuse_processor.engine.budget import Amounts
from spanfuse_processor.engine.budgets.leasing import TTL, LeaseOffice


def test_who_is_short_while_the_processor_lends_nothing_hears_so_and_does_not_wait_in_vain() -> None:
    lent, waiter = Lent(clean=False), object()
    lent.take(100, waiter)
    lent.talk()

    short = lent.take(100, waiter)

    assert isinstance(short, Short)
    assert (short.lends_in, short.can_come) == (TTL, False)


def test_but_waits_where_it_lends_again_in_time() -> None:
    lent, waiter = Lent(clean=False), object()
    lent.clock.pass_(TTL - 3.0)
    lent.take(100, waiter)
    lent.talk()

    short = lent.take(100, waiter)

    assert isinstance(short, Short)
    assert (short.lends_in, short.can_come) == (3.0, True)
    lent.clock.pass_(3.0)
    lent.talk()
    assert not isinstance(lent.take(100, waiter), Short)


def test_who_is_short_hears_of_how_much() -> None:
    lent, waiter = Lent(limit=50), object()
    lent.till.end = lent.clock() + 60.0
    lent.take(100, waiter)
    lent.talk()
    lent.clock.pass_(0.25)

    short = lent.take(100, waiter)

    assert isinstance(short, Short)
    assert (short.limit, short.renews_in) == (50, 59.75)


def used(amount: int) -> Lent:
    """All that one is allowed is under way, and then so much of it is spent."""
    lent = Lent()
    waiter = object()
    lent.take(250, waiter)
    lent.talk()
    slice_ = lent.take(250, waiter)
    assert not isinstance(slice_, Short)
    lent.rings = 0
    slice_.settle(Amounts(usd=amount))
    return lent


def test_a_tenth_of_the_limit_that_was_spent_is_told_at_once() -> None:
    lent = used(100)

    assert lent.rings == 1
    assert [ask.used for ask in lent.talk()] == [100]
    assert lent.talk() == []


def test_less_is_told_after_a_second() -> None:
    lent = used(30)
    assert lent.rings == 1
    assert lent.talk() == []
    assert lent.purse.next_due() == EVERY

    lent.clock.pass_(EVERY)

    assert [ask.used for ask in lent.talk()] == [30]


def test_what_is_next_to_nothing_waits_for_the_next_ask_but_one() -> None:
    lent = used(9)

    lent.clock.pass_(EVERY)

    assert lent.rings == 0
    assert lent.talk() == []


def test_what_is_too_little_for_one_call_is_kept_while_nobody_could_have_it() -> None:
    lent = Lent()
    lent.taken(60).settle(Amounts(usd=30))  # 30 is free here
    lent.talk()
    lent.office = LeaseOffice(lent.till, lent.clock(), clean=False)
    lent.purse.announce()
    lent.take(50)

    lent.talk()

    assert not isinstance(lent.take(30), Short)
