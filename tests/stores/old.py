"""A database as the first version left it: the bill, no steps, no snapshots."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import psycopg
from tests.stores.making import NOON, call, happened

from spanfuse_processor.statements import Statements
from spanfuse_processor.store import RunRow, Store
from spanfuse_processor.stores import postgres, sqlite
from spanfuse_processor.tables import EVENT, STEP, Dialect

FIRST = STEP[: STEP.index("revision") + 1]
"""What the bill's columns were."""
ROWS = [call(1, run="r", feature="mail"), call(2, run="r", cost=500, revision=1), call(3, counts=False)]
MARK = happened(1, kind="budget", body='{"spent": 1.5, "measure": "usd"}')


def made_by_sqlite(path: Path) -> None:
    """One file."""
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.executescript(_first(sqlite.DIALECT))
        old.execute(f"PRAGMA application_id = {sqlite.OURS}")
        old.execute("PRAGMA user_version = 1")
        old.executemany(_insert("bill", FIRST, "?"), [row[: len(FIRST)] for row in ROWS])
        old.execute(_insert("event", EVENT, "?"), MARK)
        old.commit()


def made_by_postgres(url: str) -> None:
    """One database."""
    with psycopg.connect(url) as old, old.cursor() as cursor:
        cursor.execute("CREATE SCHEMA spanfuse")
        cursor.execute("SET search_path TO spanfuse")
        cursor.execute(_first(postgres.DIALECT).encode())
        cursor.execute("CREATE TABLE version (version BIGINT NOT NULL)")
        cursor.execute("INSERT INTO version VALUES (1)")
        cursor.executemany(_insert("bill", FIRST, "%s").encode(), [row[: len(FIRST)] for row in ROWS])
        cursor.execute(_insert("event", EVENT, "%s").encode(), MARK)


def is_brought_up_to_date(store: Store) -> None:
    """Everything is there, and it goes on as any other."""
    assert list(store.steps()) == ROWS
    assert store.event("event-1") == MARK
    assert store.spend((), 0.0, 2 * NOON)[0][1:] == (2, 200, 20, 0, 1_500, 0, 0)
    (run,) = store.runs(0.0, 2 * NOON)
    assert run == RunRow("r", "ab" * 16, NOON, NOON, "", "mail", "", 2, 0, 2, 200, 20, 1_500, 0, 0)
    store.append_steps([call(1, run="r", cost=7, revision=1, name="good", number=1)])
    assert [row.name for row in store.steps(run="r")] == ["good", ""]


def _first(dialect: Dialect) -> str:
    return Statements(dialect).migrations[0]


def _insert(table: str, columns: tuple[str, ...], mark: str) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join([mark] * len(columns))})"
