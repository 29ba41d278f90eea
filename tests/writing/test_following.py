"""What other replicas spend is read along, once, and after an outage too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.stores.making import NOON, entries
from tests.waiting import until
from tests.writing.stores import Faulty

from spanfuse_processor.store import LEAST_BETWEEN_DUMPS, Seen, Store, Written
from spanfuse_processor.writing import Follower

SOON = 5.0


class Replica:
    """A follower, and what it read."""

    def __init__(self, store: Faulty, seen: Seen) -> None:
        self.told: list[Written] = []
        self.faults: list[BaseException] = []
        self.store = store
        self.gaps = self.ends = 0
        self.follower = Follower(
            self.open,
            "me",
            seen,
            self.told.extend,
            self.missed,
            self.faults.append,
            every=0.005,
            on_back=self.back,
        )

    def open(self) -> Store:
        return self.store.open()

    def back(self) -> None:
        self.ends += 1

    def missed(self) -> None:
        self.gaps += 1

    @property
    def numbers(self) -> list[tuple[str, int]]:
        return [(each.writer, each.number) for each in self.told]


@pytest.fixture
def store() -> Faulty:
    return Faulty()


@pytest.fixture
def replica(store: Faulty) -> Iterator[Replica]:
    made = Replica(store, {"other": 1})
    yield made
    store.gate.set()
    assert made.follower.stop(SOON)


def test_what_others_write_is_handed_on_once(store: Faulty, replica: Replica) -> None:
    store.append_ledger("other", 1, entries(1, 2))
    store.append_ledger("me", 1, entries(1, 2))
    replica.follower.start()
    until(lambda: replica.told)

    store.append_ledger("other", 3, entries(3))
    store.append_ledger("third", 1, entries(1))

    until(lambda: len(replica.told) == 3)
    assert set(replica.numbers) == {("other", 2), ("other", 3), ("third", 1)}
    assert replica.follower.read == 3


def test_after_an_outage_what_was_written_meanwhile_is_read(store: Faulty, replica: Replica) -> None:
    store.away = True
    replica.follower.start()
    until(lambda: replica.follower.failures >= 2)
    assert replica.faults
    assert replica.ends == 0

    store.away = False
    store.append_ledger("other", 1, entries(1, 2))

    until(lambda: replica.told)
    assert replica.numbers == [("other", 2)]
    assert replica.ends == 1


def test_who_was_away_for_too_long_is_told_and_reads_no_more(store: Faulty, replica: Replica) -> None:
    store.append_ledger("other", 1, entries(1, 2, 3))
    store.save_ledger({}, {"other": 3}, NOON)
    store.save_ledger({}, {"other": 3}, NOON + LEAST_BETWEEN_DUMPS)
    store.append_ledger("other", 4, entries(4))
    replica.follower.start()

    until(lambda: replica.gaps)

    assert replica.follower.stop(SOON)
    assert (replica.told, replica.gaps, len(replica.faults)) == ([], 1, 1)


def test_a_follower_with_nothing_to_read_ends_when_it_is_told(store: Faulty) -> None:
    replica = Replica(store, {})
    replica.follower.start()
    store.gate.set()

    assert replica.follower.stop(SOON)
    assert not replica.told
