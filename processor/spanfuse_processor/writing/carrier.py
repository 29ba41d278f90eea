"""Carries what waits to a store, batch by batch; of the writer's thread alone.

Rule 1: a batch that may have been kept is written again, as it was: it counts once. Rule 2: a store that
failed is closed and opened anew. Rule 3: the entries that are written have numbers without gaps, whatever was
left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from spanfuse_processor.store import Store, StoreError
from spanfuse_processor.writing.operations import Operations
from spanfuse_processor.writing.refused import is_away, keep
from spanfuse_processor.writing.waiting import Dump, Kind, Waiting, Wanted


class Carrier:
    """Writes as the writer `name`.

    Attributes:
        kept, left_out: rows kept, and rows that no table could hold, by kind.
        failures: attempts that failed.
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
        operations: Operations | None = None,
        label: str = "",
    ) -> None:
        self._name: Final = name
        self._open_store = open_store
        self._waiting = waiting
        self._on_fault = on_fault
        self._on_back = on_back
        self._counted = partial((operations or Operations()).counted, label)
        self.store: Store | None = None
        self.kept, self.left_out = dict.fromkeys(Kind, 0), dict.fromkeys(Kind, 0)
        self.failures = self.number = self.dumped = self.dumps = 0
        self.failing = self.holes = False
        self.prune_before: float | None = None

    def carry(self) -> bool:
        """Writes one batch of each kind. False when the store is away."""
        try:
            if self.store is None:
                with self._counted("open"):
                    self.store = self._open_store()
            self._ledger(self.store)
            self._rows(Kind.STEPS, self.store.append_steps)
            self._rows(Kind.EVENTS, self.store.append_events)
            self._snapshots(self.store)
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
            kept = self._attempt("ledger", lambda: store.append_ledger(self._name, self.number + 1, entries))
            if kept:
                self.number += len(entries)
                self.kept[Kind.LEDGER] += len(entries)
        self.holes |= not kept
        self._waiting.done(Kind.LEDGER, len(entries))

    def _dump(self, store: Store, dump: Dump) -> bool:
        """False where the one that stands includes more: another is wanted then, later."""
        seen = {**dump.seen, self._name: self.number} if self.number else dump.seen
        saved: list[bool] = []
        self._attempt("dump", lambda: saved.append(store.save_ledger(dump.content, seen, dump.wall)))
        if saved == [True]:
            self.dumped = self.number
        return saved == [True]

    def _attempt(self, operation: str, write: Callable[[], object]) -> bool:
        """False when the store refuses it for good. Raises StoreError when it is away."""
        try:
            with self._counted(operation):
                write()
        except Exception as error:
            if is_away(error):
                raise
            self._refuse(Kind.LEDGER, error)
            return False
        return True

    def _rows(self, kind: Kind, append: Callable[[Sequence[Any]], None]) -> None:
        if rows := self._waiting.first(kind):
            self._keep(kind, append, rows)
            self._waiting.done(kind, len(rows))

    def _keep(self, kind: Kind, append: Callable[[Sequence[Any]], None], rows: Sequence[Any]) -> None:
        def counted(some: Sequence[Any]) -> None:
            with self._counted(kind.value):
                append(some)

        self.kept[kind] += keep(counted, rows, partial(self._refuse, kind))

    def _snapshots(self, store: Store) -> None:
        """Makes those that are due, of what is kept."""
        for due in self._waiting.first(Kind.SNAPSHOTS):
            wanted: Wanted = due.wanted
            with self._counted("read"):
                steps = store.steps(wanted.since, wanted.until, wanted.most, run=wanted.run)
            try:
                row = wanted.make(steps)
            except Exception as error:  # a fault of ours costs this one
                self._refuse(Kind.SNAPSHOTS, error)
            else:
                self._keep(Kind.SNAPSHOTS, store.append_snapshots, [row])
            self._waiting.done(Kind.SNAPSHOTS, 1)

    def _prune(self, store: Store) -> None:
        before, self.prune_before = self.prune_before, None
        if before is not None:
            with self._counted("prune"):
                store.prune(before)

    def _refuse(self, kind: Kind, error: Exception) -> None:
        self.left_out[kind] += 1
        self._on_fault(error)
