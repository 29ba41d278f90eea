"""Stores that misbehave, and a clock that is set by hand."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.store import EventRow, RowsRefused, Seen, StepRow, Store, StoreError
from spanfuse_processor.stores.memory import MemoryStore


class HandClock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Faulty(MemoryStore):
    """A store that is away while `away`, hangs while `gate` is closed, and refuses rows called "bad".

    `forgetful`: so many times it keeps what it was given and says that it did not.
    """

    def __init__(self) -> None:
        super().__init__()
        self.away = False
        self.forgetful = 0
        self.opened = 0
        self.gate = threading.Event()
        self.gate.set()

    def open(self) -> Store:
        """As `open_store` of a writer."""
        self.opened += 1
        if self.away:
            raise StoreError("nobody there")
        return self

    def append_steps(self, rows: Sequence[StepRow]) -> None:
        self._check()
        if any(row.feature == "bad" or "\x00" in row.feature for row in rows):
            raise RowsRefused("bad")
        super().append_steps(rows)
        self._forget()

    def append_events(self, rows: Sequence[EventRow]) -> None:
        self._check()
        super().append_events(rows)

    def append_ledger(self, writer: str, first: int, entries: Sequence[Entry]) -> None:
        self._check()
        super().append_ledger(writer, first, entries)
        self._forget()

    def save_ledger(self, dump: Mapping[str, Any], seen: Seen, wall: float) -> bool:
        self._check()
        return super().save_ledger(dump, seen, wall)

    def _check(self) -> None:
        assert self.gate.wait(10)
        if self.away:
            raise StoreError("away")

    def _forget(self) -> None:
        if self.forgetful:
            self.forgetful -= 1
            raise StoreError("no answer came")
