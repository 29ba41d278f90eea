"""A process that writes to a file is killed, or its disk is full."""

from __future__ import annotations

import resource
import sqlite3
import time
from pathlib import Path

import pytest
from tests.stores.killing import Killing
from tests.stores.making import NOON, call
from tests.stores.outage import outlives
from tests.waiting import until

from spanfuse_processor.storing import open_store
from spanfuse_processor.writing import Writer


class TestKilled(Killing):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:{tmp_path / 'spanfuse.db'}"


def test_a_full_disk_loses_nothing_and_nobody_waits(tmp_path: Path) -> None:
    path = tmp_path / "spanfuse.db"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill() -> None:
        """No file of this process may grow any more."""
        grown = max(each.stat().st_size for each in tmp_path.iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (grown, before[1]))

    def clear() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    try:
        outlives(f"sqlite:{path}", fill, clear)
    finally:
        clear()


def test_a_file_that_another_process_holds_is_waited_for_by_the_writer_alone(tmp_path: Path) -> None:
    path = tmp_path / "spanfuse.db"
    other = sqlite3.connect(path, isolation_level=None)

    outlives(
        f"sqlite:{path}",
        lambda: other.execute("BEGIN IMMEDIATE"),
        lambda: other.execute("ROLLBACK"),
        seen=False,
    )
    other.close()


def test_a_file_that_is_no_database_is_tried_until_somebody_removes_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "spanfuse.db"
    writer = Writer(lambda: open_store(f"sqlite:{path}"), time.monotonic, lambda _: None)
    path.parent.mkdir()
    path.write_bytes(b"this is no database" * 100)
    writer.steps([call(1)])
    until(lambda: writer.stats().failures)

    path.unlink()

    assert writer.close(10)
    store = open_store(f"sqlite:{path}")
    assert store.spend((), 0.0, 2 * NOON)[0].calls == 1
    store.close()
