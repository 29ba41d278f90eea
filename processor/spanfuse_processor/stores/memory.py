"""The store in memory (`memory:`): what it holds ends with the process.

Rule: it is bounded, for nobody prunes it: the oldest rows go first. It is the twin that other
stores are measured by.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.choosing import chosen_events, chosen_steps, runs_of
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.spending import spend_of
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

MOST_KEPT: Final = 50_000
"""Steps, events and snapshots, each."""


class _Log:
    """The entries of one writer after number `base`. The first that is still there is number `gone` + 1."""

    def __init__(self, base: int) -> None:
        self.entries: list[Entry] = []
        self.base = self.gone = base
        self.wall = 0.0

    @property
    def last(self) -> int:
        return self.gone + len(self.entries)

    def let_go(self, number: int) -> None:
        """Of everything up to an entry."""
        del self.entries[: max(0, number - self.gone)]
        self.gone = max(self.gone, number)


class MemoryStore:
    """Dictionaries under one lock."""

    def __init__(self, url: str = "memory:", most: int = MOST_KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._steps: dict[tuple[str, str], StepRow] = {}
        self._events: dict[str, EventRow] = {}
        self._snapshots: dict[str, SnapshotRow] = {}
        self._logs: dict[str, _Log] = {}
        self._dump: tuple[str, Seen] | None = None
        self._old: tuple[float, Seen] | None = None  # what an older dump included, and when

    def append_steps(self, rows: Sequence[StepRow]) -> None:
        """Keeps rows that are new, and those of a higher revision in place of their older ones."""
        with self._lock:
            for row in rows:
                known = self._steps.get(row[:2])
                if known is None or row.revision > known.revision:
                    self._steps[row[:2]] = row
            _bound(self._steps, self._most)

    def append_events(self, rows: Sequence[EventRow]) -> None:
        """Keeps events that are new."""
        with self._lock:
            for row in rows:
                self._events.setdefault(row.id, row)
            _bound(self._events, self._most)

    def append_snapshots(self, rows: Sequence[SnapshotRow]) -> None:
        """Keeps snapshots that are new."""
        with self._lock:
            for row in rows:
                self._snapshots.setdefault(row.id, row)
            _bound(self._snapshots, self._most)

    def append_ledger(self, writer: str, first: int, entries: Sequence[Entry]) -> None:
        """Keeps the entries of a writer that it had not yet."""
        with self._lock:
            log = self._logs.setdefault(writer, _Log(first - 1))
            fresh = entries[max(0, log.last - first + 1) :]
            log.entries += fresh
            log.wall = max([log.wall, *(entry.wall for entry in fresh)])

    def read_ledger(self, seen: Seen, but: str = "") -> Sequence[Written]:
        """Entries beyond `seen`, each writer's in order."""
        found: list[Written] = []
        with self._lock:
            for writer, log in self._logs.items():
                start = max(log.base, seen.get(writer, 0))
                if writer == but or start >= log.last:
                    continue
                if start < log.gone:
                    raise LedgerGap(f"entries {start + 1} to {log.gone} of {writer} are gone")
                found += [
                    Written(writer, number, entry)
                    for number, entry in enumerate(log.entries[start - log.gone :], start + 1)
                ]
        return found

    def save_ledger(self, dump: Mapping[str, Any], seen: Seen, wall: float) -> bool:
        """Puts a dump in place of the one before, if it includes as much."""
        content = json.dumps(dump)
        with self._lock:
            if self._dump and not includes(seen, self._dump[1]):
                return False
            for writer in [name for name in self._logs if self._is_over(name, seen, wall)]:
                del self._logs[writer]
            kept = {name: number for name, number in seen.items() if name in self._logs}
            self._dump = (content, kept)
            if self._old is None or wall - self._old[0] >= LEAST_BETWEEN_DUMPS:
                self._let_go(self._old[1] if self._old else {})
                self._old = (wall, kept)
            return True

    def load_ledger(self) -> Saved:
        """The newest dump."""
        with self._lock:
            return Saved(json.loads(self._dump[0]), self._dump[1]) if self._dump else Saved(None, {})

    def spend(self, by: Sequence[str], since: float, until: float) -> Sequence[SpendRow]:
        """What calls that ended in [since, until) cost; dearest first."""
        return spend_of(self._between(since, until), by)

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
        with self._lock:
            rows = [row for row in self._events.values() if since <= row.at < until]
            before = self._events.get(before_id)
        return chosen_events(rows, kinds, most, run, agent, before_id, before)

    def event(self, name: str) -> EventRow | None:
        """The event with this id."""
        return self._events.get(name)

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
        return chosen_steps(self._between(since, until), most, run, trace_id)

    def runs(self, since: float, until: float, most: int = MOST_ROWS) -> Sequence[RunRow]:
        """Runs with steps that ended in [since, until), the latest first."""
        return runs_of(self._between(since, until))[:most]

    def snapshot(self, name: str) -> SnapshotRow | None:
        """The snapshot that belongs to the event with this id."""
        return self._snapshots.get(name)

    def prune(self, before: float) -> int:
        """Lets go of steps, events and snapshots that are older."""
        with self._lock:
            gone = _let_go(self._steps, lambda row: row.ended < before)
            gone += _let_go(self._events, lambda row: row.at < before)
            return gone + _let_go(self._snapshots, lambda row: row.at < before)

    def close(self) -> None:
        """Nothing to let go of."""

    def _between(self, since: float, until: float) -> list[StepRow]:
        with self._lock:
            return [row for row in self._steps.values() if since <= row.ended < until]

    def _let_go(self, seen: Seen) -> None:
        for writer, number in seen.items():
            if log := self._logs.get(writer):
                log.let_go(number)

    def _is_over(self, writer: str, seen: Seen, wall: float) -> bool:
        log = self._logs[writer]
        return log.wall < wall - FORGOTTEN_AFTER and seen.get(writer, 0) >= log.last


def _bound(table: dict[Any, Any], most: int) -> None:
    while len(table) > most:
        del table[next(iter(table))]


def _let_go(table: dict[Any, Any], old: Callable[[Any], bool]) -> int:
    names = [name for name, row in table.items() if old(row)]
    for name in names:
        del table[name]
    return len(names)
