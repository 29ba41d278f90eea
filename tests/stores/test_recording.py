"""A real service records what it stops in its file, also when the disk is full at first."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from tests.stores.recording import asked, records_what_it_stops, running, send


def test_a_stop_is_recorded_with_its_steps_and_its_snapshot(tmp_path: Path) -> None:
    service = running(tmp_path, SPANFUSE_STORE_PATH=str(tmp_path / "s.db"))

    records_what_it_stops(service, lambda: None, lambda: None)


def test_a_file_that_cannot_be_written_keeps_no_stop_from_happening(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    service = running(tmp_path, SPANFUSE_STORE_PATH=str(path))
    with contextlib.ExitStack() as stack:
        held: list[sqlite3.Connection] = []

        def hold() -> None:
            other = stack.enter_context(contextlib.closing(sqlite3.connect(path, isolation_level=None)))
            other.execute("BEGIN IMMEDIATE")
            held.append(other)

        records_what_it_stops(service, hold, lambda: held[0].execute("ROLLBACK"))


def test_contents_are_recorded_where_that_is_asked_for(tmp_path: Path) -> None:
    service = running(
        tmp_path,
        SPANFUSE_STORE_PATH=str(tmp_path / "s.db"),
        SPANFUSE_JOURNAL_CAPTURE="true",
        SPANFUSE_JOURNAL_CAPTURE_BYTES="8",
    )
    try:
        service.start()
        send(service)
        (directive,) = asked(service, "/v1/directives")[1]["directives"]
    finally:
        service.stop()
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db")) as file:
        tools = file.execute("SELECT DISTINCT content FROM step WHERE kind = 'tool'").fetchall()

    assert directive["action"] == "stop"
    assert tools == [('{"arguments":"{\\"q\\": \\"x","result":"the same"}',)]
