"""What waits to be written: three queues with one bound, between any threads and the one that writes.

Rule 1: nobody waits here: the lock is held for as long as it takes to move some references. Rule 2: when too
much waits, what comes then is left out and counted. Rule 3: rows are looked at first, and taken away when
they are kept; until then they wait. A dump of the ledger stands among the entries, after those it includes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from itertools import islice, takewhile
from typing import Any, Final, NamedTuple

from spanfuse_processor.store import Seen

BATCH: Final = 500
"""Rows of one kind that are written at once."""


class Kind(Enum):
    """The queues."""

    LEDGER = 0
    BILL = 1
    EVENTS = 2


class Dump(NamedTuple):
    """A dump of the ledger, and which entries of other writers it includes."""

    content: Mapping[str, Any]
    seen: Seen
    wall: float


class Waiting:
    """The queues. At most `most` rows wait."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._queues: Final = {kind: deque[Any]() for kind in Kind}
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._closed = False
        self.dropped = 0

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def put(self, kind: Kind, rows: Sequence[Any]) -> bool:
        """Takes in as many rows as there is room for. Whether that was all of them."""
        with self._lock:
            room = 0 if self._closed else max(0, self._most - len(self))
            lost = max(0, len(rows) - room)
            self._queues[kind].extend(rows[:room] if lost else rows)
            self.dropped += lost
        return not lost

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
        return list(takewhile(lambda row: not isinstance(row, Dump), rows))

    def done(self, kind: Kind, rows: int) -> None:
        """The first rows need not wait any longer."""
        with self._changed:
            queue = self._queues[kind]
            for _ in range(min(rows, len(queue))):
                queue.popleft()
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
            self.dropped += len(self)
            for queue in self._queues.values():
                queue.clear()
            self._changed.notify_all()
