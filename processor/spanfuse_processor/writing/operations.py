"""What stores were asked, how that went, and how long it took: counts for whoever shows them.

Rule 1: any thread counts, and any thread reads; neither waits longer than a few additions take. Rule 2: what
is read is a copy. It does not know what a store was asked for, nor who shows it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from spanfuse_processor.store import RowsRefused

BUCKETS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
"""Upper bounds of durations, in seconds; behind them there is one more for all that took longer."""
OUTCOMES: Final = ("ok", "refused", "failed")
"""It was done; the store cannot hold what it was given; it is away, or something else went wrong."""


class Durations(NamedTuple):
    """How long one operation took: how often up to each of BUCKETS and beyond (each time is in one of them
    only), and all of it in seconds."""

    counts: tuple[int, ...]
    seconds: float


class OperationStats(NamedTuple):
    """What became of operations.

    Attributes:
        counts: how often, by store (the scheme of its URL), operation and one of OUTCOMES.
        durations: how long, by store and operation, however it went.
    """

    counts: Mapping[tuple[str, str, str], int]
    durations: Mapping[tuple[str, str], Durations]


class Operations:
    """Counts what is done inside of `counted`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str, str], int] = {}
        self._buckets: dict[tuple[str, str], list[int]] = {}
        self._seconds: dict[tuple[str, str], float] = {}

    @contextlib.contextmanager
    def counted(self, store: str, operation: str) -> Iterator[None]:
        """Counts one operation; what it raises goes through."""
        began, outcome = time.perf_counter(), "failed"
        try:
            yield
            outcome = "ok"
        except RowsRefused:
            outcome = "refused"
            raise
        finally:
            self._add(store, operation, outcome, time.perf_counter() - began)

    def expect(self, store: str, *operations: str) -> None:
        """Has these be there from the start, with zeros."""
        with self._lock:
            for operation in operations:
                for outcome in OUTCOMES:
                    self._counts.setdefault((store, operation, outcome), 0)
                self._begin((store, operation))

    def stats(self) -> OperationStats:
        """What was counted so far."""
        with self._lock:
            durations = {
                key: Durations(tuple(counts), self._seconds[key]) for key, counts in self._buckets.items()
            }
            return OperationStats(dict(self._counts), durations)

    def _add(self, store: str, operation: str, outcome: str, seconds: float) -> None:
        named, key = (store, operation, outcome), (store, operation)
        with self._lock:
            self._counts[named] = self._counts.get(named, 0) + 1
            self._begin(key)[bisect_left(BUCKETS, seconds)] += 1
            self._seconds[key] += seconds

    def _begin(self, key: tuple[str, str]) -> list[int]:
        self._seconds.setdefault(key, 0.0)
        return self._buckets.setdefault(key, [0] * (len(BUCKETS) + 1))
