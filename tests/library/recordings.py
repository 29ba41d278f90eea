"""Hosts that record into a file, for tests of what is recorded."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.library.examples import failed_tool

from spanfuse.board import Board
from spanfuse.hosts.embedded import EmbeddedHost
from spanfuse.settings import Settings
from spanfuse_processor.engine import NoPrices, Policy
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.rows import EventRow
from spanfuse_processor.store import FOR_EVER, Store
from spanfuse_processor.storing import open_store

SOON = 10.0
RUN = BreakerKey(Level.RUN, "r")


class Recording:
    """A host that records."""

    made: list[Recording] = []

    def __init__(self, journal: object, **policy: Any) -> None:
        self.board = Board()
        settings = Settings(policy=Policy(**policy), journal=str(journal), service="shop", instance="i-1")
        self.host = EmbeddedHost(settings, self.board, NoPrices())
        self.host.start()
        self.made.append(self)

    def loop(self, calls: int = 8) -> None:
        """Fails in the same way again and again, until it is stopped."""
        for _ in range(calls):
            span = failed_tool()
            self.board.ended(span.span_id, self.board.clock())
            self.host.span_ended(span)

    def stop(self) -> float:
        """Ends; how long that took."""
        began = time.monotonic()
        self.host.stop()
        return time.monotonic() - began


def kept(file: Path) -> Store:
    return open_store(f"sqlite:{file}")


def events(file: Path, *kinds: str) -> list[EventRow]:
    store = kept(file)
    try:
        return list(reversed(store.events(0.0, FOR_EVER, kinds)))
    finally:
        store.close()
