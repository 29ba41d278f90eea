"""The hub: what must be obeyed, on its way to everyone who watches.

Rule 1: `publish` never waits, whoever is slow. Rule 2: a subscriber's mailbox is its place in the log: it
holds the newest revision of each id, cannot grow, and who falls further behind than the log reaches is told
everything anew. Rule 3: an event is made once for all who stand at the same place and see the same.
It lives on one event loop and is not thread-safe. It does not know how events travel.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from spanfuse_processor.clock import Clock
from spanfuse_processor.control.view import View
from spanfuse_processor.engine.nouns import BreakerKey, Instant
from spanfuse_processor.engine.verdicts import Directive, Removal
from spanfuse_processor.wire import messages
from spanfuse_processor.wire.log import DirectiveLog
from spanfuse_processor.wire.messages import Change, Cursor

MAX_CHANGE: Final = 64 * 1024  # bytes; one that is larger would end every stream that carries it
FRESH: Final = 1.0  # seconds that made events may be shared, since the TTLs in them run


@dataclass(slots=True)
class HubStats:
    """Counts since start."""

    published: int = 0
    withdrawn: int = 0
    unpublishable: int = 0  # too large, or with parameters that have no place on the wire
    subscribed: int = 0
    resyncs: int = 0  # snapshots made for who fell behind, or came from another history


def fresh_hub(clock: Clock, retained: int, bookmark_every: float) -> Hub:
    """A hub with a history of its own: each life of a processor has one.

    Revisions grow with the wall clock, so that a later history never looks older than what an application
    holds of an earlier one.
    """
    start = clock.wall_ns() // 1_000_000
    return Hub(DirectiveLog(secrets.token_hex(8), start, retained), clock, bookmark_every)


class Hub:
    """The one place where directives are published and watched.

    Args:
        log: the history; nobody else writes to it.
        clock: stamps directives, and counts their time.
        bookmark_every: seconds of silence after which a subscriber hears that nothing is new.
    """

    def __init__(self, log: DirectiveLog, clock: Clock, bookmark_every: float = 10.0) -> None:
        self.bookmark_every = bookmark_every
        self.stats = HubStats()
        self.closing: tuple[str, float] | None = None  # the reason, and seconds after which to come again
        self._log = log
        self._clock = clock
        self._subscriptions: set[Subscription] = set()
        self._made: dict[tuple[Cursor | None, View], list[bytes]] = {}
        self._made_at: Instant = 0.0

    @property
    def watchers(self) -> int:
        """Subscribers now."""
        return len(self._subscriptions)

    @property
    def cursor(self) -> Cursor:
        """The newest point of the history."""
        return self._log.cursor

    def __len__(self) -> int:
        """Directives in force now."""
        return len(self._log)

    def publish(self, upserts: Iterable[Directive] = (), removals: Iterable[Removal] = ()) -> list[Directive]:
        """Puts directives up and takes others down, in the order of the revisions that they came with.

        Returns the directives as they stand: stamped, and with the revisions that applications will name.
        """
        self.advance()
        standing = []
        changes: list[Change] = [*upserts, *removals]
        for change in sorted(changes, key=lambda change: change.revision):
            if not self._fits(change):
                self.stats.unpublishable += 1
            elif isinstance(change, Removal):
                self._log.withdraw(change.id, change.reason)
                self.stats.withdrawn += 1
            else:
                stamped = replace(change, issued_ns=change.issued_ns or self._clock.wall_ns())
                standing.append(self._log.upsert(stamped, self._clock.monotonic()))
                self.stats.published += 1
        self._wake()
        return standing

    def advance(self) -> None:
        """Takes down what has had its time; see `next_deadline`."""
        if self._log.expire(self._clock.monotonic()):
            self._wake()

    def next_deadline(self) -> Instant | None:
        """When `advance` may have something to do. It may be called late: applications count time, too."""
        return self._log.next_deadline()

    def get(self, directive_id: str) -> Directive | None:
        """The directive that stands under this id, as it was published."""
        return self._log.get(directive_id)

    def under(self, key: BreakerKey) -> list[Directive]:
        """The directives that stand under `key`."""
        return self._log.under(key)

    def standing(self, view: View) -> list[Directive]:
        """All that stands for a subscriber, oldest revision first, with the time that is left."""
        self.advance()
        return [each for each in self._log.snapshot(self._clock.monotonic()) if view.sees(each)]

    def news(self, cursor: Cursor | None, view: View) -> list[Directive]:
        """What was put up after `cursor`; nothing when only a snapshot could tell."""
        self.advance()
        changes = self._log.since(cursor, self._clock.monotonic()) or []
        return [each for each in changes if isinstance(each, Directive) and view.sees(each)]

    def subscribe(self, view: View, resume: Cursor | None = None) -> Subscription:
        """A new subscriber, who knows everything up to `resume`. To be used in a `with` statement."""
        self.stats.subscribed += 1
        return Subscription(self, view, resume)

    def close(self, reason: str, retry_after: float) -> None:
        """Sends everyone away, to come again after so many seconds. Nobody is let in afterwards."""
        self.closing = (reason, retry_after)
        self._wake()

    def events_since(self, cursor: Cursor | None, view: View) -> list[bytes]:
        """The events that lead from `cursor` to the newest point; empty when there is nothing new."""
        self.advance()
        now = self._clock.monotonic()
        if now - self._made_at > FRESH:
            self._made.clear()
            self._made_at = now
        events = self._made.get((cursor, view))
        if events is None:
            events = self._made[cursor, view] = self._make(cursor, view, now)
        return events

    def _make(self, cursor: Cursor | None, view: View, now: Instant) -> list[bytes]:
        changes = self._log.since(cursor, now)
        if changes is not None:
            return messages.deltas(self._log.cursor, [view.through(change) for change in changes])
        self.stats.resyncs += cursor is not None
        return messages.snapshots(self._log.cursor, self.standing(view))

    def mark(self, cursor: Cursor) -> bytes:
        """The event that says that nothing is new."""
        return messages.bookmark(cursor, self._clock.wall_ns(), self.bookmark_every)

    def _fits(self, change: Change) -> bool:
        """Whether the change can travel. One that cannot must not keep the others from it."""
        try:
            return messages.encode_change(change).ByteSize() <= MAX_CHANGE
        except (ValueError, OverflowError, TypeError):
            return False

    def _wake(self) -> None:
        self._made.clear()
        for subscription in self._subscriptions:
            subscription.wake.set()


class Subscription:
    """One subscriber's place in the history."""

    def __init__(self, hub: Hub, view: View, resume: Cursor | None) -> None:
        self.wake = asyncio.Event()
        self._hub = hub
        self._view = view
        self._cursor = resume
        self._greeted = False
        self._over = False

    def __enter__(self) -> Subscription:
        self._hub._subscriptions.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._hub._subscriptions.discard(self)

    async def next(self) -> list[bytes]:
        """The next events, to be sent in order; no events: it is over.

        The first call answers at once, the others when something is new, or with a bookmark when
        nothing was for as long as the hub says.
        """
        if self._over:
            return []
        if self._greeted and self._hub.closing is None:
            await self._news_or_silence()
        self._greeted = True
        events = self._hub.events_since(self._cursor, self._view)
        self._cursor = self._hub.cursor
        if self._hub.closing is not None:  # what is new goes out before: a successor may not know it
            self._over = True
            return [*events, messages.go_away(self._cursor, *self._hub.closing)]
        return events or [self._hub.mark(self._cursor)]

    async def _news_or_silence(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._hub.bookmark_every):
                await self.wake.wait()
        self.wake.clear()
