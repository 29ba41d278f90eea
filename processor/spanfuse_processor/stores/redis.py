"""The store in Redis (`redis://...`): for the ledger that replicas share.

Rule 1: what has to hold together is one script, and a batch is one round trip: scripts are sent along.
Rule 2: a writer's entries are a stream whose ids are their numbers, so that a batch that is sent twice is
kept once. Rule 3: all keys are in one slot. The journal is kept here too where nothing better is at hand; it
takes memory, and `prune`, and is found by time alone.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from spanfuse_processor.breathing import pieces
from spanfuse_processor.choosing import chosen_events, chosen_steps, runs_of
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.entries import entry_of, line_of
from spanfuse_processor.redis_scripts import APPEND, PUT, SAVE
from spanfuse_processor.spending import spend_of
from spanfuse_processor.store import (
    FOR_EVER,
    FORGOTTEN_AFTER,
    LEAST_BETWEEN_DUMPS,
    MOST_ROWS,
    EventRow,
    LedgerGap,
    RowsRefused,
    RunRow,
    Saved,
    Seen,
    SnapshotRow,
    SpendRow,
    StepRow,
    StoreError,
    Written,
    check_groups,
)

PREFIX: Final = "{spanfuse}:"
STEPS, STEP_TIMES = PREFIX + "bill", PREFIX + "bill:times"  # as they were called at first
EVENTS, EVENT_TIMES = PREFIX + "events", PREFIX + "events:times"
SNAPSHOTS, SNAPSHOT_TIMES = PREFIX + "snapshots", PREFIX + "snapshots:times"
WRITERS, DUMP = PREFIX + "writers", PREFIX + "dump"
LOG: Final = PREFIX + "log:"
PATIENCE: Final = 5.0
"""Seconds to wait for a connection, and for an answer."""

CHUNK: Final = 1_000
"""Rows that one script is given: Redis does nothing else meanwhile."""


class RedisStore:
    """A database of a Redis server.

    Raises:
        StoreError: the URL cannot be understood; whether a server answers is only seen when it is used.
    """

    def __init__(self, url: str) -> None:
        with _told():
            # Typed by redis-py for texts, bytes and pipelines at once: here an answer is a text.
            self._redis: Any = redis.Redis.from_url(
                url,
                decode_responses=True,
                socket_timeout=PATIENCE,
                socket_connect_timeout=PATIENCE,
                retry=Retry(NoBackoff(), 0),
            )

    def append_steps(self, rows: Sequence[StepRow]) -> None:
        """Keeps rows that are new, and those of a higher revision in place of their older ones."""
        self._keep(
            STEPS,
            STEP_TIMES,
            [(f"{row.trace_id}:{row.span_id}", row.revision, row.ended, row) for row in rows],
        )

    def append_events(self, rows: Sequence[EventRow]) -> None:
        """Keeps events that are new."""
        self._keep(EVENTS, EVENT_TIMES, [(row.id, 0, row.at, row) for row in rows])

    def append_snapshots(self, rows: Sequence[SnapshotRow]) -> None:
        """Keeps snapshots that are new."""
        self._keep(SNAPSHOTS, SNAPSHOT_TIMES, [(row.id, 0, row.at, row) for row in rows])

    def append_ledger(self, writer: str, first: int, entries: Sequence[Entry]) -> None:
        """Keeps the entries of a writer that it had not yet."""
        with _told(), self._redis.pipeline(transaction=False) as batch:
            for start in range(0, len(entries), CHUNK):
                chunk = entries[start : start + CHUNK]
                wall = repr(max(entry.wall for entry in chunk))
                lines = map(line_of, chunk)
                batch.eval(APPEND, 2, LOG + writer, WRITERS, writer, wall, first + start, *lines)
            batch.execute()

    def read_ledger(self, seen: Seen, but: str = "") -> Sequence[Written]:
        """Entries beyond `seen`, each writer's in order."""
        with _told():
            starts = dict(self._behind(seen, but))
            with self._redis.pipeline(transaction=False) as batch:
                for writer, start in starts.items():
                    batch.xrange(LOG + writer, f"{start + 1}-0")
                logs = batch.execute()
        found: list[Written] = []
        for (writer, start), log in zip(starts.items(), logs, strict=True):
            read = [
                Written(writer, int(name.partition("-")[0]), entry_of(each["line"])) for name, each in log
            ]
            if not read or read[0].number != start + 1:
                raise LedgerGap(f"entries of {writer} after {start} are gone")
            found += read
        return found

    def save_ledger(self, dump: Mapping[str, Any], seen: Seen, wall: float) -> bool:
        """Puts a dump in place of the one before, if it includes as much."""
        texts = [json.dumps(dict(seen)), json.dumps(dump)]
        arguments: list[str | float] = [LOG, *texts, repr(wall), LEAST_BETWEEN_DUMPS, FORGOTTEN_AFTER]
        with _told():
            return bool(self._redis.eval(SAVE, 2, DUMP, WRITERS, *arguments))

    def load_ledger(self) -> Saved:
        """The newest dump."""
        with _told():
            content, seen = self._redis.hmget(DUMP, "content", "seen")
        return Saved(json.loads(content), json.loads(seen)) if content else Saved(None, {})

    def spend(self, by: Sequence[str], since: float, until: float) -> Sequence[SpendRow]:
        """What calls that ended in [since, until) cost; dearest first."""
        check_groups(by)
        with _told():
            return spend_of(self._steps(since, until), by)

    def events(
        self,
        since: float,
        until: float,
        kinds: Collection[str] = (),
        most: int = MOST_ROWS,
        *,
        run: str = "",
        agent: str = "",
        before_id: str = "",
    ) -> Sequence[EventRow]:
        """Events in [since, until), newest first."""
        with _told():
            rows = [EventRow(*json.loads(text)) for text in self._between(EVENTS, EVENT_TIMES, since, until)]
        before = self.event(before_id) if before_id else None
        return chosen_events(rows, kinds, most, run, agent, before_id, before)

    def event(self, name: str) -> EventRow | None:
        """The event with this id."""
        row = self._named(EVENTS, name)
        return EventRow(*row) if row else None

    def steps(
        self,
        since: float = 0.0,
        until: float = FOR_EVER,
        most: int = MOST_ROWS,
        *,
        run: str = "",
        trace_id: str = "",
    ) -> Sequence[StepRow]:
        """Steps that ended in [since, until), oldest first."""
        with _told():
            return chosen_steps(self._steps(since, until), most, run, trace_id)

    def runs(self, since: float, until: float, most: int = MOST_ROWS) -> Sequence[RunRow]:
        """Runs with steps that ended in [since, until), the latest first."""
        with _told():
            return runs_of(self._steps(since, until))[:most]

    def snapshot(self, name: str) -> SnapshotRow | None:
        """The snapshot that belongs to the event with this id."""
        row = self._named(SNAPSHOTS, name)
        return SnapshotRow(*row) if row else None

    def prune(self, before: float) -> int:
        """Lets go of steps, events and snapshots that are older."""
        tables = ((STEPS, STEP_TIMES), (EVENTS, EVENT_TIMES), (SNAPSHOTS, SNAPSHOT_TIMES))
        with _told():
            return sum(self._let_go(rows, times, before) for rows, times in tables)

    def close(self) -> None:
        """Closes the connections."""
        self._redis.close()

    def _steps(self, since: float, until: float) -> Iterator[StepRow]:
        return (StepRow(*json.loads(text)) for text in self._between(STEPS, STEP_TIMES, since, until))

    def _named(self, rows: str, name: str) -> Sequence[Any]:
        """The row with this id; an empty one where there is none."""
        with _told():
            text = self._redis.hget(rows, name)
        row: list[Any] = json.loads(text.partition(" ")[2]) if text else []
        return row

    def _let_go(self, rows: str, times: str, before: float) -> int:
        gone = 0
        while names := self._redis.zrange(times, "-inf", f"({before!r}", byscore=True, offset=0, num=CHUNK):
            with self._redis.pipeline() as batch:
                batch.hdel(rows, *names).zrem(times, *names).execute()
            gone += len(names)
        return gone

    def _behind(self, seen: Seen, but: str) -> Iterator[tuple[str, int]]:
        """Writers that have written beyond `seen`, and the last number before that."""
        for writer, text in sorted(self._redis.hgetall(WRITERS).items()):
            last, base, _ = text.split(" ")
            start = max(int(base), seen.get(writer, 0))
            if writer != but and int(last) > start:
                yield writer, start

    def _keep(self, rows: str, times: str, kept: Sequence[tuple[str, int, float, Sequence[object]]]) -> None:
        with _told(), self._redis.pipeline(transaction=False) as batch:
            for some in pieces(kept):
                arguments = [(name, revision, repr(at), json.dumps(row)) for name, revision, at, row in some]
                batch.eval(PUT, 2, rows, times, *chain(*arguments))
                batch.execute()

    def _between(self, rows: str, times: str, since: float, until: float) -> Iterator[str]:
        """The rows of a span of time, read in pieces."""
        at, least = 0, f"{since!r}"
        while names := self._redis.zrange(times, least, f"({until!r}", byscore=True, offset=at, num=CHUNK):
            for text in self._redis.hmget(rows, names):
                if text:  # pruned meanwhile
                    yield text.partition(" ")[2]
            at += len(names)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Failures in the words of the contract."""
    try:
        yield
    except (redis.DataError, UnicodeError, OverflowError) as error:
        raise RowsRefused(f"redis: {error}") from error
    except (redis.RedisError, OSError, ValueError) as error:
        raise StoreError(f"redis: {error}") from error
