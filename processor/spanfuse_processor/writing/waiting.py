"""What waits to be written: a few queues with one bound, between any threads and the one that writes.

Rule 1: nobody waits here: the lock is held for as long as it takes to move some references. Rule 2: when too
much waits, what comes then is left out and counted. Rule 3: rows are looked at first, and taken away when
they are kept; until then they wait. A dump of the ledger stands among the entries, after those it includes;
a snapshot is due when the steps are kept that were handed over before it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple

from spanfuse_processor.store import Seen, SnapshotRow, StepRow

BATCH: Final = 500
"""Rows of one kind that are written at once."""


class Kind(Enum):
    """The queues."""

    LEDGER = "ledger"
    STEPS = "steps"
    EVENTS = "events"
    SNAPSHOTS = "snapshots"


AT_MOST: Final = {Kind.STEPS: 0.9, Kind.LEDGER: 0.95}
"""The part of the room up to which these are taken in: they never crowd out what was decided."""


class Dump(NamedTuple):
    """A dump of the ledger, and which entries of other writers it includes."""

    content: Mapping[str, Any]
    seen: Seen
    wall: float


class Wanted(NamedTuple):
    """A snapshot of a run that is to be made.

    `make` turns its steps that ended in [since, until), the latest `most` of them, into the row.
    """

    run: str
    since: float
    until: float
    most: int
    make: Callable[[Sequence[StepRow]], SnapshotRow]


class Due(NamedTuple):
    """A snapshot, and after how many steps it is due."""

    after: int
    wanted: Wanted


class Waiting:
    """The queues. At most `most` rows wait.

    Attributes:
        lost: rows that were left out, by kind.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._queues: Final = {kind: deque[Any]() for kind in Kind}
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._closed = False
        self._steps_put = self._steps_done = 0
        self.lost = dict.fromkeys(Kind, 0)

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    @property
    def dropped(self) -> int:
        """Rows that were left out."""
        return sum(self.lost.values())

    def of(self, kind: Kind) -> int:
        """Rows of one kind that wait."""
        return len(self._queues[kind])

    def put(self, kind: Kind, rows: Sequence[Any]) -> bool:
        """Takes in as many rows as there is room for. Whether that was all of them."""
        with self._lock:
            most = int(self._most * AT_MOST.get(kind, 1.0))
            room = 0 if self._closed else max(0, most - len(self))
            lost = max(0, len(rows) - room)
            taken = rows[:room] if lost else rows
            self._queues[kind].extend(taken)
            self.lost[kind] += lost
            if kind is Kind.STEPS:
                self._steps_put += len(taken)
        return not lost

    def put_wanted(self, wanted: Sequence[Wanted]) -> None:
        """Takes in snapshots that are to be made, behind the steps that wait."""
        self.put(Kind.SNAPSHOTS, [Due(self._steps_put, each) for each in wanted])

    def put_dump(self, dump: Dump) -> None:
        """Takes in a dump, behind the entries that wait."""
        with self._lock:
            if not self._closed:
                self._queues[Kind.LEDGER].append(dump)

    def first(self, kind: Kind) -> list[Any]:
        """What is to be written next: a dump alone, or as many rows as make a batch."""
        with self._lock:
            rows = list(islice(self._queues[kind], BATCH))
        if rows and isinstance(rows[0], Dump):
            return rows[:1]
        return list(takewhile(self._is_due, rows))

    def done(self, kind: Kind, rows: int) -> None:
        """The first rows need not wait any longer."""
        with self._changed:
            queue = self._queues[kind]
            gone = min(rows, len(queue))
            for _ in range(gone):
                queue.popleft()
            if kind is Kind.STEPS:
                self._steps_done += gone
            if not queue:
                self._changed.notify_all()

    def until_empty(self, timeout: float, kinds: Collection[Kind] = tuple(Kind)) -> bool:
        """Waits until nothing of these kinds does any more, at most `timeout` seconds. Whether it is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not any(self._queues[kind] for kind in kinds), timeout)

    def close(self) -> None:
        """Takes nothing more in."""
        self._closed = True

    def give_up(self) -> None:
        """Whatever waits is left out."""
        with self._changed:
            for kind, queue in self._queues.items():
                self.lost[kind] += len(queue)
                queue.clear()
            self._changed.notify_all()

    def _is_due(self, row: object) -> bool:
        """Whether it may be written with those before it."""
        if isinstance(row, Due):
            return row.after <= self._steps_done
        return not isinstance(row, Dump)
