"""The contract of a store over a database that speaks SQL; the databases themselves are in `stores/`.

Rule 1: what is kept or changed together is one transaction. Rule 2: nothing is locked but by the database:
its `writing()` lets one writer in at a time where order matters. It does not know which database it is.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol

from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.entries import entry_of, line_of
from spanfuse_processor.statements import Statements
from spanfuse_processor.store import (
    FOR_EVER,
    FORGOTTEN_AFTER,
    LEAST_BETWEEN_DUMPS,
    MOST_ROWS,
    EventRow,
    LedgerGap,
    RunRow,
    Saved,
    Seen,
    SnapshotRow,
    SpendRow,
    StepRow,
    Written,
    includes,
)
from spanfuse_processor.tables import EVENT, SNAPSHOT

TRUTHS: Final = tuple(map(StepRow._fields.index, ("failed", "estimated", "unpriced", "counts")))
"""Where the fields of a step stand that are true or false."""


class Database(Protocol):
    """An open transaction."""

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Executes one statement. Its rows."""

    def tell(self, sql: str, rows: Sequence[Sequence[object]] = ((),)) -> int:
        """Executes one statement for each of `rows`. How many rows of the table it touched."""


class SqlStore(ABC):
    """Everything that is the same in all of them."""

    def __init__(self, statements: Statements) -> None:
        self._sql = statements

    @abstractmethod
    def writing(self, *, alone: bool = False) -> AbstractContextManager[Database]:
        """A transaction that is committed at the end of the block; `alone` where order matters.

        Raises:
            StoreError: anything that went wrong in it; nothing of it was kept then.
        """

    @abstractmethod
    def reading(self) -> AbstractContextManager[Database]:
        """A transaction that only reads. Raises StoreError."""

    def append_steps(self, rows: Sequence[StepRow]) -> None:
        """Keeps rows that are new, and those of a higher revision in place of their older ones."""
        with self.writing() as database:
            database.tell(self._sql.step, rows)

    def append_events(self, rows: Sequence[EventRow]) -> None:
        """Keeps events that are new."""
        with self.writing() as database:
            database.tell(self._sql.event, rows)

    def append_snapshots(self, rows: Sequence[SnapshotRow]) -> None:
        """Keeps snapshots that are new."""
        with self.writing() as database:
            database.tell(self._sql.snapshot, rows)

    def append_ledger(self, writer: str, first: int, entries: Sequence[Entry]) -> None:
        """Keeps the entries of a writer that it had not yet."""
        with self.writing(alone=True) as database:
            known = database.ask(
                self._sql.say("SELECT base, last, wall FROM writer WHERE writer = ?"), writer
            )
            base, last, wall = known[0] if known else (first - 1, first - 1, 0.0)
            fresh = entries[max(0, last - first + 1) :]
            if not fresh:
                return
            start = max(first, last + 1)
            lines = [(writer, number, line_of(entry)) for number, entry in enumerate(fresh, start)]
            database.tell(self._sql.entry, lines)
            wall = max(wall, *(entry.wall for entry in fresh))
            database.tell(self._sql.writer, [(writer, base, lines[-1][1], wall)])

    def read_ledger(self, seen: Seen, but: str = "") -> Sequence[Written]:
        """Entries beyond `seen`, each writer's in order."""
        beyond = self._sql.say(
            "SELECT number, line FROM entry WHERE writer = ? AND number > ? ORDER BY number"
        )
        found: list[Written] = []
        with self.reading() as database:
            for writer, base, last in database.ask("SELECT writer, base, last FROM writer ORDER BY writer"):
                start = max(base, seen.get(writer, 0))
                if writer == but or start >= last:
                    continue
                rows = database.ask(beyond, writer, start)
                if not rows or rows[0][0] != start + 1:
                    raise LedgerGap(f"entries of {writer} after {start} are gone")
                found += [Written(writer, number, entry_of(line)) for number, line in rows]
        return found

    def save_ledger(self, dump: Mapping[str, Any], seen: Seen, wall: float) -> bool:
        """Puts a dump in place of the one before, if it includes as much."""
        with self.writing(alone=True) as database:
            before = database.ask("SELECT seen, old_wall, old_seen FROM dump")
            included, old_wall, old = before[0] if before else ("{}", wall, "")
            if not includes(seen, json.loads(included)):
                return False
            kept = json.dumps(self._forget(database, seen, wall))
            if wall - old_wall >= LEAST_BETWEEN_DUMPS:
                self._let_go(database, json.loads(old))
                old_wall, old = wall, kept
            database.tell(self._sql.dump, [(1, kept, json.dumps(dump), old_wall, old or kept)])
            return True

    def load_ledger(self) -> Saved:
        """The newest dump."""
        with self.reading() as database:
            rows = database.ask("SELECT content, seen FROM dump")
        return Saved(json.loads(rows[0][0]), json.loads(rows[0][1])) if rows else Saved(None, {})

    def spend(self, by: Sequence[str], since: float, until: float) -> Sequence[SpendRow]:
        """What calls that ended in [since, until) cost; dearest first."""
        sql = self._sql.spend(by)
        with self.reading() as database:
            rows = database.ask(sql, since, until, MOST_ROWS)
        spent = [SpendRow(tuple(map(str, row[: len(by)])), *row[len(by) :]) for row in rows]
        return sorted(
            (row for row in spent if row.calls), key=lambda each: (-each.cost, -each.calls, each.values)
        )

    def events(
        self,
        since: float,
        until: float,
        kinds: Collection[str] = (),
        most: int = MOST_ROWS,
        *,
        run: str = "",
        agent: str = "",
        before_id: str = "",
    ) -> Sequence[EventRow]:
        """Events in [since, until), newest first."""
        alike = _given(run=run, agent=agent)
        sql = self._sql.events(len(kinds), list(alike), bool(before_id))
        after = [before_id] * 3 if before_id else []
        with self.reading() as database:
            rows = database.ask(sql, since, until, *kinds, *alike.values(), *after, most)
        return [EventRow(*row) for row in rows]

    def event(self, name: str) -> EventRow | None:
        """The event with this id."""
        rows = self._named("event", EVENT, name)
        return EventRow(*rows[0]) if rows else None

    def steps(
        self,
        since: float = 0.0,
        until: float = FOR_EVER,
        most: int = MOST_ROWS,
        *,
        run: str = "",
        trace_id: str = "",
    ) -> Sequence[StepRow]:
        """Steps that ended in [since, until), oldest first."""
        alike = _given(run=run, trace_id=trace_id)
        with self.reading() as database:
            rows = database.ask(self._sql.steps(list(alike)), since, until, *alike.values(), most)
        return [step_of(row) for row in reversed(rows)]

    def runs(self, since: float, until: float, most: int = MOST_ROWS) -> Sequence[RunRow]:
        """Runs with steps that ended in [since, until), the latest first."""
        with self.reading() as database:
            return [RunRow(*row) for row in database.ask(self._sql.runs, since, until, most)]

    def snapshot(self, name: str) -> SnapshotRow | None:
        """The snapshot that belongs to the event with this id."""
        rows = self._named("snapshot", SNAPSHOT, name)
        return SnapshotRow(*rows[0]) if rows else None

    def prune(self, before: float) -> int:
        """Lets go of steps, events and snapshots that are older."""
        with self.writing() as database:
            return sum(
                database.tell(self._sql.say(f"DELETE FROM {table} WHERE {time} < ?"), [(before,)])
                for table, time in (("step", "ended"), ("event", "at"), ("snapshot", "at"))
            )

    def _named(self, table: str, columns: Sequence[str], name: str) -> list[tuple[Any, ...]]:
        sql = self._sql.say(f"SELECT {', '.join(columns)} FROM {table} WHERE id = ?")
        with self.reading() as database:
            return database.ask(sql, name)

    def _let_go(self, database: Database, seen: Seen) -> None:
        delete = self._sql.say("DELETE FROM entry WHERE writer = ? AND number <= ?")
        database.tell(delete, list(seen.items()))

    def _forget(self, database: Database, seen: Seen, wall: float) -> Seen:
        """Lets go of writers that are over. What of `seen` is to be kept."""
        writers = database.ask("SELECT writer, last, wall FROM writer")
        over = {
            writer
            for writer, last, at in writers
            if at < wall - FORGOTTEN_AFTER and seen.get(writer, 0) >= last
        }
        names = [(writer,) for writer in over]
        database.tell(self._sql.say("DELETE FROM entry WHERE writer = ?"), names)
        database.tell(self._sql.say("DELETE FROM writer WHERE writer = ?"), names)
        known = {writer for writer, _, _ in writers} - over
        return {writer: number for writer, number in seen.items() if writer in known}


def step_of(row: Sequence[Any]) -> StepRow:
    """A step as a table has it: in some databases a truth is a number."""
    fields = list(row)
    for at in TRUTHS:
        fields[at] = bool(fields[at])
    return StepRow(*fields)


def _given(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}
