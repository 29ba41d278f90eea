"""The server's log: which directives stand, and what changed since a point in its history.

Rule 1: the log gives out the revisions, one for each change, so that orders of the engine and of operators
stand in one line. Rule 2: it keeps states, not messages: whoever was away hears the newest state of what
changed, once. Rule 3: a directive whose time is up leaves by a removal of its own. It knows no
subscribers and has no clock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from spanfuse_processor.engine.nouns import BreakerKey, Instant
from spanfuse_processor.engine.verdicts import Directive, Removal
from spanfuse_processor.wire.messages import Change, Cursor

EXPIRED = "expired"
_LEAST = 0.001  # seconds; a time that rounds to nothing on the wire would be no time at all
_SLACK = 64  # outdated deadlines that are not worth a rebuild


@dataclass(frozen=True, slots=True)
class _Standing:
    directive: Directive
    until: Instant


class DirectiveLog:
    """What stands, by id, with the last `retained` changes. Bounded by what its writers let stand at once.

    Args:
        epoch: names this history; another one after a restart without memory.
        start: the revision that came before the first. Where histories follow one another in time, let it
            grow with them (say, from the wall clock): then a later history never looks older.
        retained: how many changes a subscriber may be behind and still be told only what changed.
    """

    def __init__(self, epoch: str, start: int = 0, retained: int = 1024) -> None:
        self._epoch = epoch
        self._revision = start
        self._forgotten = start  # changes up to this revision are no longer retained
        self._retained = retained
        self._standing: dict[str, _Standing] = {}
        self._gone: dict[str, Removal] = {}  # only those that a retained change names
        self._changes: deque[tuple[int, str]] = deque()
        self._deadlines: list[tuple[Instant, str]] = []

    @property
    def cursor(self) -> Cursor:
        """The newest point of the history."""
        return Cursor(self._epoch, self._revision)

    def __len__(self) -> int:
        return len(self._standing)

    def get(self, directive_id: str) -> Directive | None:
        """The directive that stands under this id, as it was put up."""
        held = self._standing.get(directive_id)
        return held.directive if held else None

    def under(self, key: BreakerKey) -> list[Directive]:
        """The directives that stand under `key`."""
        return [held.directive for held in self._standing.values() if held.directive.key == key]

    def upsert(self, directive: Directive, now: Instant) -> Directive:
        """Puts a directive up in place of what stands under its id; returns it with the revision it got."""
        stamped = replace(directive, revision=self._advance(directive.id))
        until = now + directive.ttl
        self._gone.pop(directive.id, None)
        self._standing[directive.id] = _Standing(stamped, until)
        heappush(self._deadlines, (until, directive.id))
        self._compact()
        return stamped

    def withdraw(self, directive_id: str, reason: str) -> Removal:
        """Takes a directive down.

        One that does not stand is recorded too: whoever watched an earlier history may hold it.
        """
        self._standing.pop(directive_id, None)
        removal = Removal(directive_id, self._advance(directive_id), reason)
        self._gone[directive_id] = removal
        return removal

    def expire(self, now: Instant) -> list[Removal]:
        """Takes down what has had its time."""
        removals = []
        while self._deadlines and self._deadlines[0][0] <= now:
            until, directive_id = heappop(self._deadlines)
            held = self._standing.get(directive_id)
            if held is not None and held.until == until:  # else it was renewed or withdrawn since
                removals.append(self.withdraw(directive_id, EXPIRED))
        return removals

    def next_deadline(self) -> Instant | None:
        """When `expire` may have something to do."""
        return self._deadlines[0][0] if self._deadlines else None

    def snapshot(self, now: Instant) -> list[Directive]:
        """All that stands at `cursor`, by revision, each with the time that it has left."""
        held = [each for each in self._standing.values() if each.until > now]
        held.sort(key=lambda each: each.directive.revision)
        return [_left(each, now) for each in held]

    def since(self, cursor: Cursor | None, now: Instant) -> list[Change] | None:
        """What changed after `cursor`, by revision; None when only a snapshot can tell."""
        if cursor is None or cursor.epoch != self._epoch:
            return None
        if not self._forgotten <= cursor.revision <= self._revision:
            return None
        return self._newest_states(cursor.revision, now)

    def _newest_states(self, revision: int, now: Instant) -> list[Change]:
        seen: set[str] = set()
        newest: list[Change] = []
        for changed, directive_id in reversed(self._changes):
            if changed <= revision:
                break
            if directive_id in seen:
                continue
            seen.add(directive_id)
            held = self._standing.get(directive_id)
            if held is None:
                newest.append(self._gone[directive_id])
            elif held.until > now:  # else `expire` is about to withdraw it
                newest.append(_left(held, now))
        return newest[::-1]

    def _advance(self, directive_id: str) -> int:
        self._revision += 1
        self._changes.append((self._revision, directive_id))
        if len(self._changes) > self._retained:
            self._forgotten, forgotten_id = self._changes.popleft()
            gone = self._gone.get(forgotten_id)
            if gone is not None and gone.revision == self._forgotten:
                del self._gone[forgotten_id]
        return self._revision

    def _compact(self) -> None:
        """Drops outdated deadlines once they outnumber those that count."""
        if len(self._deadlines) > 2 * len(self._standing) + _SLACK:
            self._deadlines = [(held.until, name) for name, held in self._standing.items()]
            heapify(self._deadlines)


def _left(held: _Standing, now: Instant) -> Directive:
    return replace(held.directive, ttl=max(held.until - now, _LEAST))
