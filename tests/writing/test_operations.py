"""What stores are asked is counted: how it went, and how long it took."""

from __future__ import annotations

import pytest
from tests.stores.making import call, entries
from tests.waiting import until
from tests.writing.stores import Faulty, HandClock

from spanfuse_processor.store import RowsRefused, StoreError
from spanfuse_processor.writing import Operations, Writer
from spanfuse_processor.writing.operations import BUCKETS, OUTCOMES


def test_an_operation_is_counted_by_how_it_went() -> None:
    operations = Operations()

    with operations.counted("sqlite", "steps"):
        pass
    for error in (StoreError("away"), RowsRefused("too large"), KeyError("ours")):
        with pytest.raises(type(error)), operations.counted("sqlite", "steps"):
            raise error

    assert operations.stats().counts == {
        ("sqlite", "steps", "ok"): 1,
        ("sqlite", "steps", "failed"): 2,
        ("sqlite", "steps", "refused"): 1,
    }


@pytest.mark.parametrize(("seconds", "place"), [(0.0005, 0), (0.001, 0), (0.0011, 1), (0.7, 6), (9.0, 8)])
def test_a_duration_is_in_one_bucket(seconds: float, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((0.0, seconds))
    monkeypatch.setattr("time.perf_counter", lambda: next(times))
    operations = Operations()

    with operations.counted("redis", "read"):
        pass

    durations = operations.stats().durations["redis", "read"]
    assert [at for at, count in enumerate(durations.counts) if count] == [place]
    assert len(durations.counts) == len(BUCKETS) + 1
    assert durations.seconds == pytest.approx(seconds)


def test_what_is_expected_is_there_from_the_start() -> None:
    operations = Operations()

    operations.expect("sqlite", "steps", "read")

    stats = operations.stats()
    assert stats.counts == {("sqlite", each, how): 0 for each in ("steps", "read") for how in OUTCOMES}
    assert sum(stats.durations["sqlite", "read"].counts) == 0


def test_a_writer_counts_what_it_asks_of_its_store() -> None:
    operations, store = Operations(), Faulty()
    writer = Writer(store.open, HandClock(), lambda _: None, every=0.0, operations=operations, label="memory")
    store.away = True
    writer.steps([call(1), call(2, feature="bad")])
    writer.ledger(entries(1))
    until(lambda: writer.stats().failing)
    store.away = False

    assert writer.close(5.0)

    counts = operations.stats().counts
    assert counts["memory", "open", "failed"] == writer.stats().failures
    assert counts["memory", "open", "ok"] == 1
    assert counts["memory", "ledger", "ok"] == 1
    assert (counts["memory", "steps", "ok"], counts["memory", "steps", "refused"]) == (1, 2)
