"""Carries what waits to a store, batch by batch; of the writer's thread alone.

Rule 1: a batch that may have been kept is written again, as it was: it counts once. Rule 2: a store that
failed is closed and opened anew. Rule 3: the entries that are written have numbers without gaps, whatever was
left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from spanfuse_processor.store import Store, StoreError
from spanfuse_processor.writing.refused import is_away, keep
from spanfuse_processor.writing.waiting import Dump, Kind, Waiting


class Carrier:
    """Writes as the writer `name`.

    Attributes:
        written, refused, failures: rows kept, rows that no table could hold, attempts that failed.
        failing: the last attempt failed.
        number: of the last entry that was written.
        dumped: of the last entry that a dump includes.
        holes: entries were left out that no dump includes yet.
        dumps: that were written, or refused by the store.
        prune_before: what is older is to be let go of, once; None: nothing.
    """

    def __init__(
        self,
        name: str,
        open_store: Callable[[], Store],
        waiting: Waiting,
        on_fault: Callable[[BaseException], object],
        on_back: Callable[[], object],
    ) -> None:
        self._name: Final = name
        self._open_store = open_store
        self._waiting = waiting
        self._on_fault = on_fault
        self._on_back = on_back
        self.store: Store | None = None
        self.written = self.refused = self.failures = 0
        self.number = self.dumped = self.dumps = 0
        self.failing = self.holes = False
        self.prune_before: float | None = None

    def carry(self) -> bool:
        """Writes one batch of each kind. False when the store is away."""
        try:
            if self.store is None:
                self.store = self._open_store()
            self._ledger(self.store)
            self._rows(Kind.BILL, self.store.append_bill)
            self._rows(Kind.EVENTS, self.store.append_events)
            self._prune(self.store)
        except Exception as error:
            self.failures += 1
            self.failing = True
            self._on_fault(error)
            self.leave()
            return False
        if self.failing:
            self.failing = False
            self._on_back()
        return True

    def leave(self) -> None:
        """Closes the store."""
        store, self.store = self.store, None
        if store is not None:
            with contextlib.suppress(StoreError):
                store.close()

    def _ledger(self, store: Store) -> None:
        entries = self._waiting.first(Kind.LEDGER)
        if not entries:
            return
        if isinstance(entries[0], Dump):
            kept = self._dump(store, entries[0])
            self.dumps += 1
        else:
            kept = self._attempt(lambda: store.append_ledger(self._name, self.number + 1, entries))
            if kept:
                self.number += len(entries)
                self.written += len(entries)
        self.holes |= not kept
        self._waiting.done(Kind.LEDGER, len(entries))

    def _dump(self, store: Store, dump: Dump) -> bool:
        """False where the one that stands includes more: another is wanted then, later."""
        seen = {**dump.seen, self._name: self.number} if self.number else dump.seen
        saved: list[bool] = []
        self._attempt(lambda: saved.append(store.save_ledger(dump.content, seen, dump.wall)))
        if saved == [True]:
            self.dumped = self.number
        return saved == [True]

    def _attempt(self, write: Callable[[], object]) -> bool:
        """False when the store refuses it for good. Raises StoreError when it is away."""
        try:
            write()
        except Exception as error:
            if is_away(error):
                raise
            self._refuse(error)
            return False
        return True

    def _rows(self, kind: Kind, append: Callable[[Sequence[Any]], None]) -> None:
        if rows := self._waiting.first(kind):
            self.written += keep(append, rows, self._refuse)
            self._waiting.done(kind, len(rows))

    def _prune(self, store: Store) -> None:
        before, self.prune_before = self.prune_before, None
        if before is not None:
            store.prune(before)

    def _refuse(self, error: Exception) -> None:
        self.refused += 1
        self._on_fault(error)
