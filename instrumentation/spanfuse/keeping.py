"""What this process has spent, kept in a store: it outlives a restart, and a kill.

Rule 1: the application waits for no disk; only its start waits, `PATIENCE` seconds at most, to hear what was
spent before. When that comes later, it is added to what was spent meanwhile. Rule 2: what fails is tried
again, counted, and said once: the application goes on. Rule 3: processes that share a store read along what
each other write. It does not know what is done about a balance.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from spanfuse.judge import Judge
from spanfuse.outages import Outage
from spanfuse.places import url_of
from spanfuse_processor.engine.alerts import Notice
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.treasury import Treasury
from spanfuse_processor.store import Store, Written
from spanfuse_processor.storing import open_store
from spanfuse_processor.writing import Follower, Keeper, Restored, Writer, restore

__all__ = ["JOURNAL", "Keeping", "url_of"]

JOURNAL: Final = 20_000
"""Changes of accounts that may wait for the store."""
EVERY: Final = 0.25
"""Seconds between two times that changes are handed on."""
PATIENCE: Final = 0.5
AGAIN: Final = 1.0
"""Seconds between two attempts to read what was spent before."""
FLUSHED_WITHIN: Final = 2.0
"""Seconds that what was handed on may take to be written before the ledger is read again."""
FAREWELL: Final = 0.5
"""Seconds that reading may take to end."""
RECEIPTS: Final = 120.0
"""Seconds for which a dump remembers calls, but for the last one: what comes twice comes sooner."""


class Keeping:
    """Keeps what `judge` counts in the store behind `url`. `on_fault` is told of each failure, on threads of
    its own. `writer` is somebody else's who writes to the same store, and closes it; None: one of our own.

    Attributes:
        every: seconds between two times that `advance` is due.
    """

    every = EVERY

    def __init__(
        self, url: str, judge: Judge, on_fault: Callable[[], object], writer: Writer | None = None
    ) -> None:
        self._url = url
        self._judge = judge
        self._on_fault = on_fault
        self._outage = outage = Outage(url, "what is spent is known to this process only")
        self._own = writer is None
        self._writer = writer or Writer(
            self._open, time.monotonic, self._failed, on_back=outage.back, most=JOURNAL
        )
        self._keeper = Keeper(self._writer, {})
        self._reader: threading.Thread | None = None
        self._follower: Follower | None = None
        self._reading = True  # changed where money acts
        self._read, self._over = threading.Event(), threading.Event()

    def start(self) -> None:
        """Reads what was spent before, behind; returns once that is known, and soon anyway."""
        self._begin_to_read()
        self._read.wait(PATIENCE)

    def advance(self) -> None:
        """Hands on what changed. Several times a second."""
        self._judge.money(self._keep)

    def stop(self, timeout: float) -> None:
        """Hands on what changed, and a last dump, as far as that goes in time."""
        self._over.set()
        if self._reader is not None:
            self._reader.join(min(timeout, FAREWELL))
        self.advance()
        if self._follower is not None:
            self._follower.stop(min(timeout, FAREWELL))
        self._judge.money(self._keep_all)
        if self._own:
            self._writer.close(timeout)

    def drain(self) -> list[Entry]:
        """What changed in the ledger since the last time; where money acts."""
        return self._judge.money(lambda treasury, wall: treasury.ledger.drain())

    def dump(self, since: float = 0.0) -> dict[str, Any]:
        """The ledger, and beside it what belongs to it; where money acts."""
        return self._judge.money(lambda treasury, wall: self._dumped(treasury, max(since, wall - RECEIPTS)))

    def _keep(self, treasury: Treasury, wall: float) -> None:
        if not self._reading:
            self._keeper.keep(self, wall)

    def _keep_all(self, treasury: Treasury, wall: float) -> None:
        if not self._reading:
            self._writer.dump(self._dumped(treasury, 0.0), self._keeper.seen, wall)

    def _dumped(self, treasury: Treasury, since: float) -> dict[str, Any]:
        beside = {"treasury": treasury.dump(), "runs": self._judge.steps.forecaster.dump()}
        return {**treasury.ledger.dump(since), "beside": beside}

    def _begin_to_read(self) -> None:
        def begin(treasury: Treasury, wall: float) -> None:
            self._reading = True

        self._judge.money(begin)
        self._reader = threading.Thread(target=self._take_up, name="spanfuse-store", daemon=True)
        self._reader.start()

    def _take_up(self) -> None:
        """Reads until it succeeds."""
        while not self._over.is_set():
            try:
                restored = self._restored()
                if restored is not None:
                    self._judge.tell(self._resume(restored))
                    self._read.set()
                    self._follow()
                    return
            except Exception as error:
                self._failed(error)
            self._over.wait(AGAIN)

    def _restored(self) -> Restored | None:
        """All that was written; None while some of our own is not."""
        if not self._writer.flush_ledger(FLUSHED_WITHIN):
            return None
        store = self._open()
        try:
            return restore(store)
        finally:
            store.close()

    def _resume(self, restored: Restored) -> Sequence[Notice]:
        """Puts the ledger that was kept in the place of that one, with what it has counted meanwhile."""
        budgets, wall = self._judge.money(lambda treasury, wall: (treasury.budgets, wall))
        dump: Mapping[str, Any] = restored.dump or Ledger((), wall).dump()
        ledger = Ledger.load(budgets, dump, wall, entries=restored.entries, journal=JOURNAL)

        def resume(treasury: Treasury, wall: float) -> Sequence[Notice]:
            fresh = treasury.ledger.drain()
            ledger.follow(fresh)
            if treasury.budgets != budgets:
                ledger.renew(treasury.budgets, wall)
            ledger.adopt(treasury.ledger, wall)
            self._keeper = Keeper(self._writer, restored.seen)
            self._writer.ledger(fresh)
            self._reading = False
            beside = dump.get("beside", {})
            if runs := beside.get("runs"):
                self._judge.steps.forecaster.load(runs)
            return treasury.resume(ledger, beside.get("treasury", {}), wall)

        return self._judge.money(resume)

    def _follow(self) -> None:
        if self._over.is_set():
            return
        self._follower = Follower(
            self._open, self._writer.name, self._keeper.seen, self._others, self._begin_to_read, self._failed
        )
        self._follower.start()

    def _others(self, tail: Sequence[Written]) -> None:
        """Other processes that share the store have written this."""

        def count(treasury: Treasury, wall: float) -> Sequence[Notice]:
            self._keeper.saw(tail)
            return treasury.follow([each.entry for each in tail], wall)

        self._judge.tell(self._judge.money(count))

    def _open(self) -> Store:
        return open_store(self._url)

    def _failed(self, error: BaseException) -> None:
        self._on_fault()
        self._outage.failed(error)
