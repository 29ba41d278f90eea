"""The service's books: what is kept, by which writers, and what is read of it.

Rule 1: nothing here waits for a store on the loop: writing is behind, reading is in a thread. Rule 2: a store
that is away at the start is waited for a little; then it is the caller's to go on without. Rule 3: the ledger
has a writer of its own where it has a store of its own, so that one that is away does not hold up the other.
It does not know what is decided by a balance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar

from spanfuse_processor.bookkeeping.outages import Outages
from spanfuse_processor.clock import Clock
from spanfuse_processor.store import (
    LedgerGap,
    RowsRefused,
    SpendRow,
    Store,
    StoreError,
    Written,
)
from spanfuse_processor.storing import open_store, scheme, store_class
from spanfuse_processor.writing import Follower, Keeper, Operations, Restored, Writer, WriterStats, restore
from spanfuse_processor.writing.keeping import Kept, numbered_on

PRUNE_EVERY: Final = 3_600.0
A_DAY: Final = 86_400.0
TRY_EVERY: Final = 0.25
"""Seconds between two attempts to read the ledger at the start."""

CATCH_UP_EVERY: Final = 1.0
"""Seconds between two attempts to read it later."""

FLUSHED_WITHIN: Final = 2.0
"""Seconds that what was handed over may take to be written before it is read again."""

T = TypeVar("T")
OnFault = Callable[[str, BaseException], None]


class BooksStats(NamedTuple):
    """What became of what was handed over, by writer; the ledger's is that of `rows` where both share one."""

    rows: WriterStats
    ledger: WriterStats


class Books:
    """Keeps books behind `url`, and the ledger behind `ledger_url` if there is one.

    Attributes:
        rows, ledger: the writers of the journal and of the ledger; one and the same where both share a store.
        operations: counts what stores are asked, by the schemes of their URLs.

    Raises:
        StoreError: a URL of no store, or a driver that is missing. Whether a store answers is not looked at.
    """

    def __init__(self, url: str, ledger_url: str, keep_days: float, clock: Clock, on_fault: OnFault) -> None:
        self._url = url
        self._ledger_url = ledger_url or url
        self._keep = keep_days * A_DAY
        self._clock = clock
        self._on_fault = on_fault
        self._outages = Outages(clock.monotonic)
        self._shared: dict[str, Store] = {}
        self.operations = Operations()
        self.operations.expect(scheme(url), "open", "steps", "events", "snapshots", "prune", "read")
        self.operations.expect(scheme(self._ledger_url), "open", "ledger", "dump", "restore")
        for each in (self._url, self._ledger_url):
            store_class(each)
        self.rows = self._writer(self._url, "rows")
        shared = self._ledger_url == self._url
        self.ledger = self.rows if shared else self._writer(self._ledger_url, "ledger")
        self.keeper = Keeper(self.ledger, {})
        self._pruned = clock.monotonic() - PRUNE_EVERY
        self._follower: Follower | None = None
        self._catching_up = False

    async def restore(self, patience: float) -> Restored | None:
        """The ledger as it was left; None when the store did not answer within `patience` seconds."""
        until = self._clock.monotonic() + patience
        while True:
            try:
                restored = await asyncio.to_thread(self._restore)
                self.keeper = Keeper(self.ledger, restored.seen)
                return restored
            except StoreError as error:
                self._failed(self._ledger_url, "start", error)
            if self._clock.monotonic() >= until:
                return None
            await asyncio.sleep(TRY_EVERY)

    async def begin(self, ledger: Kept, patience: float) -> bool:
        """Leaves a dump, for a later life to know of this one. Whether it was kept within `patience` s."""
        self.ledger.dump(ledger.dump(), self.keeper.seen, self._clock.wall_ns() / 1e9)
        return await asyncio.to_thread(self.ledger.flush, patience)

    async def catch_up(self, ledger: Kept, resume: Callable[[Restored], object]) -> None:
        """After a start without what there was: tries until the store answers, then `resume` gets all of it.

        That includes what `ledger` has counted meanwhile, and so takes its place: the next `advance` has to
        be for the new one.
        """
        while True:
            await asyncio.sleep(CATCH_UP_EVERY)
            self.keeper.keep(ledger, self._clock.wall_ns() / 1e9)
            self._catching_up = True
            try:
                restored = await asyncio.to_thread(self._restore_written)
                if restored is None:
                    continue
                fresh = ledger.drain()
                self.ledger.ledger(fresh)
                self.keeper = Keeper(self.ledger, restored.seen)
                meanwhile = numbered_on(restored.dump, restored.entries, fresh)
                resume(restored._replace(entries=[*restored.entries, *meanwhile]))
                return
            finally:
                self._catching_up = False

    def follow(self, deliver: Callable[[Sequence[Written]], object], on_gap: Callable[[], object]) -> None:
        """Has what other processors write into the ledger handed to `deliver`, on a thread of its own. When
        some of it was gone before it was read, `on_gap` is called there, and it is time to catch up."""
        self._follower = Follower(
            lambda: self._open(self._ledger_url),
            self.ledger.name,
            self.keeper.seen,
            deliver,
            on_gap,
            lambda error: self._failed(self._ledger_url, "others", error),
            on_back=lambda: self._back(self._ledger_url, "others"),
        )
        self._follower.start()

    def advance(self, ledger: Kept) -> None:
        """Keeps what changed in the ledger, and lets go of what is old. Several times a second."""
        wall = self._clock.wall_ns() / 1e9
        if not self._catching_up:
            self.keeper.keep(ledger, wall)
        now = self._clock.monotonic()
        if now - self._pruned >= PRUNE_EVERY:
            self._pruned = now
            self.rows.prune(wall - self._keep)

    async def read(self, ask: Callable[[Store], T]) -> T:
        """What `ask` reads of the journal's store, on a thread of its own. What still waits to be written is
        not in it.

        Raises:
            StoreError: the store is away.
        """
        return await asyncio.to_thread(self._read, ask)

    async def spend(self, by: Sequence[str], since: float, until: float) -> Sequence[SpendRow]:
        """What calls cost; see `Store.spend` and `read`."""
        return await self.read(lambda store: store.spend(by, since, until))

    def stats(self) -> BooksStats:
        """What became of what was handed over."""
        return BooksStats(self.rows.stats(), self.ledger.stats())

    async def close(self, timeout: float) -> bool:
        """Writes what waits and ends. Whether all of it was kept within `timeout` seconds."""
        if self._follower is not None:
            await asyncio.to_thread(self._follower.stop, timeout)
        writers = [self.rows] if self.ledger is self.rows else [self.rows, self.ledger]
        done = await asyncio.gather(*(asyncio.to_thread(each.close, timeout) for each in writers))
        return all(done)

    def _writer(self, url: str, who: str) -> Writer:
        return Writer(
            lambda: self._open(url),
            self._clock.monotonic,
            lambda error: self._failed(url, who, error),
            on_back=lambda: self._back(url, who),
            operations=self.operations,
            label=scheme(url),
        )

    def _failed(self, url: str, who: str, error: BaseException) -> None:
        """A store that is away, or refuses, is told of as that; all else is a fault of ours."""
        if isinstance(error, RowsRefused):
            self._outages.refused(url, error)
        elif isinstance(error, LedgerGap):
            self._outages.gap(url)
        elif isinstance(error, StoreError):
            self._outages.failed(url, who, error, self._stats_of(url).waiting)
        else:
            self._on_fault("store", error)

    def _back(self, url: str, who: str) -> None:
        stats = self._stats_of(url)
        self._outages.succeeded(url, who, stats.waiting, stats.dropped)

    def _stats_of(self, url: str) -> WriterStats:
        return (self.rows if url == self._url else self.ledger).stats()

    def _open(self, url: str) -> Store:
        """A store; that in memory is one for all who ask."""
        if not url.startswith("memory:"):
            return open_store(url)
        return self._shared.setdefault(url, open_store(url))

    def _restore_written(self) -> Restored | None:
        """The ledger with all that was handed over; None while the store is away."""
        try:
            return self._restore() if self.ledger.flush_ledger(FLUSHED_WITHIN) else None
        except StoreError as error:
            self._failed(self._ledger_url, "start", error)
            return None

    def _restore(self) -> Restored:
        with self.operations.counted(scheme(self._ledger_url), "restore"):
            store = self._open(self._ledger_url)
            try:
                restored = restore(store)
            finally:
                store.close()
        self._back(self._ledger_url, "start")
        return restored

    def _read(self, ask: Callable[[Store], T]) -> T:
        with self.operations.counted(scheme(self._url), "read"):
            store = self._open(self._url)
            try:
                return ask(store)
            finally:
                store.close()
