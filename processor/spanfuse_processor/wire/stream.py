"""One stream of a watch, from its opening to its end: what its events mean for the replica.

Rule 1: a snapshot counts when all of its parts are here, and a stream that ends before leaves the replica
as it was. Rule 2: what cannot be read, or does not fit, breaks the stream; the replica stands where it stood,
so the next stream resumes from there. Rule 3: any event that can be read is a sign of life. It has no clock,
and does not know what comes after it.
"""

from __future__ import annotations

from collections.abc import Iterable

from spanfuse_processor.engine.nouns import Instant
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import directives
from spanfuse_processor.wire.messages import Cursor, decode_cursor
from spanfuse_processor.wire.plain import parsed, seconds
from spanfuse_processor.wire.replica import Changes, Replica, Stated

_SHORTEST, _LONGEST = 0.01, 60.0  # seconds between frames that we let a server promise


class Stream:
    """Reads the events of one stream into `replica`.

    Attributes:
        heard_at: when the last event came, at first when the stream was opened.
        first_at: when the first event came.
        interval: seconds within which the next event is due.
        go_away: the server asked us to come again, after this many seconds.
        problem: why the stream is broken, empty while it is not.
    """

    def __init__(self, replica: Replica, interval: float, now: Instant) -> None:
        self._replica = replica
        self._parts: list[Stated] = []
        self._parts_at: Cursor | None = None
        self.heard_at = now
        self.first_at: Instant | None = None
        self.interval = interval
        self.go_away: float | None = None
        self.problem = ""

    @property
    def over(self) -> bool:
        """Nothing more is to be had from this stream."""
        return bool(self.problem) or self.go_away is not None

    def receive(self, event: bytes | pb.WatchEvent, now: Instant) -> Changes:
        """One event; what changed by it."""
        if self.over:
            return Changes()
        message = parsed(pb.WatchEvent, event) if isinstance(event, bytes) else event
        cursor = decode_cursor(message.cursor) if message else None
        if message is None or cursor is None:
            return self._broken("an event that cannot be read")
        self.heard_at = now
        if self.first_at is None:
            self.first_at = now
        return self._read(message, cursor, now)

    def _read(self, message: pb.WatchEvent, cursor: Cursor, now: Instant) -> Changes:
        match message.WhichOneof("event"):
            case "snapshot":
                return self._snapshot(message.snapshot, cursor, now)
            case "delta":
                return self._delta(message.delta, cursor, now)
            case "bookmark":
                return self._bookmark(message.bookmark, cursor, now)
            case "go_away":
                self.go_away = seconds(message.go_away.retry_after)
        return Changes()  # also to a kind of event that a later version has

    def _snapshot(self, part: pb.Snapshot, cursor: Cursor, now: Instant) -> Changes:
        if cursor != self._parts_at:
            self._parts, self._parts_at = [], cursor
        self._parts.extend(read(part.directives))
        if part.more:
            return Changes()
        whole, self._parts, self._parts_at = self._parts, [], None
        return self._replica.replace(cursor, whole, now)

    def _delta(self, delta: pb.Delta, cursor: Cursor, now: Instant) -> Changes:
        if not self._follows(cursor):
            return self._broken("a delta that does not follow what was sent before")
        removals = [directives.decode_removal(each) for each in delta.removals]
        return self._replica.apply(cursor, read(delta.upserts), removals, now)

    def _bookmark(self, mark: pb.Bookmark, cursor: Cursor, now: Instant) -> Changes:
        if not self._follows(cursor):
            return self._broken("a bookmark that does not follow what was sent before")
        promised = seconds(mark.next_within)
        if promised:
            self.interval = min(max(promised, _SHORTEST), _LONGEST)
        self._replica.expire(now)
        return self._replica.apply(cursor, (), (), now)

    def _follows(self, cursor: Cursor) -> bool:
        """Whether changes up to `cursor` can be added to what is here."""
        ours = self._replica.cursor
        return ours is not None and ours.epoch == cursor.epoch and self._parts_at is None

    def _broken(self, problem: str) -> Changes:
        self.problem = problem
        return Changes()


def read(messages: Iterable[pb.Directive]) -> list[Stated]:
    """The directives of a message, or why each is refused."""
    return [directives.decode(each) for each in messages]
