"""The office of leases: what it hands out, what it takes back, and what it charges the silent."""

from __future__ import annotations

import dataclasses
from math import inf

import pytest
from tests.engine.budgets.leasing import DAILY, Holder, OneNumber

from spanfuse_processor.engine.budget import Account
from spanfuse_processor.engine.budgets.leases import LeaseAsk, Result
from spanfuse_processor.engine.budgets.leasing import REMEMBERED, TTL, LeaseOffice

T = 1_000.0


@pytest.fixture
def till() -> OneNumber:
    return OneNumber(1_000)


@pytest.fixture
def office(till: OneNumber) -> LeaseOffice:
    return LeaseOffice(till, T)


def test_who_wants_something_holds_it(office: LeaseOffice, till: OneNumber) -> None:
    answer = office.ask(LeaseAsk(DAILY, "a", "1", want=100), T)

    assert (answer.result, answer.granted, answer.remaining) == (Result.GRANTED, 100, 1_000)
    assert (till.granted, till.spent) == (100, 0)


def test_the_same_request_is_the_same_ask(office: LeaseOffice, till: OneNumber) -> None:
    ask = LeaseAsk(DAILY, "a", "1", want=100)

    assert office.ask(ask, T) == office.ask(ask, T + 1)
    assert till.granted == 100


def test_an_ask_that_was_overtaken_changes_nothing(office: LeaseOffice, till: OneNumber) -> None:
    late = LeaseAsk(DAILY, "a", "1", want=100)
    office.ask(LeaseAsk(DAILY, "a", "2", want=200, held=0), T)

    office.ask(late, T)

    assert till.granted == 200


def test_what_was_used_is_told_as_a_total_and_charged_once(office: LeaseOffice, till: OneNumber) -> None:
    office.ask(LeaseAsk(DAILY, "a", "1", want=100), T)

    office.ask(LeaseAsk(DAILY, "a", "2", used=60, held=40), T)
    office.ask(LeaseAsk(DAILY, "a", "3", used=60, held=40), T)

    assert (till.spent, till.granted, till.overrun) == (60, 40, 0)


def test_one_lease_gets_a_quarter_of_what_is_there_at_most(office: LeaseOffice) -> None:
    answer = office.ask(LeaseAsk(DAILY, "a", "1", want=900, least=100), T)

    assert (answer.result, answer.granted) == (Result.PARTIAL, 250)


def test_a_call_that_needs_more_gets_it(office: LeaseOffice) -> None:
    assert office.ask(LeaseAsk(DAILY, "a", "1", want=900), T).granted == 900


def test_the_last_quarter_goes_call_by_call(office: LeaseOffice, till: OneNumber) -> None:
    till.spent = 800

    assert office.ask(LeaseAsk(DAILY, "a", "1", want=200, least=50), T).granted == 50


def test_less_than_is_of_use_is_not_granted(office: LeaseOffice, till: OneNumber) -> None:
    till.spent = 950

    answer = office.ask(LeaseAsk(DAILY, "a", "1", want=100), T)

    assert (answer.result, answer.granted, answer.remaining) == (Result.DENIED, 0, 50)
    assert answer.refresh_after < TTL / 3


def test_a_holder_gets_twice_what_it_uses_until_it_asks_again(till: OneNumber, office: LeaseOffice) -> None:
    till.limit = 100_000
    holder = Holder("a")
    for second in range(12):
        holder.talk(office, T + second, want=max(0, 100 - holder.free))
        holder.spend(100)

    holder.talk(office, T + 12)

    assert holder.free == pytest.approx(2 * 100 * TTL / 3, rel=0.05)


def test_who_uses_nothing_is_told_to_give_up_what_it_holds(till: OneNumber, office: LeaseOffice) -> None:
    holder = Holder("a")
    holder.talk(office, T, want=200)

    holder.talk(office, T + TTL / 3)
    assert (holder.free, till.granted) == (0, 200)  # it may have been spent meanwhile

    holder.talk(office, T + TTL / 3)
    assert till.granted == 0


def test_release_gives_back_the_rest(office: LeaseOffice, till: OneNumber) -> None:
    office.ask(LeaseAsk(DAILY, "a", "1", want=100), T)

    office.ask(LeaseAsk(DAILY, "a", "2", used=30, held=70, release=True), T)

    assert (till.spent, till.granted, office.held) == (30, 0, 0)


def test_who_falls_silent_has_spent_all_until_he_comes_back(office: LeaseOffice, till: OneNumber) -> None:
    office.ask(LeaseAsk(DAILY, "a", "1", want=100), T)
    assert office.next_deadline() == T + TTL

    office.expire(T + TTL)
    assert (till.spent, till.granted) == (100, 0)

    answer = office.ask(LeaseAsk(DAILY, "a", "2", used=60, held=10, want=10), T + TTL + 5)
    assert (till.spent, till.granted, answer.granted) == (60, 20, 20)


def test_what_a_silent_holder_spent_in_a_period_that_is_over_stays_charged(
    office: LeaseOffice, till: OneNumber
) -> None:
    office.ask(LeaseAsk(DAILY, "a", "1", want=100), T)
    office.expire(T + TTL)
    till.since, till.spent = T + TTL + 1, 0

    office.ask(LeaseAsk(DAILY, "a", "2", used=60), T + TTL + 5)

    assert till.spent == 0


def test_the_silent_are_forgotten_after_a_day(office: LeaseOffice) -> None:
    office.ask(LeaseAsk(DAILY, "a", "1", want=100), T)
    office.expire(T + TTL)

    office.expire(T + TTL + REMEMBERED + 1)

    assert office.dump() == {"leases": [], "lapsed": []}


def test_an_unknown_lease_is_rebuilt_from_what_its_holder_says(office: LeaseOffice, till: OneNumber) -> None:
    answer = office.ask(LeaseAsk(DAILY, "a", "7", used=300, held=100), T)

    assert answer.granted == 100
    assert (till.spent, till.granted) == (300, 100)


def test_after_a_loss_nothing_new_is_granted_until_the_holders_have_spoken(till: OneNumber) -> None:
    office = LeaseOffice(till, T, clean=False)

    denied = office.ask(LeaseAsk(DAILY, "new", "1", want=100), T + TTL / 2)
    rebuilt = office.ask(LeaseAsk(DAILY, "old", "9", want=100, used=500, held=200), T + TTL / 2)
    later = office.ask(LeaseAsk(DAILY, "new", "2", want=100), T + TTL)

    assert (denied.result, denied.granted) == (Result.DENIED, 0)
    assert (rebuilt.result, rebuilt.granted) == (Result.DENIED, 200)
    assert later.granted == 100


def test_what_is_used_beyond_the_lease_eats_nobody_elses(office: LeaseOffice, till: OneNumber) -> None:
    office.ask(LeaseAsk(DAILY, "a", "1", want=100), T)
    office.ask(LeaseAsk(DAILY, "b", "1", want=100), T)

    office.ask(LeaseAsk(DAILY, "a", "2", used=150), T)

    assert (till.spent, till.granted, till.overrun) == (150, 100, 50)


def test_what_may_be_spent_without_us_is_never_more_than_is_held(till: OneNumber) -> None:
    till.safe = 80
    office = LeaseOffice(till, T)

    assert office.ask(LeaseAsk(DAILY, "a", "1", want=50), T).safe == 50
    assert office.ask(LeaseAsk(DAILY, "a", "2", want=50, held=50), T).safe == 80


@pytest.mark.parametrize("account", [Account("nightly"), Account("daily")], ids=["unknown", "not strict"])
def test_what_needs_no_lease_has_none(till: OneNumber, account: Account) -> None:
    till.strict = False

    with pytest.raises(LookupError):
        LeaseOffice(till, T).ask(LeaseAsk(account, "a", "1", want=1), T)


def test_a_restart_with_its_dump_goes_on_where_it_was(office: LeaseOffice, till: OneNumber) -> None:
    office.ask(LeaseAsk(DAILY, "a", "1", want=100), T)
    office.ask(LeaseAsk(DAILY, "b", "1", want=100), T)

    again = LeaseOffice(till, T)
    again.load(office.dump())
    answer = again.ask(LeaseAsk(DAILY, "a", "2", used=60, held=40), T + 1)

    assert answer == dataclasses.replace(answer, granted=40)
    assert (till.spent, till.granted) == (60, 140)
    assert again.next_deadline() == office.next_deadline()


def test_a_holder_that_it_should_have_known_shows_that_it_forgot(till: OneNumber) -> None:
    office = LeaseOffice(till, T)

    office.ask(LeaseAsk(DAILY, "old", "9", used=300), T + 5)
    denied = office.ask(LeaseAsk(DAILY, "new", "1", want=100), T + 6)
    later = office.ask(LeaseAsk(DAILY, "new", "2", want=100), T + 5 + TTL)

    assert (denied.result, later.granted) == (Result.DENIED, 100)


def test_who_asks_while_it_listens_is_told_when_it_lends_again(till: OneNumber) -> None:
    office = LeaseOffice(till, T, clean=False)

    early = Holder("a").talk(office, T + 8.0, 100)
    late = Holder("b").talk(office, T + TTL, 100)

    assert (early.result, early.lends_in) == (Result.DENIED, TTL - 8.0)
    assert (late.result, late.lends_in) == (Result.GRANTED, 0.0)


@pytest.mark.parametrize(("end", "renews_in"), [(T + 90.0, 90.0), (T, None), (inf, None)])
def test_who_asks_hears_the_limit_and_when_the_period_is_over(
    till: OneNumber, office: LeaseOffice, end: float, renews_in: float | None
) -> None:
    till.end = end

    answer = Holder("a").talk(office, T, 100)

    assert (answer.limit, answer.renews_in) == (till.limit, renews_in)


def test_a_first_life_listens_before_it_lends(till: OneNumber) -> None:
    office = LeaseOffice(till, T, hello=3.0)

    assert office.ask(LeaseAsk(DAILY, "new", "1", want=100), T + 2).granted == 0
    assert office.ask(LeaseAsk(DAILY, "new", "2", want=100), T + 3).granted == 100
