"""A database that dies, freezes or forgets its connections: nothing is lost, nobody waits."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
import redis
from tests.stores.making import NOON, call, entries
from tests.stores.outage import outlives
from tests.stores.real.servers import Server, postgres_server, redis_server
from tests.waiting import until
from tests.writing.stores import HandClock
from tests.writing.test_keeping import FakeLedger

from spanfuse_processor.bookkeeping.books import Books
from spanfuse_processor.clock import SystemClock
from spanfuse_processor.store import StoreError
from spanfuse_processor.storing import open_store
from spanfuse_processor.writing import Keeper, Writer, restore
from spanfuse_processor.writing.writer import LONGEST_BETWEEN_DUMPS


@pytest.fixture
def own_postgres() -> Iterator[Server]:
    """One that may be killed."""
    with postgres_server() as server:
        yield server


def test_postgres_dies_and_comes_back(own_postgres: Server) -> None:
    url = f"postgresql://spanfuse@127.0.0.1:{own_postgres.port}/postgres"

    outlives(url, lambda: own_postgres.stop(signal.SIGQUIT), own_postgres.start)


def test_postgres_cuts_its_connections(postgres_running: Server, postgres_url: str) -> None:
    def cut() -> None:
        with psycopg.connect(f"{postgres_url}?application_name=cutter") as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'spanfuse'"
            )

    outlives(postgres_url, cut, lambda: None, seen=False)


def test_redis_freezes_and_thaws(redis_running: Server, redis_url: str) -> None:
    outlives(
        f"{redis_url}?socket_timeout=0.3",
        lambda: redis_running.send(signal.SIGSTOP),
        lambda: redis_running.send(signal.SIGCONT),
    )


async def test_an_outage_is_told_in_two_lines_without_password_or_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    faults: list[BaseException] = []
    with redis_server() as server, postgres_server() as other:
        urls = (
            f"postgresql://spanfuse:s3cret@127.0.0.1:{other.port}/postgres",
            f"redis://:@127.0.0.1:{server.port}/0",
        )
        books = Books(*urls, 90, SystemClock(), lambda _, error: faults.append(error))
        books.rows.steps([call(1)])
        books.ledger.ledger(entries(1))
        await asyncio.to_thread(until, lambda: books.stats().rows.written and books.stats().ledger.written)
        server.stop()
        other.stop(signal.SIGQUIT)
        books.rows.steps([call(2)])
        books.ledger.ledger(entries(2))
        await asyncio.to_thread(until, lambda: len(caplog.records) == 2, 25)
        server.start()
        other.start()
        await asyncio.to_thread(until, lambda: len(caplog.records) == 4, 25)
        assert await books.close(10)

    lines = [each.message for each in caplog.records]
    assert ["cannot be used" in line for line in lines] == [True, True, False, False]
    assert all(each.exc_info is None and "s3cret" not in str(each.__dict__) for each in caplog.records)
    assert faults == []


def test_redis_is_restarted_and_has_lost_everything() -> None:
    with redis_server() as server:
        url = f"redis://127.0.0.1:{server.port}/0"
        store = open_store(url)
        store.append_ledger("a", 1, [])
        server.stop()
        with pytest.raises(StoreError, match="redis"):
            store.load_ledger()

        server.start()

        assert store.load_ledger().dump is None  # the scripts are loaded anew by themselves
        assert store.save_ledger({"n": 1}, {}, 1.0)
        store.close()


def test_redis_without_memory_refuses_and_loses_nothing(redis_running: Server, redis_url: str) -> None:
    with redis.Redis(port=redis_running.port) as client:
        outlives(
            redis_url,
            lambda: client.config_set("maxmemory", 1),
            lambda: client.config_set("maxmemory", 0),
        )


def test_a_database_that_is_not_there_is_said_so() -> None:
    with pytest.raises(StoreError, match="postgresql"):
        open_store("postgresql://spanfuse@127.0.0.1:1/postgres")


def test_a_redis_that_lost_everything_has_the_ledger_back_with_the_next_dump(redis_url: str) -> None:
    clock, ledger = HandClock(), FakeLedger()
    writer = Writer(lambda: open_store(redis_url), clock, lambda _: None, every=0.01)
    keeper = Keeper(writer, {})
    ledger.change(*entries(1, 2, 3))
    keeper.keep(ledger, NOON)
    assert writer.flush(10)

    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    ledger.change(*entries(4))
    keeper.keep(ledger, NOON)
    assert writer.flush(10)
    clock.now += LONGEST_BETWEEN_DUMPS
    keeper.keep(ledger, NOON)

    assert writer.close(10)
    with contextlib.closing(open_store(redis_url)) as store:
        assert restore(store) == ({"number": 4}, [], {writer.name: 4})


def test_tables_of_others_in_the_same_database_are_left_alone(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as other:
        other.execute("CREATE TABLE event (mine TEXT)")

    with contextlib.closing(open_store(postgres_url)) as store:
        assert list(store.events(0.0, 2 * NOON)) == []


def test_tables_that_a_newer_version_made_are_left_alone(postgres_url: str) -> None:
    open_store(postgres_url).close()
    with psycopg.connect(postgres_url) as newer:
        newer.execute("INSERT INTO spanfuse.version VALUES (1000)")

    with pytest.raises(StoreError, match="newer version"):
        open_store(postgres_url)


def test_replicas_may_start_together(postgres_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(open_store, [postgres_url] * 4))

    for store in stores:
        store.append_steps([call(1)])
        store.close()
