"""The store in one file (`sqlite:PATH`): the default of the service, and of applications that ask for one.

Rule 1: WAL, so that reports are read while rows are written; a connection for each, each under its lock.
Rule 2: a commit survives the death of the process; that of the machine may cost the last few. Rule 3: the
file is its owner's alone (0600). A file that a newer version made is left as it is. Rule 4: a process forks
between transactions, and its child closes what it inherits before it opens a file of its own: SQLite takes a
file for locked, or for its own, that another process has open.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from spanfuse_processor.breathing import pieces
from spanfuse_processor.sql_store import Database, SqlStore
from spanfuse_processor.statements import Statements
from spanfuse_processor.store import RowsRefused, StoreError
from spanfuse_processor.tables import Dialect

DIALECT: Final = Dialect(
    mark="?",
    integer="INTEGER",
    real="REAL",
    json="TEXT",
    time="strftime('{word}', CAST({column} AS INTEGER), 'unixepoch')",
    times=("%Y-%m", "%Y-%m-%d", "%Y-%m-%dT%H:00"),
)
OURS: Final = int.from_bytes(b"SPFU", "big")
"""By which our files are known."""

BUSY: Final = 5.0
"""Seconds to wait for another process that writes."""

FORK_WAITS: Final = 1.0
"""Seconds that a fork waits for a transaction to end."""


class SqliteStore(SqlStore):
    """A file and two connections to it.

    Raises:
        StoreError: the file cannot be opened or made, or a newer version made it.
    """

    def __init__(self, url: str) -> None:
        super().__init__(Statements(DIALECT))
        self._path = Path(url.removeprefix("sqlite:"))
        self._write_lock, self._read_lock = threading.Lock(), threading.Lock()
        with _forks.opening, _told(self._path), contextlib.ExitStack() as undo:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._path.touch(mode=0o600)
            self._writer = undo.enter_context(contextlib.closing(_connected(self._path)))
            self._reader = undo.enter_context(contextlib.closing(_connected(self._path)))
            self._migrate()
            self._writer.execute("PRAGMA journal_mode=WAL")
            self._writer.execute("PRAGMA synchronous=NORMAL")
            undo.pop_all()
            _forks.open.add(self)

    @contextlib.contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Database]:
        """A transaction; the file lets in one writer at a time anyway."""
        with self._write_lock, _told(self._path), _transaction(self._writer, "BEGIN IMMEDIATE"):
            yield _Open(self._writer)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Database]:
        """A transaction that sees the file as it was when it began."""
        with self._read_lock, _told(self._path), _transaction(self._reader, "BEGIN"):
            yield _Open(self._reader)

    def close(self) -> None:
        """Closes the file."""
        with self._write_lock, self._read_lock:
            self._reader.close()
            self._writer.close()

    def hold(self) -> bool:
        """Begins no transaction until `let_go`. Whether none is going on, within `FORK_WAITS` seconds."""
        if self._write_lock.acquire(timeout=FORK_WAITS):
            if self._read_lock.acquire(timeout=FORK_WAITS):
                return True
            self._write_lock.release()
        return False

    def let_go(self) -> None:
        """Goes on after `hold`."""
        self._read_lock.release()
        self._write_lock.release()

    def _migrate(self) -> None:
        steps = self._sql.migrations
        with _transaction(self._writer, "BEGIN IMMEDIATE"):
            (tables,) = self._writer.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            if tables and self._writer.execute("PRAGMA application_id").fetchone() != (OURS,):
                raise StoreError(f"{self._path} is a database of something else")
            (version,) = self._writer.execute("PRAGMA user_version").fetchone()
            if version > len(steps):
                raise StoreError(f"{self._path} was made by a newer version of spanfuse")
            for step in steps[version:]:
                for statement in step.split(";"):
                    self._writer.execute(statement)
            self._writer.execute(f"PRAGMA application_id = {OURS}")
            self._writer.execute(f"PRAGMA user_version = {len(steps)}")


class _Open:
    """A transaction on a connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """One statement's rows."""
        return self._connection.execute(sql, values).fetchall()

    def tell(self, sql: str, rows: Sequence[Sequence[object]] = ((),)) -> int:
        """One statement for each row."""
        return sum(self._connection.executemany(sql, some).rowcount for some in pieces(rows))


def _connected(path: Path) -> sqlite3.Connection:
    # Transactions are begun by us; threads take turns under a lock.
    return sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Failures in the words of the contract."""
    try:
        yield
    except (OverflowError, UnicodeError, sqlite3.IntegrityError) as error:
        raise RowsRefused(f"{path}: {error}") from error
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{path}: {error}") from error


class _Forks:
    """What forks have to know of: stores that are open, and whether one is being opened."""

    def __init__(self) -> None:
        self.opening = threading.Lock()
        self.open: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
        self._waited = False
        self._held: list[SqliteStore] = []

    def before(self) -> None:
        self._waited = self.opening.acquire(timeout=FORK_WAITS)
        self._held = [store for store in list(self.open) if store.hold()]

    def in_parent(self) -> None:
        for store in self._held:
            store.let_go()
        if self._waited:
            self.opening.release()

    def in_child(self) -> None:
        self.opening = threading.Lock()
        for store in self._held:
            store.let_go()
            store.close()


_forks: Final = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_forks.before, after_in_parent=_forks.in_parent, after_in_child=_forks.in_child
    )
