"""The board: the newest directives per key, and of budgets those that reach a call, read without a lock.

Rule 1: written rarely, read on every call: a write replaces an immutable mapping, a read takes no lock; of
budgets, which may be spent by the thousand, a write replaces what it is about.
Rule 2: an older revision never replaces a newer one. Rule 3: a directive ends by its TTL, counted on the
monotonic clock from its receipt; then `on_expiry` says what holds. Rule 4: tighten only: an action that
this library cannot carry out is refused with a reason, not ignored.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from spanfuse.effects import Effects, Ledger
from spanfuse.orders import REFUSING, SUPPORTED, Rank, objection, rank
from spanfuse.reached import Reached
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.verdicts import Action, Directive, OnExpiry

__all__ = ["SUPPORTED", "Board", "Effects"]

GONE: Final = 10_000
"""How many directives that came down are remembered, so that a late message does not bring one back."""
PURGE_EVERY: Final = 60.0
"""Seconds between two sweeps of what has expired; until then it stands there and does not hold."""

_Table = Mapping[BreakerKey, tuple["_Notice", ...]]


@dataclass(frozen=True, slots=True)
class _Notice:
    """A directive on the board."""

    directive: Directive
    until: float  # monotonic
    rank: Rank

    def holds(self, now: float) -> bool:
        return now < self.until or self.directive.on_expiry is OnExpiry.DENY

    @property
    def refuses(self) -> bool:
        return self.directive.action in REFUSING


class Board:
    """What must be obeyed now.

    Hosts post, withdraw and replace; the gate asks `standing`, and `covering` for what does not refuse. Who
    pays for a call need be told only while something is `wide`. `on_change` listeners are told of each
    directive that newly holds (to cancel what is in flight), `on_lift` listeners when one has come down,
    outside any lock, on the posting thread.

    Attributes:
        refusing: whether anything stands that refuses calls: when not, the gate need not look.
        wide: whether anything stands that goes by who pays for a call.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.ledger = Ledger(clock)
        # Reentrant: the garbage collector may end a dropped generator, so a call, in the middle of anything.
        self._lock = threading.RLock()
        self._version = 0
        self.refusing = self.wide = False
        self._table: _Table = {}  # replaced, never changed
        self._wide: Reached[_Notice] = Reached()
        self._notices: dict[str, _Notice] = {}  # by id; writers only, as the next three
        self._actions: dict[Action, set[str]] = {action: set() for action in Action}
        self._names: dict[BreakerKey, set[str]] = {}
        self._gone: OrderedDict[str, int] = OrderedDict()  # id -> revision at which it came down
        self._purged = clock()
        self._listeners: list[Callable[[Directive], None]] = []
        self._lifted: list[Callable[[], None]] = []

    def post(self, directive: Directive) -> bool:
        """Puts a directive up; False when a newer revision is already there, or it is refused.

        The same revision again renews the TTL and is no change.
        """
        if self._refused(directive):
            return False
        with self._lock:
            seen = self._revision(directive.id)
            if seen > directive.revision:
                return False
            news = seen < directive.revision or directive.id not in self._notices
            self._replace_table(self._put(directive))
        if news:
            self._tell([directive])
        return True

    def withdraw(self, directive_id: str, revision: int) -> bool:
        """Takes a directive down; False when a newer revision stands."""
        with self._lock:
            if self._revision(directive_id) > revision:
                return False
            self._replace_table(self._drop(directive_id, revision))
        for listener in self._lifted:
            listener()
        return True

    def restart(self) -> None:
        """Whoever issues began to count anew: what stands holds on, and any revision replaces it."""
        with self._lock:
            self._gone.clear()
            for name, notice in self._notices.items():
                anew = replace(notice.directive, revision=0)
                self._notices[name] = replace(notice, directive=anew)
            self._replace_table({notice.directive.key for notice in self._notices.values()})

    def copy(self) -> Board:
        """A board of its own with the same directives: for the child of a fork, whatever held the lock."""
        made = Board(self.clock)
        for notice in [*self._notices.values()]:
            made._notices[notice.directive.id] = notice
            made._names.setdefault(notice.directive.key, set()).add(notice.directive.id)
            made._actions[notice.directive.action].add(notice.directive.id)
        made._replace_table(set(made._names))
        made._gone = self._gone.copy()
        return made

    def standing(self, keys: Iterable[BreakerKey], payer: Payer | None = None) -> Directive | None:
        """The strictest directive that refuses calls of any of `keys`, or of `payer`; or None.

        No lock, no waiting.
        """
        table = self._table
        best: _Notice | None = None
        if table:
            for key in keys:
                row = table.get(key)
                if row:
                    best = self._stricter(row, best)
        if payer is not None:
            row = self._wide.of(payer)
            if row:
                best = self._stricter(row, best)
        return None if best is None else best.directive

    def covering(
        self, action: Action, keys: Iterable[BreakerKey], payer: Payer | None = None
    ) -> list[Directive]:
        """All directives of this action that hold for any of `keys`, or for `payer`, strictest first."""
        table, now = self._table, self.clock()
        rows = [table.get(key, ()) for key in keys]
        if payer is not None:
            rows.append(self._wide.of(payer))
        found = [one for row in rows for one in row if one.directive.action is action and one.holds(now)]
        return [one.directive for one in sorted(found, key=lambda one: one.rank)]

    def stands(self, action: Action) -> bool:
        """Whether there is any directive of this action, for whomever: when not, nobody need ask further."""
        return bool(self._actions[action])

    def ordering(self, action: Action) -> list[Directive]:
        """The directives of this action that hold now, for whomever."""
        now, found = self.clock(), map(self._notices.get, [*self._actions[action]])
        return [notice.directive for notice in found if notice is not None and notice.holds(now)]

    def directives(self) -> list[Directive]:
        """Everything that holds now."""
        now = self.clock()
        return [notice.directive for notice in [*self._notices.values()] if notice.holds(now)]

    @property
    def empty(self) -> bool:
        """True when nothing at all stands."""
        return not self._notices

    def grace_is_over(self, directive: Directive) -> bool:
        """Whether what was in flight when the directive came has had its time."""
        return not directive.grace or self.clock() >= self.ledger.of(directive).received + directive.grace

    def effects(self, directive: Directive) -> Effects:
        """The running record of what a directive did here."""
        return self.ledger.of(directive)

    def drain_effects(self) -> list[Effects]:
        """Records changed since the last drain, for the report to the service."""
        return self.ledger.drain()

    def ended(self, span_id: bytes, at: float) -> None:
        """Notes when a span ended here (monotonic), to time kills by. Bounded; lock-free."""
        self.ledger.ended(span_id, at)

    def on_change(self, listener: Callable[[Directive], None]) -> None:
        """Registers who is told when a directive newly holds."""
        self._listeners.append(listener)

    def on_lift(self, listener: Callable[[], None]) -> None:
        """Registers who is told when a directive has come down before its time."""
        self._lifted.append(listener)

    def _refused(self, directive: Directive) -> bool:
        reason = objection(directive)
        if reason:
            self.ledger.rejected(directive, reason)
        return bool(reason)

    def _stricter(self, row: tuple[_Notice, ...], best: _Notice | None) -> _Notice | None:
        """The strictest that refuses of a row and of what was found before."""
        for notice in row:
            if notice.refuses and (best is None or notice.rank < best.rank) and notice.holds(self.clock()):
                best = notice
        return best

    def _tell(self, news: Iterable[Directive]) -> None:
        for directive in news:
            self.ledger.in_force(directive)
            for listener in self._listeners:
                listener(directive)

    # From here on the lock is held.

    def _revision(self, name: str) -> int:
        """The newest revision seen of a directive, -1 when it was never seen."""
        notice = self._notices.get(name)
        return self._gone.get(name, -1) if notice is None else notice.directive.revision

    def _put(self, directive: Directive) -> set[BreakerKey]:
        """Puts a directive up; returns the keys whose rows change."""
        touched = self._unlist(directive.id) | {directive.key}
        self._notices[directive.id] = _Notice(directive, self.clock() + directive.ttl, rank(directive))
        self._actions[directive.action].add(directive.id)
        self._names.setdefault(directive.key, set()).add(directive.id)
        self._gone.pop(directive.id, None)
        return touched

    def _drop(self, name: str, revision: int) -> set[BreakerKey]:
        """Takes a directive down; returns the keys whose rows change."""
        touched = self._unlist(name)
        self._gone[name] = revision
        self._gone.move_to_end(name)
        if len(self._gone) > GONE:
            self._gone.popitem(last=False)
        return touched

    def _unlist(self, name: str) -> set[BreakerKey]:
        notice = self._notices.pop(name, None)
        if notice is None:
            return set()
        key = notice.directive.key
        self._actions[notice.directive.action].discard(name)
        self._names[key].discard(name)
        return {key}

    def _replace_table(self, touched: set[BreakerKey]) -> None:
        touched = touched | self._purge()
        version = -1
        while version != self._version:  # a write from within, see `_lock`: build again on what it left
            version = self._version
            narrow = [key for key in touched if key.level is not Level.BUDGET]
            table = self._table_with(narrow) if narrow else self._table
            for key in touched.difference(narrow):
                self._widen(key)
        self._version += 1
        self._table, self.wide = table, len(self._wide) > 0
        self.refusing = any(self._actions[action] for action in REFUSING)

    def _table_with(self, touched: Iterable[BreakerKey]) -> _Table:
        """The table, with the rows of `touched` made anew."""
        table = dict(self._table)
        for key in touched:
            row = self._row(key)
            if row:
                table[key] = tuple(row)
            else:
                table.pop(key, None)
        return table

    def _widen(self, key: BreakerKey) -> None:
        """What stands of a budget's account, for whom it reaches."""
        given = [(notice.directive.reach, notice) for notice in self._row(key)]
        self._wide.put(key.id, [(reach, notice) for reach, notice in given if reach is not None])

    def _row(self, key: BreakerKey) -> list[_Notice]:
        """What stands under a key, strictest first."""
        row = sorted((self._notices[name] for name in [*self._names.get(key, ())]), key=lambda one: one.rank)
        if not row:
            self._names.pop(key, None)
        return row

    def _purge(self) -> set[BreakerKey]:
        now = self.clock()
        if now - self._purged < PURGE_EVERY:
            return set()
        self._purged = now
        over = [(name, n.directive.revision) for name, n in self._notices.items() if not n.holds(now)]
        return {key for name, revision in over for key in self._drop(name, revision)}
