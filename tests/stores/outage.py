"""While a store is away, whoever spends does not notice, and nothing is lost; for every store."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from tests.stores.making import NOON, call, entries, happened, taken
from tests.waiting import until

from spanfuse_processor.store import Store
from spanfuse_processor.storing import open_store
from spanfuse_processor.writing import Wanted, Writer

NOTICED = 0.001  # seconds; what is usual when handing over
INTERRUPTED = 1.0  # seconds; the most, on a machine that does other things: no database is missed so fast


def outlives(url: str, lose: Callable[[], object], find: Callable[[], object], *, seen: bool = True) -> None:
    """Writes before, while and after the store is away. `seen`: failures are counted meanwhile."""
    writer = Writer(lambda: open_store(url), time.monotonic, lambda _: None)
    try:
        hand_over(writer, 1)
        assert writer.flush(10)
        lose()
        times = [hand_over(writer, number) for number in range(2, 202)]
        if seen:
            until(lambda: writer.stats().failures >= 2, timeout=25)
        assert statistics.median(times) < NOTICED
        assert max(times) < INTERRUPTED
        assert writer.stats().waiting > 0
        find()
        until(lambda: not writer.stats().waiting, timeout=30)
        assert writer.stats().dropped == 0
    finally:
        writer.close(1)
    check(open_store(url))


def hand_over(writer: Writer, number: int) -> float:
    """One call. How many seconds it took."""
    before = time.perf_counter()
    writer.steps([call(number)])
    writer.events([happened(number)])
    writer.snapshots([Wanted("", 0.0, 2 * NOON, 1, lambda steps: taken(number, run=steps[0].span_id))])
    writer.ledger(entries(number))
    return time.perf_counter() - before


def check(store: Store) -> None:
    """Everything is there, once."""
    assert store.spend((), 0.0, 2 * NOON)[0].calls == 201
    assert len(store.events(0.0, 2 * NOON)) == 201
    assert all(store.snapshot(f"event-{number}") for number in range(1, 202))
    assert sorted(each.entry.number for each in store.read_ledger({})) == list(range(1, 202))
    store.close()
