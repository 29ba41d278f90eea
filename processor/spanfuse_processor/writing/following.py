"""Reading along: what other replicas write into the ledger, read by a thread of its own and handed on.

Rule 1: whoever counts decides from memory; what others spent is known a moment later, never waited for.
Rule 2: while the store is away nothing is read, and nothing is lost: it is read afterwards. Rule 3: whoever
was away for so long that entries are gone has to read the whole ledger anew: that is told, and the end of it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Final

from spanfuse_processor.store import LedgerGap, Seen, Store, StoreError, Written
from spanfuse_processor.writing.keeping import in_order, seen_after

EVERY: Final = 0.5
"""Seconds between two looks."""


class Follower:
    """Follows one ledger.

    Args:
        open_store: opens the store; called on the follower's thread, and anew after each failure.
        own: the name of the writer whose entries are not read.
        seen: what is included already.
        deliver: is handed what others wrote, in order, on the follower's thread.
        on_gap: is called there when entries were gone before they were read; no more comes then.
        on_fault: is told of each failure, there too.
        on_back: is told there when a look succeeds after one that failed.

    Attributes:
        read: entries that were handed on.
        failures: attempts that failed.
    """

    def __init__(
        self,
        open_store: Callable[[], Store],
        own: str,
        seen: Seen,
        deliver: Callable[[Sequence[Written]], object],
        on_gap: Callable[[], object],
        on_fault: Callable[[BaseException], object],
        every: float = EVERY,
        on_back: Callable[[], object] = lambda: None,
    ) -> None:
        self._open_store = open_store
        self._own = own
        self._seen = dict(seen)
        self._deliver = deliver
        self._on_gap = on_gap
        self._on_fault = on_fault
        self._on_back = on_back
        self._every = every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spanfuse-follower", daemon=True)
        self.read = self.failures = 0

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Ends. Whether it has, within `timeout` seconds."""
        self._over.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        store: Store | None = None
        failing = False
        while not self._over.is_set():
            try:
                store = store or self._open_store()
                self._look(store)
                if failing:
                    failing = False
                    self._on_back()
            except LedgerGap as gap:
                self._over.set()
                self._on_fault(gap)
                self._on_gap()
            except Exception as error:
                self.failures += 1
                failing = True
                self._on_fault(error)
                _closed(store)
                store = None
            self._over.wait(self._every)
        _closed(store)

    def _look(self, store: Store) -> None:
        tail = in_order(store.read_ledger(self._seen, but=self._own))
        if tail:
            self._deliver(tail)
            self._seen = seen_after(self._seen, tail)
            self.read += len(tail)


def _closed(store: Store | None) -> None:
    if store is not None:
        with contextlib.suppress(StoreError):
            store.close()
