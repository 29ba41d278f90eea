"""The store in Postgres (`postgresql://...`): for the journal of a service, and its replicas.

Rule 1: a connection that failed is thrown away; the next call makes a new one. Rule 2: nothing waits for
ever: neither a connection nor a statement nor a host that is gone. Rule 3: replicas that start together
migrate one after the other. Rule 4: steps, of which there are many, go as one text that the server takes
apart: it costs this process a quarter. Anything that libpq understands may stand in the URL.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final, get_type_hints

import psycopg

from spanfuse_processor import views
from spanfuse_processor.breathing import pieces
from spanfuse_processor.choosing import newest
from spanfuse_processor.sql_store import Database, SqlStore
from spanfuse_processor.statements import NEWER, Statements
from spanfuse_processor.store import RowsRefused, StepRow, StoreError
from spanfuse_processor.tables import STEP, Dialect

DIALECT: Final = Dialect(
    mark="%s",
    integer="BIGINT",
    real="DOUBLE PRECISION",
    json="TEXT",
    time="to_char(to_timestamp(floor({column})) AT TIME ZONE 'UTC', '{word}')",
    times=("YYYY-MM", "YYYY-MM-DD", 'YYYY-MM-DD"T"HH24:00'),
    views=views.POSTGRES,
)
PATIENCE: Final = {
    "connect_timeout": 5,
    "options": "-c statement_timeout=30000 -c lock_timeout=10000",
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "application_name": "spanfuse",
}
"""What holds unless the URL says otherwise: seconds, then milliseconds, then seconds."""

SCHEMA: Final = "spanfuse"
"""Where the tables are, so that they meet no others."""

PIECE: Final = 50
"""Steps in one text."""

_TYPES: Final = {str: "", int: "::bigint", float: "::double precision", bool: "::boolean"}
_FIELDS: Final = tuple(
    f"(told ->> {at}){_TYPES[kind]}" for at, kind in enumerate(get_type_hints(StepRow).values())
)
STEPS: Final = (
    f"INSERT INTO step ({', '.join(STEP)}) SELECT {', '.join(_FIELDS)} "
    f"FROM jsonb_array_elements(%s::jsonb) AS told ON CONFLICT {NEWER}"
)
"""Keeps steps; the parameter is a JSON array of their fields. No step may be in it twice."""

ONE_AT_A_TIME: Final = 0x7370616E66757365 >> 1
"""The advisory lock of writers whose order matters."""


class PostgresStore(SqlStore):
    """A database and two connections to it.

    Raises:
        StoreError: it cannot be reached, or a newer version made its tables.
    """

    def __init__(self, url: str) -> None:
        super().__init__(Statements(DIALECT))
        self._writer, self._reader = _Line(url), _Line(url)
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def writing(self, *, alone: bool = False) -> Iterator[Database]:
        """A transaction; `alone` among the writers of all replicas."""
        with self._writer.open() as connection:
            if alone:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (ONE_AT_A_TIME,))
            yield _Open(connection)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Database]:
        """A transaction that sees the tables as they were when it began."""
        with self._reader.open() as connection:
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield _Open(connection)

    def append_steps(self, rows: Sequence[StepRow]) -> None:
        """Keeps rows that are new, and those of a higher revision in place of their older ones."""
        with self.writing() as database:
            for some in pieces(newest(rows), PIECE):
                database.tell(STEPS, [(json.dumps(some),)])

    def close(self) -> None:
        """Closes both connections."""
        self._writer.close()
        self._reader.close()

    def _migrate(self) -> None:
        steps = self._sql.migrations
        with self.writing(alone=True) as database:
            if not database.ask("SELECT 1 FROM pg_namespace WHERE nspname = %s", SCHEMA):
                database.tell(f"CREATE SCHEMA {SCHEMA}")
            database.tell("CREATE TABLE IF NOT EXISTS version (version BIGINT NOT NULL)")
            known = database.ask("SELECT max(version) FROM version")
            version = known[0][0] or 0
            if version > len(steps):
                raise StoreError("the database was made by a newer version of spanfuse")
            if version < len(steps):
                database.tell("SET LOCAL statement_timeout = 0")  # a large table takes its time, once
            for number, step in enumerate(steps[version:], version + 1):
                for statement in filter(str.strip, step.split(";")):
                    database.tell(statement)
                database.tell("INSERT INTO version VALUES (%s)", [(number,)])


class _Open:
    """A transaction on a connection."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """One statement's rows."""
        return self._connection.execute(sql.encode(), values).fetchall()

    def tell(self, sql: str, rows: Sequence[Sequence[object]] = ((),)) -> int:
        """One statement for each row, all of them sent at once."""
        with self._connection.cursor() as cursor:
            touched = 0
            for some in pieces(rows):
                cursor.executemany(sql.encode(), some)
                touched += cursor.rowcount
            return touched


class _Line:
    """A connection that is made when it is needed, and made anew after a failure. Threads take turns."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Any] | None = None

    @contextlib.contextmanager
    def open(self) -> Iterator[psycopg.Connection[Any]]:
        """One transaction."""
        with self._lock, _told():
            if self._connection is None:
                self._connection = _connected(self._url)
            try:
                with self._connection.transaction():
                    yield self._connection
            except psycopg.OperationalError:
                self._connection.close()
                self._connection = None
                raise

    def close(self) -> None:
        """Closes it; the next use would open it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _connected(url: str) -> psycopg.Connection[Any]:
    connection = psycopg.connect(url, **_unless_said(url))
    connection.execute(f"SET search_path TO {SCHEMA}")
    connection.commit()
    return connection


def _unless_said(url: str) -> dict[str, Any]:
    said = psycopg.conninfo.conninfo_to_dict(url)
    return {name: value for name, value in PATIENCE.items() if name not in said}


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Failures in the words of the contract."""
    try:
        yield
    except (psycopg.DataError, psycopg.IntegrityError, UnicodeError, OverflowError) as error:
        raise RowsRefused(f"postgresql: {error}") from error
    except psycopg.Error as error:
        raise StoreError(f"postgresql: {error}") from error
