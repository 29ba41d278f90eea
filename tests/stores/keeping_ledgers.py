"""What every store must do with ledgers, and for processes that share it, written once.

As in `conformance.py`, a class with these tests has a fixture `url`: that of an empty store.
"""

from __future__ import annotations

import pytest
from tests.stores.conformance import ALL
from tests.stores.making import NOON, call, entries, entry, happened

from spanfuse_processor.store import FORGOTTEN_AFTER, LEAST_BETWEEN_DUMPS, LedgerGap, Store, Written
from spanfuse_processor.storing import open_store

LATER = NOON + LEAST_BETWEEN_DUMPS


class Ledger:
    """The log of the ledger, and its dumps."""

    def test_at_first_there_is_nothing(self, store: Store) -> None:
        assert store.load_ledger() == (None, {})
        assert list(store.read_ledger({})) == []

    def test_entries_come_back_as_they_were_in_their_order(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1, 2))
        store.append_ledger("a", 3, entries(3))

        assert list(store.read_ledger({})) == [Written("a", n, entry(n)) for n in (1, 2, 3)]

    def test_a_batch_that_is_written_twice_is_there_once(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1, 2))
        store.append_ledger("a", 1, entries(1, 2))
        store.append_ledger("a", 2, entries(2, 3))

        assert [each.number for each in store.read_ledger({})] == [1, 2, 3]

    def test_each_writer_has_its_own_numbers(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1, 2))
        store.append_ledger("b", 1, entries(7))

        read = store.read_ledger({"a": 1})

        assert {(each.writer, each.number, each.entry.number) for each in read} == {("a", 2, 2), ("b", 1, 7)}

    def test_a_writer_need_not_read_its_own(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1))
        store.append_ledger("b", 1, entries(2))

        assert [each.writer for each in store.read_ledger({}, but="a")] == ["b"]

    def test_a_dump_and_what_came_after_it_are_the_whole(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1, 2))
        assert store.save_ledger({"spent": {"daily": 2_000}}, {"a": 2}, NOON)
        store.append_ledger("a", 3, entries(3))

        saved = store.load_ledger()

        assert saved == ({"spent": {"daily": 2_000}}, {"a": 2})
        assert [each.number for each in store.read_ledger(saved.seen)] == [3]

    def test_a_dump_that_includes_less_is_refused(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1, 2))
        store.append_ledger("b", 1, entries(7))
        assert store.save_ledger({"of": "a"}, {"a": 2}, NOON)

        assert not store.save_ledger({"of": "b"}, {"a": 1, "b": 1}, LATER)
        assert store.load_ledger().dump == {"of": "a"}
        assert store.save_ledger({"of": "both"}, {"a": 2, "b": 1}, LATER)
        assert store.load_ledger() == ({"of": "both"}, {"a": 2, "b": 1})

    def test_a_dump_soon_after_another_takes_its_place_and_lets_nothing_go(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1, 2))
        store.save_ledger({"n": 1}, {"a": 1}, NOON)

        for number in (2, 3, 4):
            assert store.save_ledger({"n": number}, {"a": 2}, NOON + number)

        assert store.load_ledger() == ({"n": 4}, {"a": 2})
        assert [each.number for each in store.read_ledger({})] == [1, 2]

    def test_what_a_dump_included_long_enough_is_let_go_and_not_before(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1, 2, 3))
        store.save_ledger({}, {"a": 2}, NOON)
        assert [each.number for each in store.read_ledger({"a": 1})] == [2, 3]

        store.save_ledger({}, {"a": 3}, LATER)

        assert [each.number for each in store.read_ledger({"a": 2})] == [3]
        with pytest.raises(LedgerGap):
            store.read_ledger({"a": 1})

    def test_entries_that_were_let_go_do_not_come_back(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1, 2))
        store.save_ledger({}, {"a": 2}, NOON)
        store.save_ledger({}, {"a": 2}, LATER)

        store.append_ledger("a", 1, entries(1, 2))
        store.append_ledger("a", 2, entries(2, 3))

        assert [each.number for each in store.read_ledger({"a": 2})] == [3]

    def test_writers_that_are_long_over_are_forgotten(self, store: Store) -> None:
        store.append_ledger("old", 1, entries(1))
        store.append_ledger("lost", 1, [entry(2)])
        tomorrow = NOON + FORGOTTEN_AFTER + 1
        store.append_ledger("new", 1, [entry(3, wall=tomorrow)])

        store.save_ledger({}, {"old": 1, "new": 1}, tomorrow)

        assert store.load_ledger().seen == {"new": 1}
        assert {each.writer for each in store.read_ledger({})} == {"lost", "new"}

    def test_a_writer_that_was_forgotten_may_go_on(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(1, 2))
        tomorrow = NOON + FORGOTTEN_AFTER + 1
        store.save_ledger({}, {"a": 2}, tomorrow)
        assert store.load_ledger().seen == {}

        store.append_ledger("a", 3, entries(3))
        store.append_ledger("a", 4, entries(4))

        assert [each.number for each in store.read_ledger({})] == [3, 4]
        assert [each.number for each in store.read_ledger({"a": 3})] == [4]

    def test_many_entries_in_one_batch(self, store: Store) -> None:
        store.append_ledger("a", 1, entries(*range(1, 3_501)))

        assert [each.number for each in store.read_ledger({"a": 500})] == list(range(501, 3_501))


class Lasting:
    """What holds beyond one process."""

    def test_another_process_finds_it_all(self, store: Store, url: str) -> None:
        store.append_steps([call(1)])
        store.append_events([happened(1)])
        store.append_ledger("a", 1, entries(1, 2))
        store.save_ledger({"n": 1}, {"a": 1}, NOON)

        other = open_store(url)

        try:
            assert other.spend((), *ALL)[0].calls == 1
            assert other.event("event-1") is not None
            assert other.load_ledger() == ({"n": 1}, {"a": 1})
            assert [each.number for each in other.read_ledger({"a": 1})] == [2]
        finally:
            other.close()

    def test_two_processes_write_side_by_side(self, store: Store, url: str) -> None:
        other = open_store(url)
        try:
            for number in range(1, 6):
                store.append_ledger("a", number, entries(number))
                other.append_ledger("b", number, entries(number))
                other.append_steps([call(number)])
                store.append_steps([call(number)])
        finally:
            other.close()

        assert len(store.read_ledger({})) == 10
        assert store.spend((), *ALL)[0].calls == 5
