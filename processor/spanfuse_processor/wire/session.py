"""The client's side of a watch: when to open a stream, when it is dead, when to try again.

Rule 1: every end of a stream leads to another try, for ever; polls go on beside the tries until the
first event of a stream. Rule 2: silence is an answer: three events missed in a row and the stream is cut.
Rule 3: nothing that a server sends raises. Time and randomness are arguments; sockets, threads and the
board are its owner's.
"""

from __future__ import annotations

from enum import StrEnum

from spanfuse_processor.engine.nouns import Instant
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.backoff import Backoff, Patience
from spanfuse_processor.wire.messages import Cursor, decode_cursor
from spanfuse_processor.wire.plain import parsed
from spanfuse_processor.wire.replica import Changes, Replica
from spanfuse_processor.wire.stream import Stream, read


class LinkState(StrEnum):
    """Whether anyone tells us what to obey."""

    CONNECTING = "connecting"  # never connected yet
    CONNECTED = "connected"
    LOST = "lost"  # was connected; what is held still holds


class Step(StrEnum):
    """What the owner of a session must do now."""

    WATCH = "watch"  # open a stream from `resume`
    LIST = "list"  # ask for a list, beside; one at a time
    CUT = "cut"  # close the stream, then call `lost`


class Loss(StrEnum):
    """How a stream, or the try to open one, ended."""

    BROKEN = "broken"
    DENIED = "denied"  # the server will not have us: no rights, or no such service


class WatchSession:
    """One application's watch, over as many streams as it takes. Not thread-safe: its owner serialises.

    The owner waits until `next_deadline()` or until something arrives and does what `due(now)` says. It
    feeds the events of the stream to `receive`, other answers to `listed` and `reported`, and calls `lost`
    when the stream ended, for whatever reason, or could not be opened. What changed goes to the board.

    Attributes:
        replica: what is held, and the cursor.
        state: whether a stream speaks to us.
        denied: the last try was refused for lack of rights; somebody should be told.
        problem: how the last stream failed, for a person; empty when it did not.
        connects: streams that said at least one thing.
    """

    def __init__(self, now: Instant, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._backoff = Backoff(self._patience)
        self._stream: Stream | None = None
        self._retry_at = now
        self._poll_at = now + self._patience.poll_every
        self._asked: Cursor | None = None  # from where the last list was asked for
        self.replica = Replica()
        self.state = LinkState.CONNECTING
        self.denied = False
        self.problem = ""
        self.connects = 0

    @property
    def resume(self) -> Cursor | None:
        """From where the next watch or list is asked for; None asks for everything."""
        return self.replica.cursor

    def next_deadline(self) -> Instant:
        """When `due` has something to say, should nothing arrive before."""
        connection = self._retry_at if self._stream is None else self._dead_at(self._stream)
        return min(connection, self._poll_at) if self._polls() else connection

    def due(self, now: Instant) -> tuple[Step, ...]:
        """What to do now. WATCH and LIST are said once each time, CUT until `lost` is called."""
        steps = []
        if self._stream is None and now >= self._retry_at:
            self._stream = Stream(self.replica, self._patience.bookmark, now)
            steps.append(Step.WATCH)
        elif self._stream is not None and now >= self._dead_at(self._stream):
            steps.append(Step.CUT)
        if self._polls() and now >= self._poll_at:
            self._poll_at = now + self._patience.poll_every
            self._asked = self.resume
            steps.append(Step.LIST)
        return tuple(steps)

    def receive(self, event: bytes | pb.WatchEvent, now: Instant) -> Changes:
        """One event of the open stream; what changed by it. Events that come after `lost` are nobody's."""
        stream = self._stream
        if stream is None:
            return Changes()
        first = stream.first_at is None
        changes = stream.receive(event, now)
        if first and stream.first_at is not None:
            self.state = LinkState.CONNECTED
            self.denied = False
            self.connects += 1
        return changes

    def listed(self, answer: bytes | pb.Snapshot, now: Instant) -> Changes:
        """The answer to the list that was asked for last; what changed by it."""
        message = parsed(pb.Snapshot, answer) if isinstance(answer, bytes) else answer
        cursor = decode_cursor(message.cursor) if message else None
        if message is None or cursor is None or cursor == self.resume:  # the same: nothing is new
            return Changes()
        self.replica.expire(now)
        # An answer that does not hold everything, or comes when we have moved on since, only adds.
        if message.more or self.resume != self._asked:
            return self.replica.hear(cursor, read(message.directives), now)
        return self.replica.replace(cursor, read(message.directives), now)

    def reported(self, answer: bytes | pb.ReportResponse, now: Instant) -> Changes:
        """The answer to a report; it carries what is new."""
        message = parsed(pb.ReportResponse, answer) if isinstance(answer, bytes) else answer
        cursor = decode_cursor(message.cursor) if message else None
        if message is None or cursor is None:
            return Changes()
        return self.replica.hear(cursor, read(message.directives), now)

    def lost(self, now: Instant, roll: float, loss: Loss = Loss.BROKEN) -> None:
        """The stream ended, or could not be opened. `roll` is random, from 0 up to 1."""
        stream, self._stream = self._stream, None
        if self.state is LinkState.CONNECTED:
            self.state = LinkState.LOST
            self._poll_at = now + self._patience.poll_every
        self.denied = loss is Loss.DENIED
        self._retry_at = now + self._pause(stream, now, roll)

    def hurry(self, now: Instant) -> None:
        """The server took something else from us: the next try need not wait, nor go by an old denial."""
        self._retry_at = min(self._retry_at, now)

    def _pause(self, stream: Stream | None, now: Instant, roll: float) -> float:
        """How long to wait before the next try, and why in `problem`."""
        silent = stream is not None and now >= self._dead_at(stream)
        self.problem = (stream and stream.problem) or ("nothing was heard" if silent else "the stream ended")
        good = stream and stream.first_at is not None and now - stream.first_at >= self._patience.good
        if good:
            self._backoff.reset()
        if self.denied:
            return self._patience.denied * (1 + roll / 10)  # spread, should many be refused at once
        if stream and stream.go_away is not None:
            self.problem = ""
            return min(stream.go_away, self._patience.longest) * (1 + roll / 2)
        return self._patience.again * roll if good else self._backoff.delay(now, roll)

    def _dead_at(self, stream: Stream) -> Instant:
        if stream.over:
            return stream.heard_at
        return stream.heard_at + self._patience.missed * stream.interval

    def _polls(self) -> bool:
        return self.state is not LinkState.CONNECTED and not self.denied
