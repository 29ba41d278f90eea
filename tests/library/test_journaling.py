"""An application that judges itself records what happens, and neither waits for that nor fails by it."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.library.examples import failed_tool
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.hosts.embedded import EmbeddedHost
from spanfuse.settings import OWN, Settings
from spanfuse_processor.engine import NoPrices, Policy
from spanfuse_processor.engine.budget import Budget, Measure
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Mode
from spanfuse_processor.rows import EventRow
from spanfuse_processor.store import FOR_EVER, Store
from spanfuse_processor.storing import open_store
from spanfuse_processor.writing import writer as writing

SOON = 10.0
RUN = BreakerKey(Level.RUN, "r")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "record.db"


class Application:
    """A host that records."""

    made: list[Application] = []

    def __init__(self, journal: object, **policy: Any) -> None:
        self.board = Board()
        settings = Settings(policy=Policy(**policy), journal=str(journal), service="shop", instance="i-1")
        self.host = EmbeddedHost(settings, self.board, NoPrices())
        self.host.start()
        self.made.append(self)

    def loop(self, calls: int = 8) -> None:
        """Fails in the same way again and again, until it is stopped."""
        for _ in range(calls):
            span = failed_tool()
            self.board.ended(span.span_id, self.board.clock())
            self.host.span_ended(span)

    def stop(self) -> float:
        """Ends; how long that took."""
        began = time.monotonic()
        self.host.stop()
        return time.monotonic() - began


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    for each in Application.made:
        each.host.stop(0.1)
    Application.made.clear()


def kept(file: Path) -> Store:
    return open_store(f"sqlite:{file}")


def events(file: Path, *kinds: str) -> list[EventRow]:
    store = kept(file)
    try:
        return list(reversed(store.events(0.0, FOR_EVER, kinds)))
    finally:
        store.close()


def test_steps_a_trip_its_effect_and_its_snapshot_are_recorded(file: Path) -> None:
    application = Application(file)
    application.loop()
    until(lambda: file.exists() and events(file, "effect"), SOON)
    application.stop()

    store = kept(file)
    (trip,) = store.events(0.0, FOR_EVER, ["trip"])
    steps, snapshot = store.steps(run="r"), store.snapshot(trip.id)
    store.close()
    assert len(steps) == 8
    assert [step.number for step in steps] == list(range(1, 9))
    body = json.loads(trip.body)
    assert (trip.run, body["issuer"], body["mode"], body["action"]) == ("r", "embedded", "enforce", "stop")
    assert snapshot is not None
    assert len(json.loads(snapshot.body)["steps"]) >= body["call"]
    (effect,) = events(file, "effect")
    assert json.loads(effect.body)["trip"] == trip.id
    assert json.loads(effect.body)["kill_latency_ms"] > 0.0
    assert (application.host.stats().unkept, application.host.stats().lost) == (0, 0)


def test_what_was_only_due_and_what_was_ordered_is_recorded_as_that(file: Path) -> None:
    application = Application(file, mode=Mode.SHADOW)
    application.loop()
    assert application.host.kill(RUN, "enough")
    assert application.host.release(RUN)
    assert not application.host.release(RUN)
    application.stop()

    assert [row.kind for row in events(file, "withheld", "order", "release")].count("order") == 3
    assert [row.kind for row in events(file, "withheld")] == ["withheld"]
    done = [json.loads(row.body)["done"] for row in events(file, "order")]
    assert done == [True, True, False]
    released = [json.loads(row.body) for row in events(file, "release")]
    assert [each["action"] for each in released] == ["release"]


def test_what_is_told_of_a_budget_is_recorded_with_its_call(file: Path) -> None:
    application = Application(file, budgets=(Budget("calls", 4, Measure.CALLS),))
    application.loop(6)
    application.stop()

    rows = events(file, "budget")
    assert {json.loads(row.body)["budget"] for row in rows} == {"calls"}
    assert rows[-1].run == "r"


def test_the_file_is_the_users_alone(file: Path) -> None:
    application = Application(file)
    application.loop(1)
    application.stop()

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_there_is_no_file_and_no_thread_before_the_first_call(file: Path) -> None:
    application = Application(file)
    application.host.tick()
    application.stop()

    assert not file.parent.joinpath(file.name).exists()
    assert application.host._journaling.writer._thread is None


def test_an_application_that_ends_at_once_leaves_its_call(file: Path) -> None:
    application = Application(file)
    application.loop(1)
    assert application.stop() < 1.0

    store = kept(file)
    assert len(store.steps()) == 1
    store.close()


def test_where_no_thread_starts_any_more_the_last_rows_are_written_all_the_same(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at the end of an interpreter."""
    application = Application(file)

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
    application = Application(tmp_path / "file" / "record.db")
    with caplog.at_level(logging.INFO, "spanfuse"):
        application.loop()
        until(lambda: application.host.stats().unkept >= 2, SOON)
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
    application = Application(place / "record.db")
    with caplog.at_level(logging.INFO, "spanfuse"):
        application.loop()
        until(lambda: application.host.stats().unkept >= 1, SOON)
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
    Application(file).loop(1)
    Application.made[-1].stop()
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    application = Application(file)
    began = time.monotonic()
    application.loop()
    assert not application.board.empty
    assert time.monotonic() - began < 1.0
    other.execute("ROLLBACK")
    other.close()

    until(lambda: len(events(file, "trip")) == 1, SOON)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_is_read_only_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tmp_path.chmod(0o500)
    application = Application(tmp_path / "record.db")
    application.loop()
    until(lambda: application.host.stats().unkept, SOON)
    tmp_path.chmod(0o700)

    assert "cannot be used" in caplog.text


def test_a_full_disk_costs_rows_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connect = sqlite3.connect

    def cramped(*where: Any, **more: Any) -> sqlite3.Connection:
        connection = connect(*where, **more)
        connection.execute("PRAGMA max_page_count = 40")
        return connection

    monkeypatch.setattr(sqlite3, "connect", cramped)
    application = Application(file)
    for _ in range(40):
        application.loop(25)
    until(lambda: application.host.stats().unkept, SOON)

    assert "full" in caplog.text
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
    application = Application(OWN)
    application.loop(1)
    until(lambda: application.host.stats().unkept, SOON)

    assert "SPANFUSE_JOURNAL" in caplog.text


def test_a_fault_in_recording_is_counted_and_the_stop_stands(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")
    application = Application(file)

    def broken(*what: object) -> str:
        raise RuntimeError("broken")

    monkeypatch.setattr(application.host._journaling.journal, "verdict", broken)
    application.loop()

    assert application.board.standing([RUN]) is not None
    assert application.host.stats().faults == 0


def test_money_and_the_record_share_a_writer_where_they_share_a_store(file: Path) -> None:
    budgets = (Budget("calls", 100, Measure.CALLS),)
    settings = Settings(policy=Policy(budgets=budgets), store=str(file), journal=str(file))
    host = EmbeddedHost(settings, Board(), NoPrices())
    host.start()
    for _ in range(3):
        host.span_ended(failed_tool())
    host.stop()

    assert host._keeping._writer is host._journaling.writer
    store = kept(file)
    assert len(store.steps()) == 3
    assert store.load_ledger().dump is not None
    store.close()


def test_a_refusal_is_an_effect_that_is_recorded(file: Path) -> None:
    application = Application(file)
    application.loop()
    directive = application.board.standing([RUN])
    assert directive is not None
    application.board.ledger.add(directive, refused=3)
    application.stop()

    said = [json.loads(row.body) for row in events(file, "effect")]
    assert said[-1]["calls_refused"] == 3
    assert str(BreakerOpen(directive))
