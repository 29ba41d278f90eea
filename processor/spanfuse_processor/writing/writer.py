"""Writing behind: a thread of its own takes what is to be kept to the store.

Rule 1: whoever hands something over never waits for a disk or a database, and hears of no failure: failures
are counted, and told to `on_fault`. Rule 2: what is handed over is gathered for an instant and tried until it
is kept, with back-off. Rule 3: a dump of the ledger is written after every entry that was handed over before
it, and heals what was dropped. It does not know which store it is, nor what rows mean.

After a fork the child starts over: what the parent was handed is the parent's to write.
"""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import socket
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.store import EventRow, Seen, StepRow, Store
from spanfuse_processor.wire.backoff import Backoff, Patience
from spanfuse_processor.writing.carrier import Carrier
from spanfuse_processor.writing.operations import Operations
from spanfuse_processor.writing.waiting import Dump, Kind, Waiting, Wanted

MOST_WAITING: Final = 100_000
"""Rows of all kinds."""

EVERY: Final = 0.2
"""Seconds for which rows are gathered: what a crash costs is what was handed over in them."""

ENTRIES_TO_DUMP: Final = 10_000
"""Entries after which the ledger is better read from a new dump."""

BETWEEN_DUMPS: Final = 180.0
"""Seconds at least: a dump is made where decisions are."""

LONGEST_BETWEEN_DUMPS: Final = 600.0
"""Seconds after which there is a new dump of what changed: a store that lost everything has it back then."""

PATIENCE: Final = Patience(first=0.1, quick=1.0, longest=10.0)


class WriterStats(NamedTuple):
    """What became of what was handed over.

    Attributes:
        waiting: rows that are not kept yet.
        written: rows that are.
        dropped: rows that came when too many waited, or were left at the end.
        refused: rows that no table could hold.
        failures: attempts that failed.
        failing: the last attempt failed.
    """

    waiting: int = 0
    written: int = 0
    dropped: int = 0
    refused: int = 0
    failures: int = 0
    failing: bool = False


class KindStats(NamedTuple):
    """What became of the rows of one kind, as in `WriterStats`."""

    waiting: int = 0
    written: int = 0
    dropped: int = 0
    refused: int = 0


class Writer:
    """Writes behind, to one store. Every method may be called from any thread, and none raises.

    Args:
        open_store: opens the store; called on the writer's thread, and anew after each failure.
        monotonic: the clock that dumps and back-off are measured by.
        on_fault: is told of each failure, on the writer's thread.
        on_back: is told there when an attempt succeeds after one that failed.
        most: rows that may wait.
        every: seconds for which rows are gathered.
        operations: counts what the store is asked, under `label`.

    Attributes:
        name: under which entries are written; another one in each life of a process.
    """

    name: str

    def __init__(
        self,
        open_store: Callable[[], Store],
        monotonic: Callable[[], float],
        on_fault: Callable[[BaseException], object],
        *,
        on_back: Callable[[], object] = lambda: None,
        most: int = MOST_WAITING,
        every: float = EVERY,
        operations: Operations | None = None,
        label: str = "",
    ) -> None:
        self._open_store = open_store
        self._monotonic = monotonic
        self._on_fault = on_fault
        self._on_back = on_back
        self._most = most
        self._every = every
        self._counting = (operations, label)
        self._parents: list[Store | None] = []
        self._begin()
        _WRITERS.add(self)

    def steps(self, rows: Sequence[StepRow]) -> None:
        """Hands over steps."""
        self._put(Kind.STEPS, rows)

    def events(self, rows: Sequence[EventRow]) -> None:
        """Hands over events."""
        self._put(Kind.EVENTS, rows)

    def snapshots(self, wanted: Sequence[Wanted]) -> None:
        """Has snapshots made of what is kept, once all steps are that were handed over so far."""
        if wanted:
            self._waiting.put_wanted(wanted)
            self._wake()

    def ledger(self, entries: Sequence[Entry]) -> None:
        """Hands over what changed in the ledger, oldest first."""
        if not self._put(Kind.LEDGER, entries):
            self._carrier.holes = True

    def dump(self, content: Mapping[str, Any], seen: Seen, wall: float) -> None:
        """Hands over a dump of the ledger: plain data that nobody changes any more.

        It includes all entries handed over so far; `seen` says which of other writers' it includes.
        """
        self._dump_asked = self._monotonic()
        self._dumps += 1
        self._carrier.holes = False
        self._waiting.put_dump(Dump(content, dict(seen), wall))
        self._wake()

    def prune(self, before: float) -> None:
        """Has what is older let go of, but for the ledger; tried once. Now and then, an hour apart."""
        self._carrier.prune_before = before
        self._wake()

    @property
    def wants_dump(self) -> bool:
        """Whether a dump of the ledger is due. Every few minutes at most."""
        carrier, since = self._carrier, self._monotonic() - self._dump_asked
        fresh = carrier.number - carrier.dumped
        due = carrier.holes or fresh >= ENTRIES_TO_DUMP or (fresh and since >= LONGEST_BETWEEN_DUMPS)
        return bool(due) and since >= BETWEEN_DUMPS and carrier.dumps == self._dumps

    def stats(self) -> WriterStats:
        """What became of what was handed over."""
        its = self._carrier
        kept, left_out = sum(its.kept.values()), sum(its.left_out.values())
        return WriterStats(
            len(self._waiting), kept, self._waiting.dropped, left_out, its.failures, its.failing
        )

    def by_kind(self) -> Mapping[str, KindStats]:
        """The same by kind: ledger, steps, events, snapshots."""
        its, waiting = self._carrier, self._waiting
        return {
            kind.value: KindStats(waiting.of(kind), its.kept[kind], waiting.lost[kind], its.left_out[kind])
            for kind in Kind
        }

    def flush(self, timeout: float) -> bool:
        """Writes what waits, without gathering. Whether all of it was kept within `timeout` seconds."""
        self._hurry.set()
        self._work.set()
        return self._waiting.until_empty(timeout)

    def flush_ledger(self, timeout: float) -> bool:
        """Writes what changed in the ledger. Whether all of it was kept within `timeout` seconds."""
        self._hurry.set()
        self._work.set()
        return self._waiting.until_empty(timeout, (Kind.LEDGER,))

    def close(self, timeout: float) -> bool:
        """Writes what waits and ends. What is not kept within `timeout` seconds is dropped and counted."""
        self._waiting.close()
        self._closing = True
        if self._thread is None:  # none has started, or none can any more: what waits is written from here
            while len(self._waiting) and self._carrier.carry():
                pass
            self._carrier.leave()
        done = self.flush(timeout)
        self._waiting.give_up()
        self._carrier.prune_before = None
        self._hurry.set()
        if done and self._thread is not None:
            self._thread.join(timeout)
        return done

    def _begin(self) -> None:
        """Starts over with nothing."""
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._waiting = Waiting(self._most)
        self._carrier = Carrier(
            self.name, self._open_store, self._waiting, self._on_fault, self._on_back, *self._counting
        )
        self._starting = threading.Lock()
        self._work, self._hurry = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._closing = False
        self._dumps = 0
        self._dump_asked = self._monotonic()

    def begin_as_child(self) -> None:
        """After a fork, in the child. The parent's files and connections are neither used nor closed here."""
        self._parents.append(self._carrier.store)
        self._begin()

    def _put(self, kind: Kind, rows: Sequence[Any]) -> bool:
        if not rows:
            return True
        taken = self._waiting.put(kind, rows)
        self._wake()
        return taken

    def _wake(self) -> None:
        if self._thread is None:
            with self._starting, contextlib.suppress(RuntimeError):  # none starts any more while Python ends
                if self._thread is None:
                    thread = threading.Thread(target=self._run, name="spanfuse-writer", daemon=True)
                    thread.start()
                    self._thread = thread
        if not self._work.is_set():
            self._work.set()

    def _run(self) -> None:
        carrier, waiting = self._carrier, self._waiting
        while not (self._closing and not len(waiting)):
            self._work.wait()
            self._hurry.wait(self._every)
            self._work.clear()
            self._hurry.clear()
            backoff = Backoff(PATIENCE)
            while len(waiting) or carrier.prune_before is not None:
                if carrier.carry():
                    backoff.reset()
                    continue
                self._hurry.wait(backoff.delay(self._monotonic(), random.random()))
                self._hurry.clear()
        carrier.leave()


_WRITERS: Final[weakref.WeakSet[Writer]] = weakref.WeakSet()


def _in_child() -> None:
    for writer in list(_WRITERS):
        writer.begin_as_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
