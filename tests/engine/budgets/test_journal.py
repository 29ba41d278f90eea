"""The journal: every change once, numbered; bounded, and honest about what was lost."""

from __future__ import annotations

from tests.engine.budgets.ledgers import CHAT, DAILY, NOON, ledger, usd

from spanfuse_processor.engine.budget import Budget, Measure
from spanfuse_processor.engine.budgets.book import Book
from spanfuse_processor.engine.budgets.journal import Change, Entry, Journal

BOOK = Book(DAILY, Budget("daily", 100), NOON, print)


def test_entries_are_numbered_and_handed_out_once() -> None:
    money = ledger(journal=10)
    money.charge(b"a", CHAT, usd(5), NOON, NOON)
    money.grant(DAILY, 7, NOON)

    assert money.drain() == [
        Entry(1, b"a", DAILY, 5, Measure.USD, NOON, Change.CHARGE, 5, 0, 5, 0, 1),
        Entry(2, b"", DAILY, 7, Measure.USD, NOON, Change.GRANT),
    ]
    assert money.drain() == []
    money.give_back(DAILY, 7, NOON)
    assert [each.number for each in money.drain()] == [3]


def test_where_nobody_writes_nothing_is_kept() -> None:
    money = ledger()
    money.charge(b"a", CHAT, usd(5), NOON, NOON)

    assert money.drain() == []


def test_of_too_many_the_oldest_are_lost_and_counted() -> None:
    journal = Journal(3)
    for number in range(5):
        journal.note(Change.CHARGE, bytes([number]), BOOK, 1, NOON)

    assert [each.number for each in journal.drain()] == [3, 4, 5]
    assert journal.lost == 2

    money = ledger(journal=1)
    for key in (b"a", b"b", b"c"):
        money.charge(key, CHAT, usd(5), NOON, NOON)
    assert money.stats.lost == 2
