"""An application's copy of the server's log: what it must obey, and where in the history it stands.

Rule 1: an older revision never replaces a newer one, whichever way it comes: stream, poll or report.
Rule 2: the cursor never goes back within an epoch, and moves only when everything up to it is here.
Rule 3: nothing vanishes silently: whatever comes down is a removal that is handed out. Rule 4: a new epoch
is a server that lost its memory, not a pardon: what it does not name stands on until its time is up or it
is withdrawn by id. A message says what holds at its cursor, so one that is not older than ours reverts
nothing. It knows no connection and has no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from spanfuse_processor.engine.nouns import Instant
from spanfuse_processor.engine.verdicts import Directive, OnExpiry, Removal
from spanfuse_processor.wire.directives import Refused
from spanfuse_processor.wire.messages import Cursor

GONE = "gone from the server's snapshot"
REPLACED = "replaced by a later history"

Stated = Directive | Refused
"""A directive as it was read."""


@dataclass(slots=True)
class Changes:
    """What to do now: take the removals down first, then put the upserts up, then report the refused."""

    upserts: list[Directive] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.upserts or self.removals or self.refused)


@dataclass(slots=True)
class _Held:
    directive: Directive
    until: Instant
    epoch: str


class Replica:
    """What this application holds of the server's directives.

    `stale` counts what was dropped because something newer was here already.
    """

    def __init__(self) -> None:
        self.cursor: Cursor | None = None
        self.stale = 0
        self._held: dict[str, _Held] = {}

    def directives(self) -> dict[str, Directive]:
        """What is held, by id."""
        return {name: held.directive for name, held in self._held.items()}

    def replace(self, cursor: Cursor, stated: Sequence[Stated], now: Instant) -> Changes:
        """A whole snapshot; dropped when it is older than what is here."""
        changes = Changes()
        if self._is_past(cursor):
            return changes
        named = {each.id for each in stated}
        for name, held in list(self._held.items()):
            if name not in named and held.epoch == cursor.epoch:
                self._drop(Removal(name, cursor.revision, GONE), cursor.epoch, changes)
        self._take(stated, cursor.epoch, now, changes)
        self.cursor = cursor
        return changes

    def apply(
        self, cursor: Cursor, stated: Iterable[Stated], removals: Iterable[Removal], now: Instant
    ) -> Changes:
        """A delta that leads from our cursor to `cursor`, in the same epoch."""
        changes = Changes()
        if self.cursor is None or self._is_past(cursor):
            return changes
        for removal in removals:
            self._drop(removal, cursor.epoch, changes)
        self._take(stated, cursor.epoch, now, changes)
        self.cursor = cursor
        return changes

    def hear(self, cursor: Cursor, stated: Iterable[Stated], now: Instant) -> Changes:
        """News from beside the stream: some of what stands at `cursor`; dropped when it is older than ours.

        Our cursor stays, for we are not told what was withdrawn.
        """
        changes = Changes()
        if self.cursor is None or self.cursor.epoch != cursor.epoch or self._is_past(cursor):
            return changes
        self._take(stated, cursor.epoch, now, changes)
        return changes

    def expire(self, now: Instant) -> None:
        """Forgets what has had its time and leaves nothing behind.

        Nothing is handed out: whoever obeys counts the same time.
        """
        for name, held in list(self._held.items()):
            if held.until <= now and held.directive.on_expiry is OnExpiry.ALLOW:
                del self._held[name]

    def _is_past(self, cursor: Cursor) -> bool:
        ours = self.cursor
        past = ours is not None and ours.epoch == cursor.epoch and cursor.revision < ours.revision
        self.stale += past
        return past

    def _take(self, stated: Iterable[Stated], epoch: str, now: Instant, changes: Changes) -> None:
        for each in stated:
            if isinstance(each, Refused):
                changes.refused.append(each)
            else:
                self._put(each, epoch, now, changes)

    def _put(self, directive: Directive, epoch: str, now: Instant, changes: Changes) -> None:
        held = self._held.get(directive.id)
        if held is not None and directive.revision <= held.directive.revision:
            if held.epoch == epoch:
                self.stale += directive.revision < held.directive.revision
                return
            # Revisions of two histories do not compare: the earlier one makes room first.
            changes.removals.append(Removal(directive.id, held.directive.revision, REPLACED))
        self._held[directive.id] = _Held(directive, now + directive.ttl, epoch)
        changes.upserts.append(directive)

    def _drop(self, removal: Removal, epoch: str, changes: Changes) -> None:
        held = self._held.get(removal.id)
        if held is None:  # whoever obeys may have stopped the same by itself
            changes.removals.append(removal)
            return
        if held.epoch == epoch and removal.revision < held.directive.revision:
            self.stale += 1
            return
        del self._held[removal.id]
        revision = max(removal.revision, held.directive.revision)
        changes.removals.append(Removal(removal.id, revision, removal.reason))
