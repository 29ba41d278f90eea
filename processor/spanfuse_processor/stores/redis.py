"""The store in Redis (`redis://...`): for the ledger that replicas share.

Rule 1: what has to hold together is one script, and a batch is one round trip: scripts are sent along.
Rule 2: a writer's entries are a stream whose ids are their numbers, so that a batch that is sent twice is
kept once. Rule 3: all keys are in one slot. The bill is kept here too where nothing better is at hand; it
takes memory, and `prune`.
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

from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.entries import entry_of, line_of
from spanfuse_processor.spending import spend_of
from spanfuse_processor.store import (
    FORGOTTEN_AFTER,
    LEAST_BETWEEN_DUMPS,
    MOST_ROWS,
    BillRow,
    EventRow,
    LedgerGap,
    RowsRefused,
    Saved,
    Seen,
    SpendRow,
    StoreError,
    Written,
    check_groups,
)

PREFIX: Final = "{spanfuse}:"
BILL, BILL_TIMES = PREFIX + "bill", PREFIX + "bill:times"
EVENTS, EVENT_TIMES = PREFIX + "events", PREFIX + "events:times"
WRITERS, DUMP = PREFIX + "writers", PREFIX + "dump"
LOG: Final = PREFIX + "log:"
PATIENCE: Final = 5.0
"""Seconds to wait for a connection, and for an answer."""

CHUNK: Final = 1_000
"""Rows that one script is given: Redis does nothing else meanwhile."""

# KEYS: rows, times. ARGV: id, revision, time, row; and so on. A row is kept as "REVISION row".
_PUT: Final = """
for i = 1, #ARGV, 4 do
    local known = redis.call('HGET', KEYS[1], ARGV[i])
    if not known or tonumber(string.match(known, '^%d+')) < tonumber(ARGV[i + 1]) then
        redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1] .. ' ' .. ARGV[i + 3])
        redis.call('ZADD', KEYS[2], ARGV[i + 2], ARGV[i])
    end
end
"""

# KEYS: the writer's log, writers. ARGV: writer, wall, number of the first, lines.
_LOG: Final = """
local known = redis.call('HGET', KEYS[2], ARGV[1])
local number = tonumber(ARGV[3])
local last, base, wall = number - 1, number - 1, '0'
if known then last, base, wall = string.match(known, '^(%d+) (%d+) (.*)$') end
last = tonumber(last)
for i = 4, #ARGV do
    if number > last then
        redis.call('XADD', KEYS[1], string.format('%d-0', number), 'line', ARGV[i])
        last = number
    end
    number = number + 1
end
if tonumber(ARGV[2]) > tonumber(wall) then wall = ARGV[2] end
redis.call('HSET', KEYS[2], ARGV[1], string.format('%d %d ', last, base) .. wall)
"""

# KEYS: dump, writers. ARGV: prefix of logs, seen, dump, wall, least seconds, seconds until forgotten.
_SAVE: Final = """
local seen = cjson.decode(ARGV[2])
local now = tonumber(ARGV[4])
local before = redis.call('HMGET', KEYS[1], 'seen', 'old_wall', 'old_seen')
for writer, number in pairs(cjson.decode(before[1] or '{}')) do
    if (seen[writer] or 0) < number then return 0 end
end
local kept = {}
local writers = redis.call('HGETALL', KEYS[2])
for i = 1, #writers, 2 do
    local writer = writers[i]
    local last, wall = string.match(writers[i + 1], '^(%d+) %d+ (.*)$')
    local number = seen[writer] or 0
    if tonumber(wall) < now - tonumber(ARGV[6]) and number >= tonumber(last) then
        redis.call('DEL', ARGV[1] .. writer)
        redis.call('HDEL', KEYS[2], writer)
    elseif number > 0 then
        kept[#kept + 1] = cjson.encode(writer) .. string.format(':%d', number)
    end
end
local text = '{' .. table.concat(kept, ',') .. '}'
local old_wall, old_seen = before[2] or ARGV[4], before[3] or text
if now - tonumber(old_wall) >= tonumber(ARGV[5]) then
    for writer, number in pairs(cjson.decode(old_seen)) do
        redis.call('XTRIM', ARGV[1] .. writer, 'MINID', string.format('%d-0', number + 1))
    end
    old_wall, old_seen = ARGV[4], text
end
redis.call('HSET', KEYS[1], 'seen', text, 'content', ARGV[3], 'old_wall', old_wall, 'old_seen', old_seen)
return 1
"""


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

    def append_bill(self, rows: Sequence[BillRow]) -> None:
        """Keeps rows that are new, and those of a higher revision in place of their older ones."""
        self._keep(
            BILL,
            BILL_TIMES,
            [(f"{row.trace_id}:{row.span_id}", row.revision, row.ended, row) for row in rows],
        )

    def append_events(self, rows: Sequence[EventRow]) -> None:
        """Keeps events that are new."""
        self._keep(EVENTS, EVENT_TIMES, [(row.id, 0, row.at, row) for row in rows])

    def append_ledger(self, writer: str, first: int, entries: Sequence[Entry]) -> None:
        """Keeps the entries of a writer that it had not yet."""
        with _told(), self._redis.pipeline(transaction=False) as batch:
            for start in range(0, len(entries), CHUNK):
                chunk = entries[start : start + CHUNK]
                wall = repr(max(entry.wall for entry in chunk))
                lines = map(line_of, chunk)
                batch.eval(_LOG, 2, LOG + writer, WRITERS, writer, wall, first + start, *lines)
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
            return bool(self._redis.eval(_SAVE, 2, DUMP, WRITERS, *arguments))

    def load_ledger(self) -> Saved:
        """The newest dump."""
        with _told():
            content, seen = self._redis.hmget(DUMP, "content", "seen")
        return Saved(json.loads(content), json.loads(seen)) if content else Saved(None, {})

    def spend(self, by: Sequence[str], since: float, until: float) -> Sequence[SpendRow]:
        """What calls that ended in [since, until) cost; dearest first."""
        check_groups(by)
        with _told():
            return spend_of(
                (BillRow(*json.loads(text)) for text in self._between(BILL, BILL_TIMES, since, until)), by
            )

    def events(
        self, since: float, until: float, kinds: Collection[str] = (), most: int = MOST_ROWS
    ) -> Sequence[EventRow]:
        """Events in [since, until), newest first."""
        with _told():
            rows = [EventRow(*json.loads(text)) for text in self._between(EVENTS, EVENT_TIMES, since, until)]
        chosen = [row for row in rows if not kinds or row.kind in kinds]
        return sorted(chosen, key=lambda row: (-row.at, row.id))[:most]

    def event(self, name: str) -> EventRow | None:
        """The event with this id."""
        with _told():
            text = self._redis.hget(EVENTS, name)
        return EventRow(*json.loads(text.partition(" ")[2])) if text else None

    def prune(self, before: float) -> int:
        """Lets go of bill rows and events that are older."""
        gone = 0
        with _told():
            for rows, times in ((BILL, BILL_TIMES), (EVENTS, EVENT_TIMES)):
                while names := self._redis.zrange(
                    times, "-inf", f"({before!r}", byscore=True, offset=0, num=CHUNK
                ):
                    with self._redis.pipeline() as batch:
                        batch.hdel(rows, *names).zrem(times, *names).execute()
                    gone += len(names)
        return gone

    def close(self) -> None:
        """Closes the connections."""
        self._redis.close()

    def _behind(self, seen: Seen, but: str) -> Iterator[tuple[str, int]]:
        """Writers that have written beyond `seen`, and the last number before that."""
        for writer, text in sorted(self._redis.hgetall(WRITERS).items()):
            last, base, _ = text.split(" ")
            start = max(int(base), seen.get(writer, 0))
            if writer != but and int(last) > start:
                yield writer, start

    def _keep(self, rows: str, times: str, kept: Sequence[tuple[str, int, float, Sequence[object]]]) -> None:
        with _told(), self._redis.pipeline(transaction=False) as batch:
            for start in range(0, len(kept), CHUNK):
                arguments = [
                    (name, revision, repr(at), json.dumps(row))
                    for name, revision, at, row in kept[start : start + CHUNK]
                ]
                batch.eval(_PUT, 2, rows, times, *chain(*arguments))
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
