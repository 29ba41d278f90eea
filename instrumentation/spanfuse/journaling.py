"""The journal of an application that judges itself: what happens is kept in a file of the user's, or a store.

Rule 1: there is no thread and no file before the first call; the application waits for no disk then, and at
its end for a second as a rule, for a store that fails not at all. Rule 2: what cannot be kept is counted;
that a store is away is said once, and that it is back. Rule 3: many processes write one file. It does not
know what happens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from spanfuse.effects import Effects, told
from spanfuse.outages import Outage
from spanfuse.places import url_of
from spanfuse_processor.bookkeeping.journal import Journal, Keeping
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.store import Store, StoreError
from spanfuse_processor.storing import open_store, store_class
from spanfuse_processor.wire.effect import Instance
from spanfuse_processor.writing import Writer

MOST: Final = 10_000
"""Rows that may wait for the store."""
REMEMBERED: Final = 2_000
"""Calls that can be corrected."""
CAPTURE_BYTES: Final = 4_096
"""Of each part of a call's contents, where they are kept."""
SLICE: Final = 50
"""Rows that are made while no call can be judged: some tenths of a millisecond."""
EVERY: Final = 0.25
"""Seconds between two times that rows are handed on, while there are any."""
FAREWELL: Final = 0.5
"""The part of the time for its end that the application waits for the last rows to be written."""
KEPT: Final = 90 * 86_400.0
"""Seconds for which rows are kept."""
PRUNE_EVERY: Final = 3_600.0


class Journaling:
    """Keeps a journal in `where`: OWN, a path, or the URL of a store. `view` is what is known of a run, where
    the engine may be touched. `on_fault` is told of each failure, on the writer's thread.

    Attributes:
        every: seconds between two times that `hand_on` is due, while it is `busy`.
        url: of the store; empty where there is no place for the user's own.
        writer: what writes behind.
        journal: what is told of what happens.
        patient: somebody else writes by the same writer: it gets all the time that there is to end.
    """

    every = EVERY

    def __init__(
        self,
        where: str,
        policy: Policy,
        view: Callable[[str], RunView | None],
        on_fault: Callable[[], object],
        *,
        contents: bool = False,
    ) -> None:
        self.url = url_of(where)
        if self.url.startswith("sqlite:"):
            store_class(self.url)  # imported now: what a thread imports while the process forks, no child can
        self._outage = Outage(self.url, "what happens is not recorded meanwhile")
        self._on_fault = on_fault
        self.writer = Writer(self._open, time.monotonic, self._failed, on_back=self._outage.back, most=MOST)
        keeping = Keeping(capture_bytes=CAPTURE_BYTES if contents else 0)
        self.journal = Journal(keeping, self.writer, policy, view, lambda name: None, remember=REMEMBERED)
        self.patient = False
        self._pruned = -PRUNE_EVERY
        self._written = 0

    def settle(self, aside: Callable[[Callable[[float], object]], object]) -> None:
        """Makes the rows of calls that were noted, `SLICE` at a time `aside`: calls go on in between."""
        more = [True]
        while more and more.pop():
            aside(lambda wall: more.append(self.journal.settle(SLICE)))

    def hand_on(self, who: Instance, effects: Sequence[Effects], wall: float) -> None:
        """Hands on what was gathered; where the engine may be touched."""
        if effects:
            self.journal.effects(who, map(told, effects), wall)
        self.journal.keep()
        now = time.monotonic()
        if self._begun and now - self._pruned >= PRUNE_EVERY:
            self._pruned = now
            self.writer.prune(wall - KEPT)

    def busy(self) -> bool:
        """Whether anything was written since this was asked last, or waits to be."""
        stats = self.writer.stats()
        before, self._written = self._written, stats.written
        return bool(stats.waiting) or stats.written != before

    def stop(self, timeout: float) -> None:
        """Writes what waits, as far as that goes in time."""
        if not self.patient:
            timeout = 0.0 if self.writer.stats().failing else timeout * FAREWELL
        self.writer.close(timeout)

    @property
    def lost(self) -> int:
        """Rows that were never kept."""
        stats = self.writer.stats()
        return stats.dropped + stats.refused

    @property
    def _begun(self) -> bool:
        """Whether there has been anything to keep."""
        stats = self.writer.stats()
        return bool(stats.waiting or stats.written or stats.failures)

    def _open(self) -> Store:
        if not self.url:
            raise StoreError("there is no home directory: name a file in SPANFUSE_JOURNAL")
        return open_store(self.url)

    def _failed(self, error: BaseException) -> None:
        self._on_fault()
        self._outage.failed(error)
