"""What outlives the process: the journal (steps, events, snapshots) and the ledger's changes; the contract of
every store.

Rule 1: everything may be written twice and counts once: steps by span, ledger entries by writer and number,
events and snapshots by id. Rule 2: a store is asked by the threads of `writing` and by reports, never by a
decision; it may be slow, and it may fail. Rule 3: what is kept are plain rows (`rows.py`). It does not know
what a budget is.

The ledger is shared by replicas as a log: each writer numbers its own entries from 1, without gaps. Whoever
holds counts says with `seen` which number of each writer they include, and reads what lies beyond. (The
number in an entry itself is that of the ledger that made it.)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.rows import (
    EVENT_KINDS,
    GROUPS,
    TIMES,
    EventRow,
    RunRow,
    SnapshotRow,
    SpendRow,
    StepRow,
    check_groups,
)

__all__ = [
    "EVENT_KINDS",
    "FOR_EVER",
    "GROUPS",
    "MOST_ROWS",
    "TIMES",
    "EventRow",
    "LedgerGap",
    "RowsRefused",
    "RunRow",
    "Saved",
    "Seen",
    "SnapshotRow",
    "SpendRow",
    "StepRow",
    "Store",
    "StoreError",
    "Written",
    "check_groups",
    "includes",
]

Seen = Mapping[str, int]
"""Up to which of its entries each writer's are included in something."""

LEAST_BETWEEN_DUMPS: Final = 60.0
"""Seconds for which entries are kept after a dump includes them: replicas read a little behind."""

FORGOTTEN_AFTER: Final = 86_400.0
"""Seconds after which a writer that wrote nothing more, and whose entries a dump includes, is forgotten.

When it writes again after all, whoever holds counts is taken to include what it wrote before."""

MOST_ROWS: Final = 10_000
"""The most rows of one answer."""

FOR_EVER: Final = 1e12
"""Seconds since the epoch that nothing lies beyond."""


class StoreError(Exception):
    """Something could not be kept or read. The same again may succeed later."""


class RowsRefused(StoreError):
    """The store cannot hold these rows, now or later: too large a number, text that is no text."""


class LedgerGap(StoreError):
    """Entries that were asked for are no longer there: the newest dump includes them."""


class Written(NamedTuple):
    """An entry as it stands in the log."""

    writer: str
    number: int
    entry: Entry


class Saved(NamedTuple):
    """The newest dump of the ledger (None: there is none) and which entries it includes."""

    dump: Mapping[str, Any] | None
    seen: Seen


class Store(Protocol):
    """Keeps it. Methods may be called from any thread; each raises StoreError when it did not succeed."""

    def append_steps(self, rows: Sequence[StepRow]) -> None:
        """Keeps rows that are new, and those of a higher revision in place of their older ones."""

    def append_events(self, rows: Sequence[EventRow]) -> None:
        """Keeps events that are new."""

    def append_snapshots(self, rows: Sequence[SnapshotRow]) -> None:
        """Keeps snapshots that are new."""

    def append_ledger(self, writer: str, first: int, entries: Sequence[Entry]) -> None:
        """Keeps entries number `first`, `first` + 1 ... of a writer; numbers it had already are skipped."""

    def read_ledger(self, seen: Seen, but: str = "") -> Sequence[Written]:
        """Entries beyond `seen`, each writer's in order; not those of the writer `but`.

        Raises:
            LedgerGap: some of them are there no longer: load the ledger anew.
        """

    def save_ledger(self, dump: Mapping[str, Any], seen: Seen, wall: float) -> bool:
        """Puts a dump in place of the one before, and lets go of entries that were included long enough.

        False, and nothing changes, when it includes less than the one that stands.
        """

    def load_ledger(self) -> Saved:
        """The newest dump. What came after it is `read_ledger(saved.seen)`."""

    def spend(self, by: Sequence[str], since: float, until: float) -> Sequence[SpendRow]:
        """What calls that count and ended in [since, until) cost, by some of GROUPS; dearest first, at most
        MOST_ROWS.

        Raises:
            ValueError: a field that spend cannot be grouped by, or one that is named twice.
        """

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
        """Events in [since, until), of some kinds or of all, of a run, of an agent; newest first.

        `before_id` goes on after the last of an earlier answer; none where there is no such event any more.
        """

    def event(self, name: str) -> EventRow | None:
        """The event with this id."""

    def steps(
        self,
        since: float = 0.0,
        until: float = FOR_EVER,
        most: int = MOST_ROWS,
        *,
        run: str = "",
        trace_id: str = "",
    ) -> Sequence[StepRow]:
        """Steps that ended in [since, until), of a run or of a trace; oldest first. Where there are more
        than `most`, the latest."""

    def runs(self, since: float, until: float, most: int = MOST_ROWS) -> Sequence[RunRow]:
        """The runs that steps which ended in [since, until) belong to, by these steps; the one that ended
        last comes first."""

    def snapshot(self, name: str) -> SnapshotRow | None:
        """The snapshot that belongs to the event with this id."""

    def prune(self, before: float) -> int:
        """Lets go of steps, events and snapshots that are older. How many there were."""

    def close(self) -> None:
        """Lets go of files and connections."""


def includes(one: Seen, other: Seen) -> bool:
    """Whether whoever has seen `one` has seen all of `other`.

    >>> includes({"a": 3, "b": 1}, {"a": 2}), includes({"a": 1}, {"a": 1, "b": 1})
    (True, False)
    """
    return all(one.get(writer, 0) >= number for writer, number in other.items())
