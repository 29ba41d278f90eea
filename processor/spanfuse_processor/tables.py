"""The tables of the stores that speak SQL: what they are made of, and the statements about them.

Rule 1: columns are the fields of the rows, in their order; only `user` has another name, for in some
databases it is a function. Rule 2: MIGRATIONS only grows; a step that was released never changes. Rule 3:
where two databases differ, a `Dialect` says how. It executes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from spanfuse_processor.engine.reach import PAYER_FIELDS
from spanfuse_processor.store import TIMES, BillRow, EventRow, check_groups


class Dialect(NamedTuple):
    """How a database says it: a parameter, types, and the UTC text of an epoch's month, day or hour."""

    mark: str
    integer: str
    real: str
    json: str
    time: str  # a template of the column and of one of `times`
    times: tuple[str, ...]  # in the order of TIMES


def column(field: str) -> str:
    """The column of a field.

    >>> column("user"), column("model")
    ('user_id', 'model')
    """
    return "user_id" if field == "user" else field


BILL: Final = tuple(map(column, BillRow._fields))
EVENT: Final = tuple(map(column, EventRow._fields))

_TEXT: Final = "TEXT NOT NULL DEFAULT ''"
_PAYER: Final = ",\n".join(f"{column(field)} {_TEXT}" for field in PAYER_FIELDS)

MIGRATIONS: Final = (
    f"""
    CREATE TABLE bill (
        trace_id TEXT NOT NULL, span_id TEXT NOT NULL, ended {{real}} NOT NULL, kind {_TEXT}, {_PAYER},
        input_tokens {{integer}} NOT NULL, output_tokens {{integer}} NOT NULL,
        cached_tokens {{integer}} NOT NULL, cache_write_tokens {{integer}} NOT NULL,
        reasoning_tokens {{integer}} NOT NULL, cost {{integer}} NOT NULL,
        failed BOOLEAN NOT NULL, estimated BOOLEAN NOT NULL, unpriced BOOLEAN NOT NULL,
        counts BOOLEAN NOT NULL,
        revision {{integer}} NOT NULL, PRIMARY KEY (trace_id, span_id)
    );
    CREATE INDEX bill_by_time ON bill (ended);
    CREATE TABLE event (
        id TEXT PRIMARY KEY, at {{real}} NOT NULL, kind TEXT NOT NULL, severity {_TEXT}, key {_TEXT},
        trace_id {_TEXT}, span_id {_TEXT}, {_PAYER}, body {{json}} NOT NULL
    );
    CREATE INDEX event_by_time ON event (at);
    CREATE INDEX event_by_run ON event (run);
    CREATE TABLE writer (
        writer TEXT PRIMARY KEY, base {{integer}} NOT NULL, last {{integer}} NOT NULL, wall {{real}} NOT NULL
    );
    CREATE TABLE entry (
        writer TEXT NOT NULL, number {{integer}} NOT NULL, line TEXT NOT NULL, PRIMARY KEY (writer, number)
    );
    CREATE TABLE dump (
        one {{integer}} PRIMARY KEY CHECK (one = 1), seen TEXT NOT NULL, content TEXT NOT NULL,
        old_wall {{real}} NOT NULL, old_seen TEXT NOT NULL
    );
    """,
)
"""What makes a database of one version one of the next; of nothing, the first."""


class Statements:
    """The statements in the words of one database."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        fresh = ", ".join(f"{name} = excluded.{name}" for name in BILL[2:])
        self.migrations = tuple(
            step.format(integer=dialect.integer, real=dialect.real, json=dialect.json) for step in MIGRATIONS
        )
        self.bill = self._insert(
            "bill",
            BILL,
            f"(trace_id, span_id) DO UPDATE SET {fresh} WHERE excluded.revision > bill.revision",
        )
        self.event = self._insert("event", EVENT, "(id) DO NOTHING")
        self.entry = self._insert("entry", ("writer", "number", "line"), "DO NOTHING")
        self.writer = self._insert(
            "writer",
            ("writer", "base", "last", "wall"),
            "(writer) DO UPDATE SET last = excluded.last, wall = excluded.wall",
        )
        self.dump = self._insert(
            "dump",
            ("one", "seen", "content", "old_wall", "old_seen"),
            "(one) DO UPDATE SET seen = excluded.seen, content = excluded.content, "
            "old_wall = excluded.old_wall, old_seen = excluded.old_seen",
        )

    def say(self, sql: str) -> str:
        """A statement whose parameters are written as ``?``."""
        return sql.replace("?", self._dialect.mark)

    def spend(self, by: Sequence[str]) -> str:
        """Spend by some fields; the parameters are since, until and the most rows.

        Raises:
            ValueError: see `check_groups`.
        """
        groups = [self._group(field) for field in check_groups(by)]
        sums = ["input_tokens", "output_tokens", "cached_tokens", "cost"]
        figures = [
            "COUNT(*)",
            *(f"CAST(COALESCE(SUM({name}), 0) AS BIGINT)" for name in sums),
            "CAST(COALESCE(SUM(CASE WHEN estimated THEN cost END), 0) AS BIGINT)",
            "COUNT(CASE WHEN unpriced THEN 1 END)",
        ]
        numbers = ", ".join(str(place + 1) for place in range(len(groups)))
        return self.say(
            f"SELECT {', '.join(groups + figures)} FROM bill WHERE ended >= ? AND ended < ? AND counts"
            f"{f' GROUP BY {numbers}' if groups else ''} ORDER BY {len(groups) + 5} DESC LIMIT ?"
        )

    def events(self, kinds: int) -> str:
        """Events; the parameters are since, until, as many kinds, and the most rows."""
        among = f" AND kind IN ({', '.join('?' * kinds)})" if kinds else ""
        return self.say(
            f"SELECT {', '.join(EVENT)} FROM event WHERE at >= ? AND at < ?{among} "
            "ORDER BY at DESC, id LIMIT ?"
        )

    def _group(self, field: str) -> str:
        if field not in TIMES:
            return column(field)
        word = self._dialect.times[list(TIMES).index(field)]
        return self._dialect.time.format(column="ended", word=word)

    def _insert(self, table: str, columns: Sequence[str], conflict: str) -> str:
        marks = ", ".join([self._dialect.mark] * len(columns))
        return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT {conflict}"
