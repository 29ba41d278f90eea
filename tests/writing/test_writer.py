"""The writer keeps whatever it is handed, when the store is away too, and nobody waits for it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from tests.stores.making import NOON, call, entries, happened
from tests.waiting import until
from tests.writing.stores import Faulty, HandClock

from spanfuse_processor.store import LEAST_BETWEEN_DUMPS
from spanfuse_processor.writing import Writer
from spanfuse_processor.writing.writer import BETWEEN_DUMPS, ENTRIES_TO_DUMP, LONGEST_BETWEEN_DUMPS

ALL = (0.0, 2 * NOON)
SOON = 5.0  # seconds, at most


@pytest.fixture
def store() -> Faulty:
    return Faulty()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def faults() -> list[BaseException]:
    return []


@pytest.fixture
def writer(store: Faulty, clock: HandClock, faults: list[BaseException]) -> Iterator[Writer]:
    made = Writer(store.open, clock, faults.append, most=1_000, every=0.01)
    yield made
    store.gate.set()
    made.close(SOON)


def numbers(store: Faulty) -> list[int]:
    return [each.number for each in store.read_ledger({})]


def test_what_is_handed_over_is_kept(writer: Writer, store: Faulty) -> None:
    writer.steps([call(1), call(2)])
    writer.events([happened(1)])
    writer.ledger(entries(1, 2, 3))

    assert writer.flush(SOON)
    assert store.spend((), *ALL)[0].calls == 2
    assert store.event("event-1")
    assert numbers(store) == [1, 2, 3]
    assert writer.stats() == (0, 6, 0, 0, 0, False)


def test_it_is_kept_without_being_asked(writer: Writer, store: Faulty) -> None:
    writer.steps([call(1)])

    until(lambda: store.spend((), *ALL))


def test_a_writer_that_was_handed_nothing_opens_no_store(writer: Writer, store: Faulty) -> None:
    writer.steps([])
    writer.ledger([])

    assert writer.flush(SOON)
    assert store.opened == 0


def test_nobody_waits_for_a_store_that_hangs(writer: Writer, store: Faulty) -> None:
    store.gate.clear()
    writer.steps([call(0)])
    until(lambda: store.opened)

    slowest = 0.0
    for number in range(300):
        before = time.perf_counter()
        writer.steps([call(number)])
        writer.ledger(entries(number))
        slowest = max(slowest, time.perf_counter() - before)

    assert slowest < 0.1
    assert writer.stats().waiting == 601
    store.gate.set()
    assert writer.flush(SOON)


def test_a_store_that_is_away_loses_nothing_and_is_counted(
    writer: Writer, store: Faulty, faults: list[BaseException]
) -> None:
    store.away = True
    writer.steps([call(1)])
    writer.ledger(entries(1, 2))
    until(lambda: writer.stats().failing and writer.stats().failures >= 2)
    assert writer.stats().waiting == 3

    store.away = False

    until(lambda: not writer.stats().waiting)
    assert store.spend((), *ALL)[0].calls == 1
    assert numbers(store) == [1, 2]
    assert not writer.stats().failing
    assert len(faults) == writer.stats().failures


def test_what_was_kept_without_an_answer_is_kept_once(writer: Writer, store: Faulty) -> None:
    store.forgetful = 3
    writer.steps([call(1), call(2)])
    writer.ledger(entries(1, 2))

    until(lambda: not writer.stats().waiting)

    assert writer.stats().failures == 3
    assert store.opened == 4  # anew after each
    assert store.spend((), *ALL)[0].calls == 2
    assert numbers(store) == [1, 2]


def test_when_too_much_waits_the_newest_is_dropped_and_counted(writer: Writer, store: Faulty) -> None:
    store.gate.clear()
    writer.steps([call(number) for number in range(990)])
    writer.ledger(entries(*range(1, 121)))
    writer.events([happened(number) for number in range(51)])

    assert writer.stats()[:3] == (1_000, 0, 90 + 70 + 1)
    assert [each.dropped for each in writer.by_kind().values()] == [70, 90, 1, 0]

    store.gate.set()
    assert writer.flush(SOON)
    assert numbers(store) == list(range(1, 51))


def test_a_row_that_no_table_holds_is_left_out_alone(
    writer: Writer, store: Faulty, faults: list[BaseException]
) -> None:
    writer.steps([call(number, feature="bad" if number == 7 else "good") for number in range(20)])

    assert writer.flush(SOON)
    assert store.spend((), *ALL)[0].calls == 19
    assert writer.stats()[1:] == (19, 0, 1, 0, False)
    assert [str(fault) for fault in faults] == ["bad"]


def test_a_text_that_no_table_holds_is_mended(writer: Writer, store: Faulty) -> None:
    writer.steps([call(1, feature="a\x00b")])

    assert writer.flush(SOON)
    assert store.spend(("feature",), *ALL)[0].values == ("a?b",)
    assert writer.stats().refused == 0


def test_a_dump_includes_exactly_what_was_handed_over_before_it(writer: Writer, store: Faulty) -> None:
    store.gate.clear()
    writer.ledger(entries(1, 2))
    writer.dump({"n": 2}, {"other": 5}, NOON)
    writer.ledger(entries(3))
    store.gate.set()

    assert writer.flush(SOON)
    saved = store.load_ledger()
    assert saved.dump == {"n": 2}
    assert [each.number for each in store.read_ledger({writer.name: 2})] == [3]


def test_a_dump_is_due_after_many_entries_but_every_few_minutes_at_most(
    store: Faulty, clock: HandClock
) -> None:
    writer = Writer(store.open, clock, print, most=2 * ENTRIES_TO_DUMP, every=0.01)
    writer.ledger(entries(*range(1, ENTRIES_TO_DUMP + 1)))
    assert writer.flush(SOON)
    assert not writer.wants_dump

    clock.now += BETWEEN_DUMPS
    assert writer.wants_dump

    writer.dump({"n": 1}, {}, NOON)
    assert writer.flush(SOON)
    clock.now += BETWEEN_DUMPS
    assert not writer.wants_dump
    assert writer.close(SOON)


def test_a_dump_of_few_entries_is_due_once_in_a_while(
    writer: Writer, store: Faulty, clock: HandClock
) -> None:
    clock.now += LONGEST_BETWEEN_DUMPS
    assert not writer.wants_dump

    writer.ledger(entries(1))
    assert writer.flush(SOON)

    assert writer.wants_dump


def test_a_dump_is_due_when_entries_were_dropped(writer: Writer, store: Faulty, clock: HandClock) -> None:
    writer.ledger(entries(*range(1, 1_002)))
    clock.now += BETWEEN_DUMPS
    assert writer.wants_dump

    writer.dump({"n": 1}, {}, NOON)

    assert writer.flush(SOON)
    clock.now += BETWEEN_DUMPS
    assert not writer.wants_dump


def test_a_dump_that_the_store_refuses_is_wanted_again(
    writer: Writer, store: Faulty, clock: HandClock
) -> None:
    store.append_ledger("other", 1, entries(1))
    store.save_ledger({"of": "other"}, {"other": 1}, NOON)
    writer.ledger(entries(1))

    writer.dump({"of": "me"}, {}, NOON + LEAST_BETWEEN_DUMPS)

    assert writer.flush(SOON)
    assert store.load_ledger().dump == {"of": "other"}
    clock.now += BETWEEN_DUMPS
    assert writer.wants_dump


def test_a_dump_that_is_no_plain_data_is_left_out(writer: Writer, store: Faulty) -> None:
    writer.dump({"n": object()}, {}, NOON)
    writer.ledger(entries(1))

    assert writer.flush(SOON)
    assert store.load_ledger().dump is None
    assert numbers(store) == [1]


def test_closing_writes_what_waits(writer: Writer, store: Faulty) -> None:
    writer.steps([call(number) for number in range(700)])

    assert writer.close(SOON)
    assert store.spend((), *ALL)[0].calls == 700


def test_closing_takes_as_long_as_it_may_and_counts_what_is_left(writer: Writer, store: Faulty) -> None:
    store.away = True
    writer.steps([call(1), call(2)])

    before = time.perf_counter()
    assert not writer.close(0.05)

    assert time.perf_counter() - before < 1.0
    assert writer.stats()[:3] == (0, 0, 2)
    writer.steps([call(3)])
    assert writer.stats().dropped == 3


def test_once_closed_it_does_not_go_on_trying(writer: Writer, store: Faulty) -> None:
    store.away = True
    writer.steps([call(1)])
    writer.prune(NOON)
    until(lambda: store.opened)

    writer.close(0.05)

    until(lambda: writer._thread and not writer._thread.is_alive())


def test_a_child_of_a_fork_writes_what_it_was_handed_itself(
    writer: Writer, store: Faulty, tmp_path: object
) -> None:
    writer.ledger(entries(1))
    assert writer.flush(SOON)
    name = writer.name
    store.gate.clear()
    writer.steps([call(1)])

    reading, writing = os.pipe()
    child = os.fork()
    if not child:  # pragma: no cover - in the child
        store.gate.set()
        alone = writer.stats().waiting == 0 and writer.name != name
        writer.ledger(entries(2))
        kept = writer.flush(SOON) and len(numbers(store)) == 2
        os.write(writing, b"yes" if alone and kept else b"no")
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)

    assert os.read(reading, 10) == b"yes"
    os.close(reading)
    assert writer.stats().waiting == 1


def test_what_is_old_is_let_go_behind_everything_else(writer: Writer, store: Faulty) -> None:
    writer.steps([call(1, NOON - 10), call(2, NOON)])
    assert writer.flush(SOON)

    writer.prune(NOON)

    until(lambda: store.spend((), *ALL)[0].calls == 1)
