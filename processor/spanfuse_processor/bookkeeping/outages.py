"""Stores that cannot be used: one line when that begins, one when it is over.

Rule 1: an outage of a store is no fault of ours: there is no traceback, and it is no internal fault. Rule 2:
a store is away from the first failure of anybody who uses it until all who failed have succeeded. Rule 3: one
that comes and goes is told of once a minute. Rule 4: no password is written. Any thread may call.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from spanfuse_processor.storing import reason, shown
from spanfuse_processor.telemetry import log

QUIET: Final = 60.0
"""Seconds between two lines about the same store."""


@dataclass(slots=True)
class _Standing:
    """How one store is. `failing` are those who failed last time, `said` whether a line tells of it."""

    failing: set[str] = field(default_factory=set)
    since: float = 0.0
    said: bool = False
    told: float = float("-inf")
    refused: int = 0
    told_refused: float = float("-inf")


class Outages:
    """Tells of outages, by the URL of the store. `now` is the clock that they are measured by."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._stores: dict[str, _Standing] = {}
        self._lock = threading.Lock()

    def failed(self, url: str, who: str, error: BaseException, waiting: int) -> None:
        """`who` could not use the store; so many rows wait for it."""
        now = self._now()
        with self._lock:
            store = self._stores.setdefault(url, _Standing())
            if not store.failing:
                store.since, store.said = now, False
            store.failing.add(who)
            if store.said or now - store.told < QUIET:
                return
            store.said, store.told = True, now
        log.say(
            logging.WARNING,
            "a store cannot be used: decisions go on, what is to be kept waits in memory",
            store=shown(url),
            reason=reason(error, url),
            waiting=waiting,
        )

    def succeeded(self, url: str, who: str, waiting: int, dropped: int) -> None:
        """`who` could use it again, which failed before."""
        with self._lock:
            store = self._stores.get(url)
            if store is None or who not in store.failing:
                return
            store.failing.discard(who)
            if store.failing or not store.said:
                return
            seconds = round(self._now() - store.since, 1)
        log.say(
            logging.WARNING,
            "the store is back: what waits is being written",
            store=shown(url),
            seconds=seconds,
            waiting=waiting,
            dropped=dropped,
        )

    def refused(self, url: str, error: BaseException) -> None:
        """The store cannot hold a row: it is left out."""
        now = self._now()
        with self._lock:
            store = self._stores.setdefault(url, _Standing())
            store.refused += 1
            if now - store.told_refused < QUIET:
                return
            store.told_refused, count = now, store.refused
        said = {"store": shown(url), "reason": reason(error, url), "refused": count}
        log.say(logging.WARNING, "a store cannot hold a row: it is left out", **said)

    def gap(self, url: str) -> None:
        """Something of the ledger was let go of before it was read."""
        sentence = "what others wrote into the ledger was gone before it was read: it is read anew"
        log.say(logging.WARNING, sentence, store=shown(url))
