"""The service's books: kept behind, read beside, restored at the start."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from tests.control.serving import FakeClock
from tests.stores.making import NOON, call, entries, entry, happened
from tests.waiting import until
from tests.writing.test_keeping import FakeLedger

from spanfuse_processor.bookkeeping import books as book_keeping
from spanfuse_processor.bookkeeping.books import Books
from spanfuse_processor.store import Store, StoreError, Written
from spanfuse_processor.storing import open_store
from spanfuse_processor.writing import Restored

ALL = (0.0, 2 * NOON)
SOON = 5.0


class Faults:
    """Counts them."""

    def __init__(self) -> None:
        self.of: list[tuple[str, BaseException]] = []

    def add(self, where: str, error: BaseException) -> None:
        self.of.append((where, error))


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'books.db'}"


def books(url: str, faults: Faults, **more: Any) -> Books:
    """Of a service."""
    usual: dict[str, Any] = {"ledger_url": "", "keep_days": 90, "clock": FakeClock(), "on_fault": faults.add}
    return Books(url, **usual | more)


@pytest.mark.parametrize("urls", [("nonsense:", ""), ("memory:", "nonsense:")])
def test_a_store_that_there_is_not_is_refused_at_once(urls: tuple[str, str], faults: Faults) -> None:
    with pytest.raises(StoreError, match="no store is called"):
        books(urls[0], faults, ledger_url=urls[1])


async def test_what_is_kept_can_be_read(url: str, faults: Faults) -> None:
    made = books(url, faults)
    made.rows.steps([call(1), call(2)])
    made.rows.events([happened(1)])
    assert await made.close(SOON)

    assert (await made.spend((), *ALL))[0].calls == 2
    assert made.stats().rows.written == 3


async def test_a_store_in_memory_is_one_for_who_writes_and_who_reads(faults: Faults) -> None:
    made = books("memory:", faults)
    made.rows.steps([call(1)])
    assert await made.close(SOON)

    assert (await made.spend((), *ALL))[0].calls == 1


async def test_the_next_life_has_the_ledger_of_the_one_before(url: str, faults: Faults) -> None:
    first, ledger = books(url, faults), FakeLedger()
    assert await first.restore(0.0) == (None, [], {})
    ledger.change(*entries(1, 2))
    first.advance(ledger)
    assert await first.close(SOON)

    restored = await books(url, faults).restore(0.0)

    assert restored is not None
    assert [each.number for each in restored.entries] == [1, 2]
    assert restored.seen == {first.ledger.name: 2}


async def test_a_store_that_is_away_is_waited_for_as_long_as_may_be(
    tmp_path: Path, faults: Faults, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    made = books(f"sqlite:{tmp_path}/file/below.db", faults)

    assert await made.restore(0.0) is None

    assert faults.of == []  # a store that is away is no fault of ours
    (line,) = caplog.records
    assert "cannot be used" in line.message
    assert line.exc_info is None
    with pytest.raises(StoreError):
        await made.spend((), *ALL)


async def test_the_ledger_may_have_a_store_of_its_own(url: str, tmp_path: Path, faults: Faults) -> None:
    other = f"sqlite:{tmp_path / 'ledger.db'}"
    made, ledger = books(url, faults, ledger_url=other), FakeLedger()
    ledger.change(*entries(1))
    made.rows.steps([call(1)])
    made.advance(ledger)
    assert await made.close(SOON)

    assert made.ledger is not made.rows
    with contextlib.closing(open_store(url)) as rows, contextlib.closing(open_store(other)) as ledgers:
        assert (len(rows.read_ledger({})), len(ledgers.read_ledger({}))) == (0, 1)
        assert (len(rows.spend((), *ALL)), len(ledgers.spend((), *ALL))) == (1, 0)


async def test_what_is_old_is_let_go_of_every_hour(url: str, faults: Faults) -> None:
    clock = FakeClock()
    now = clock.wall_ns() / 1e9
    made, ledger = books(url, faults, clock=clock, keep_days=1), FakeLedger()
    made.advance(ledger)
    made.rows.steps([call(1, now - 86_400 + 1_800), call(2, now)])
    assert made.rows.flush(SOON)
    made.advance(ledger)
    kept = (await made.spend((), *ALL))[0].calls

    clock.now += 3_600
    made.advance(ledger)

    assert kept == 2
    with contextlib.closing(open_store(url)) as store:
        until(lambda: store.spend((), *ALL)[0].calls == 1)
    assert await made.close(SOON)


async def test_replicas_read_along_what_each_other_spend(url: str, faults: Faults) -> None:
    one, other = books(url, faults), books(url, faults)
    told: list[Written] = []
    await other.restore(0.0)
    other.follow(told.extend, told.clear)
    ledger = FakeLedger()
    ledger.change(*entries(1, 2))

    one.advance(ledger)

    until(lambda: len(told) == 2)
    assert {each.writer for each in told} == {one.ledger.name}
    assert await one.close(SOON)
    assert await other.close(SOON)


async def test_a_store_that_answers_late_gives_back_what_there_was_with_what_came_meanwhile(
    tmp_path: Path, faults: Faults, caplog: pytest.LogCaptureFixture
) -> None:
    """The folder of the file is not to be had until a link is changed."""
    url = f"sqlite:{tmp_path}/state/books.db"
    first, ledger = books(url, faults), FakeLedger()
    ledger.change(*entries(1, 2))
    first.advance(ledger)
    assert await first.close(SOON)
    (tmp_path / "state").rename(tmp_path / "elsewhere")
    (tmp_path / "no folder").write_text("")
    (tmp_path / "state").symlink_to("no folder")
    late, ledger = books(url, faults), FakeLedger()
    assert await late.restore(0.0) is None
    ledger.change(entry(7, wall=NOON + 1), entry(8, wall=NOON + 1))
    late.advance(ledger)
    told: list[Restored] = []

    (tmp_path / "link").symlink_to("elsewhere")
    (tmp_path / "link").replace(tmp_path / "state")
    await late.catch_up(ledger, told.append)

    (restored,) = told
    assert [each.key for each in restored.entries] == [each.key for each in entries(1, 2, 7, 8)]
    assert [each.number for each in restored.entries] == [1, 2, 3, 4]
    assert late.keeper.seen == {first.ledger.name: 2, late.ledger.name: 2}
    late.advance(ledger)
    assert await late.close(SOON)
    away, back = caplog.records
    assert ("cannot be used" in away.message, "is back" in back.message) == (True, True)


async def test_what_is_counted_while_it_is_read_late_is_not_lost(
    url: str, faults: Faults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book_keeping, "CATCH_UP_EVERY", 0.02)
    made = books(url, faults)
    told: list[Restored] = []
    ledger = FakeLedger()
    ledger.change(*entries(1))
    waiting = asyncio.create_task(made.catch_up(ledger, told.append))
    while not waiting.done():
        ledger.change(entry(ledger.had + 1))
        made.advance(ledger)
        await asyncio.sleep(0)
    await waiting

    (restored,) = told
    assert [each.key for each in restored.entries] == [
        each.key for each in entries(*range(1, ledger.had + 1))
    ]
    assert await made.close(SOON)
    again = await books(url, faults).restore(0.0)
    assert again is not None
    assert [each.number for each in again.entries] == list(range(1, ledger.had + 1))


async def test_what_no_store_says_is_a_fault_of_ours(
    url: str, faults: Faults, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    made, broken = books(url, faults), ValueError("a bug")

    def fail(_: str) -> Store:
        raise broken

    monkeypatch.setattr(book_keeping, "open_store", fail)

    made.rows.steps([call(1)])
    until(lambda: bool(faults.of))

    assert faults.of[0] == ("store", broken)
    assert caplog.records == []
    await made.close(0.0)
