"""The tables of the stores that speak SQL: what they are made of, and what makes old ones new.

Rule 1: columns are the fields of the rows, in their order; only `user` has another name, for in some
databases it is a function. Rule 2: MIGRATIONS only grows; what was released never changes. Rule 3: where two
databases differ, a `Dialect` says how. It executes nothing.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from spanfuse_processor.engine.reach import PAYER_FIELDS
from spanfuse_processor.rows import EventRow, SnapshotRow, StepRow


class Dialect(NamedTuple):
    """How a database says it: a parameter, types, and the UTC text of an epoch's month, day or hour."""

    mark: str
    integer: str
    real: str
    json: str
    time: str  # a template of the column and of one of `times`
    times: tuple[str, ...]  # in the order of TIMES
    views: str = ""  # statements, each ended by a semicolon


def column(field: str) -> str:
    """The column of a field.

    >>> column("user"), column("model")
    ('user_id', 'model')
    """
    return "user_id" if field == "user" else field


STEP: Final = tuple(map(column, StepRow._fields))
EVENT: Final = tuple(map(column, EventRow._fields))
SNAPSHOT: Final = tuple(map(column, SnapshotRow._fields))

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
    f"""
    ALTER TABLE bill RENAME TO step;
    DROP INDEX bill_by_time;
    ALTER TABLE step ADD COLUMN started {{real}} NOT NULL DEFAULT 0;
    ALTER TABLE step ADD COLUMN parent_span_id {_TEXT};
    ALTER TABLE step ADD COLUMN number {{integer}} NOT NULL DEFAULT 0;
    ALTER TABLE step ADD COLUMN depth {{integer}} NOT NULL DEFAULT 0;
    ALTER TABLE step ADD COLUMN name {_TEXT};
    ALTER TABLE step ADD COLUMN provider {_TEXT};
    ALTER TABLE step ADD COLUMN error {_TEXT};
    ALTER TABLE step ADD COLUMN error_class {_TEXT};
    ALTER TABLE step ADD COLUMN arguments {_TEXT};
    ALTER TABLE step ADD COLUMN result {_TEXT};
    ALTER TABLE step ADD COLUMN result_size {{integer}} NOT NULL DEFAULT 0;
    ALTER TABLE step ADD COLUMN news TEXT NOT NULL DEFAULT 'unknown';
    ALTER TABLE step ADD COLUMN content {_TEXT};
    CREATE INDEX step_by_time ON step (ended);
    CREATE INDEX step_by_run ON step (run, ended);
    CREATE INDEX event_by_key ON event (key);
    CREATE TABLE snapshot (
        id TEXT PRIMARY KEY, at {{real}} NOT NULL, run {_TEXT}, trace_id {_TEXT}, body {{json}} NOT NULL
    );
    CREATE INDEX snapshot_by_time ON snapshot (at);
    {{views}}
    """,
)
"""What makes a database of one version one of the next; of nothing, the first."""
