"""A ledger is restored from its dump and what came after it, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.stores.making import NOON, entries, entry
from tests.writing.stores import Faulty, HandClock

from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.store import Written
from spanfuse_processor.writing import Keeper, Writer, restore
from spanfuse_processor.writing.keeping import in_order
from spanfuse_processor.writing.writer import BETWEEN_DUMPS

SOON = 5.0


class FakeLedger:
    """A ledger whose dump is how many entries it has had."""

    def __init__(self) -> None:
        self.fresh: list[Entry] = []
        self.had = 0

    def change(self, *made: Entry) -> None:
        self.fresh += made
        self.had += len(made)

    def drain(self) -> list[Entry]:
        fresh, self.fresh = self.fresh, []
        return fresh

    def dump(self, since: float = 0.0) -> dict[str, Any]:
        return {"number": self.had}


@pytest.fixture
def store() -> Faulty:
    return Faulty()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def writer(store: Faulty, clock: HandClock) -> Iterator[Writer]:
    made = Writer(store.open, clock, lambda _: None, most=20, every=0.005)
    yield made
    made.close(SOON)


def test_of_an_empty_store_nothing_is_restored(store: Faulty) -> None:
    assert restore(store) == (None, [], {})


def test_entries_are_numbered_on_from_the_dump(store: Faulty) -> None:
    store.append_ledger("a", 1, [entry(41), entry(42, wall=NOON + 1), entry(43, wall=NOON + 2)])
    store.append_ledger("b", 1, [entry(7, wall=NOON + 1.5)])
    store.save_ledger({"number": 41}, {"a": 1}, NOON)

    dump, restored, seen = restore(store)

    assert dump == {"number": 41}
    assert [(each.number, each.wall - NOON) for each in restored] == [(42, 1), (43, 1.5), (44, 2)]
    assert seen == {"a": 3, "b": 1}


def test_a_writers_own_order_stays_when_its_clock_goes_back() -> None:
    back = [Written("a", 1, entry(1, wall=5.0)), Written("a", 2, entry(2, wall=3.0))]
    other = [Written("b", 1, entry(1, wall=4.0))]

    assert [(each.writer, each.number) for each in in_order(back + other)] == [("b", 1), ("a", 1), ("a", 2)]


def test_what_changes_is_handed_over_and_nothing_twice(writer: Writer, store: Faulty) -> None:
    ledger, keeper = FakeLedger(), Keeper(writer, {})

    for number in (1, 2, 3):
        ledger.change(entry(number))
        keeper.keep(ledger, NOON)
    keeper.keep(ledger, NOON)

    assert writer.flush(SOON)
    assert [each.entry.number for each in store.read_ledger({})] == [1, 2, 3]


def test_after_a_loss_a_dump_makes_the_ledger_whole_again(
    writer: Writer, store: Faulty, clock: HandClock
) -> None:
    store.append_ledger("earlier", 1, entries(1))
    ledger, keeper = FakeLedger(), Keeper(writer, {"earlier": 1})
    ledger.change(*entries(*range(1, 31)))
    keeper.keep(ledger, NOON)
    assert writer.stats().dropped == 11
    assert writer.flush(SOON)

    clock.now += BETWEEN_DUMPS
    keeper.keep(ledger, NOON)

    assert writer.flush(SOON)
    assert restore(store) == ({"number": 30}, [], {"earlier": 1, writer.name: 19})


def test_what_was_read_along_is_included_in_the_next_dump(writer: Writer) -> None:
    keeper = Keeper(writer, {"a": 1})

    keeper.saw([Written("a", 2, entry(2)), Written("b", 1, entry(1))])

    assert keeper.seen == {"a": 2, "b": 1}
