"""What a journal says is done again: once, whoever says it, and in whatever order."""

from __future__ import annotations

from collections.abc import Sequence

from tests.engine.budgets.ledgers import CHAT, DAILY, NOON, ledger, usd

from spanfuse_processor.engine.budget import Account, Budget, Period
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.budgets.ledger import Ledger

HOURLY = Account("hourly")
BUDGETS = (
    Budget("daily", 1_000),
    Budget("hourly", 1_000, period=Period.HOURLY, strict=True),
)


def replica(journal: int = 100) -> Ledger:
    return ledger(*BUDGETS, journal=journal)


def counted(entries: Sequence[Entry], wall: float = NOON) -> Balance:
    """What the daily account comes to for who has only read."""
    reader = replica()
    reader.follow(entries)
    return reader.balance(DAILY, wall)


def test_what_another_charged_counts_here_and_is_not_noted() -> None:
    one, other = replica(), replica()
    one.charge(b"a", CHAT, usd(5), NOON, NOON)
    other.charge(b"b", CHAT, usd(7), NOON, NOON)
    other.drain()

    assert other.follow(one.drain()) == (DAILY, HOURLY)

    assert other.balance(DAILY, NOON)[1:2] == (12,)
    assert other.balance(DAILY, NOON).calls == 2
    assert other.drain() == []


def test_a_call_that_both_were_told_of_counts_once() -> None:
    one, other = replica(), replica()
    for each in (one, other):
        each.charge(b"a", CHAT, usd(5), NOON, NOON, unpriced=True)
    first, second = one.drain(), other.drain()

    assert other.follow(first) == one.follow(second) == ()

    assert one.balances(NOON) == other.balances(NOON)
    assert (other.balance(DAILY, NOON).spent, other.balance(DAILY, NOON).unpriced) == (5, 1)


def test_what_is_read_twice_counts_once() -> None:
    one = replica()
    one.charge(b"a", CHAT, usd(5), NOON, NOON)
    one.correct(b"a", usd(9), NOON + 1)
    entries = one.drain()

    assert counted(entries) == counted([*entries, *entries])
    assert counted(entries).spent == 9


def test_a_price_that_is_read_before_its_call_is_waited_for() -> None:
    """As it is where the clocks of those who wrote it do not agree."""
    one, other = replica(), replica()
    one.charge(b"a", CHAT, usd(5), NOON, NOON, unpriced=True)
    charged = one.drain()
    other.follow(charged)
    other.correct(b"a", usd(9), NOON + 1)
    corrected = other.drain()

    assert counted([*corrected, *charged]) == counted([*charged, *corrected])
    assert counted([*corrected, *charged])[:2] == (1_000, 9)
    assert counted([*corrected, *charged]).calls == 1


def test_a_price_of_a_call_that_was_forgotten_changes_it_by_the_difference() -> None:
    one = replica()
    one.charge(b"a", CHAT, usd(5), NOON, NOON)
    one.correct(b"a", usd(9), NOON + 1)

    assert (counted(one.drain()[2:]).spent, counted(()).spent) == (4, 0)


def test_a_call_that_another_charged_is_promised_nothing_here_any_more() -> None:
    one, other = replica(), replica()
    other.reserve(b"a", CHAT, usd(6), NOON)
    one.charge(b"a", CHAT, usd(5), NOON, NOON)

    other.follow(one.drain())

    assert other.balance(HOURLY, NOON).reserved == 0
    assert other.charge(b"a", CHAT, usd(5), NOON, NOON) == ()
    assert other.balance(HOURLY, NOON).spent == 5


def test_what_was_spent_in_a_period_that_is_over_counts_in_none_that_is_now() -> None:
    one, other = replica(), replica()
    one.charge(b"a", CHAT, usd(5), NOON, NOON)
    other.charge(b"b", CHAT, usd(7), NOON + 3_600, NOON + 3_600)

    other.follow(one.drain())

    assert other.balance(HOURLY, NOON + 3_600).spent == 7
    assert other.balance(DAILY, NOON + 3_600).spent == 12


def test_what_a_lease_of_another_holds_is_promised_here_too() -> None:
    one, other = replica(), replica()
    one.grant(HOURLY, 600, NOON, b"lease")

    other.follow(one.drain())

    assert other.grant(HOURLY, 600, NOON) == 400
    one.used(HOURLY, 700, NOON, 600, b"lease")
    other.follow(one.drain())
    assert other.balance(HOURLY, NOON)[1:3] == (700, 400)
    assert other.balance(HOURLY, NOON).overrun == 100
