"""The price book of the application: never makes a call wait for a price.

Rule 1: a price that is not known yet is PENDING, and a thread of its own looks it up (the data takes a
sixth of a second to load). Rule 2: each (provider, model, day) is looked up once. Rule 3: any thread may
ask. It does not know where prices come from: it stands before another book.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

from spanfuse.guard import fault
from spanfuse_processor.engine.genai_book import GenaiPrices
from spanfuse_processor.engine.pricing import NS_PER_DAY, PENDING, Pending, PriceBook, Rates

Key = tuple[str, str, int]

KNOWN: Final = 4_096
"""How many prices are kept; then all are looked up anew."""
WARM_UP: Final[Key] = ("openai", "gpt-4o", 20_000)
"""Some price of long ago: looking it up loads the data."""


def day_of(at_ns: int) -> int:
    """The day of an instant, counted in days since the epoch."""
    return at_ns // NS_PER_DAY


class ThreadedPrices:
    """Answers from memory; `make` makes the book that is slow, on the thread that asks it."""

    def __init__(self, make: Callable[[], PriceBook] = GenaiPrices) -> None:
        self._make = make
        self._known: dict[Key, Rates | None] = {}
        self._asked: set[Key] = set()
        self._queue: SimpleQueue[Key] = SimpleQueue()
        self._lock = threading.RLock()  # the collector may end a call in the middle of anything
        self._thread: threading.Thread | None = None

    def rates(self, provider: str, model: str, day: int) -> Rates | Pending | None:
        """The rates, None when no such model is known, or PENDING: ask again."""
        key = (provider, model, day)
        try:
            return self._known[key]
        except KeyError:
            self._ask(key)
            return PENDING

    def warm_up(self) -> None:
        """Has the data loaded, behind."""
        self._ask(WARM_UP)

    def _ask(self, key: Key) -> None:
        with self._lock:
            if key in self._asked or key in self._known:
                return
            self._asked.add(key)
            self._queue.put(key)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look_up, name="spanfuse-prices", daemon=True)
                self._thread.start()

    def _look_up(self) -> None:
        book = self._make()
        while True:
            key = self._queue.get()
            try:
                answer = book.rates(*key)
            except Exception as error:
                fault("prices", error)
                answer = None
            if not isinstance(answer, Pending):
                self._keep(key, answer)

    def _keep(self, key: Key, answer: Rates | None) -> None:
        with self._lock:
            if len(self._known) >= KNOWN:
                self._known = {}
            self._known[key] = answer
            self._asked.discard(key)


class _Process:
    book: ThreadedPrices | None = None


_process = _Process()


def shared() -> ThreadedPrices:
    """The book of this process, so that each price is looked up once for all parts."""
    if _process.book is None:
        _process.book = ThreadedPrices()
    return _process.book


def forget_shared() -> None:
    """In the child of a fork, whose copy of the book has lost its thread."""
    _process.book = None
