"""Recording costs an application neither time nor its work, whatever is wrong with the place."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.library.recordings import RUN, SOON, Recording, events, kept
from tests.waiting import until

from spanfuse.settings import OWN
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.store import FOR_EVER
from spanfuse_processor.writing import writer as writing


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "record.db"


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    for each in Recording.made:
        each.host.stop(0.1)
    Recording.made.clear()


def test_there_is_no_file_and_no_thread_before_the_first_call(file: Path) -> None:
    application = Recording(file)
    application.host.tick()
    application.stop()

    assert not file.parent.joinpath(file.name).exists()
    assert application.host._journaling.writer._thread is None


def test_an_application_that_ends_at_once_leaves_its_call(file: Path) -> None:
    application = Recording(file)
    application.loop(1)
    assert application.stop() < 1.0

    store = kept(file)
    assert len(store.steps()) == 1
    store.close()


def test_where_no_thread_starts_any_more_the_last_rows_are_written_all_the_same(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at the end of an interpreter."""
    application = Recording(file)

    class Refused(writing.threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread at interpreter shutdown")

    monkeypatch.setattr(writing.threading, "Thread", Refused)
    application.host._once.acquire()
    application.loop(2)
    assert application.stop() < 1.0

    monkeypatch.undo()
    store = kept(file)
    assert len(store.steps()) == 2
    store.close()


def test_a_place_that_cannot_be_used_is_said_once_counted_and_waited_for_by_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    application = Recording(tmp_path / "file" / "record.db")
    with caplog.at_level(logging.INFO, "spanfuse"):
        application.loop()
        until(lambda: application.host.stats().unkept >= 2 and caplog.records, SOON)
        assert not application.board.empty
        assert application.stop() < 1.0

    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1
    assert "record.db cannot be used" in said[0]
    assert application.host.stats().lost > 8


def test_a_store_that_is_back_is_said_and_has_everything(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "place"
    place.write_text("in the way")
    application = Recording(place / "record.db")
    with caplog.at_level(logging.INFO, "spanfuse"):
        application.loop()
        until(lambda: caplog.records, SOON)
        place.unlink()
        until(lambda: len(caplog.records) == 2, SOON)
    application.stop()

    assert "can be used again" in caplog.records[1].getMessage()
    store = kept(place / "record.db")
    assert len(store.steps()) == 8
    assert len(store.events(0.0, FOR_EVER, ["trip"])) == 1
    store.close()
    assert application.host.stats().lost == 0


def test_a_file_that_another_process_holds_delays_nobody(file: Path) -> None:
    Recording(file).loop(1)
    Recording.made[-1].stop()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    application = Recording(file)
    began = time.monotonic()
    application.loop()
    assert not application.board.empty
    assert time.monotonic() - began < 1.0
    other.execute("ROLLBACK")
    other.close()

    until(lambda: len(events(file, "trip")) == 1, SOON)


def test_a_full_disk_costs_rows_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connect = sqlite3.connect

    def cramped(*where: Any, **more: Any) -> sqlite3.Connection:
        connection = connect(*where, **more)
        connection.execute("PRAGMA max_page_count = 40")
        return connection

    monkeypatch.setattr(sqlite3, "connect", cramped)
    application = Recording(file)
    for _ in range(40):
        application.loop(25)
    until(lambda: "full" in caplog.text, SOON)

    assert application.host.stats().unkept > 1
    assert application.host.kill(BreakerKey(Level.RUN, "other"), "still judging")
    assert application.stop() < 1.0
    assert application.host.stats().lost > 0


def test_where_nobody_is_at_home_it_is_said_how_to_name_a_place(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    application = Recording(OWN)
    application.loop(1)
    until(lambda: "SPANFUSE_JOURNAL" in caplog.text, SOON)

    assert application.host.stats().unkept > 1


def test_a_fault_in_recording_is_counted_and_the_stop_stands(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")
    application = Recording(file)

    def broken(*what: object) -> str:
        raise RuntimeError("broken")

    monkeypatch.setattr(application.host._journaling.journal, "verdict", broken)
    application.loop()

    assert application.board.standing([RUN]) is not None
    assert application.host.stats().faults == 0
