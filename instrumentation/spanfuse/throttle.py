"""The throttle: calls that must be made more slowly wait here, before they begin.

Rule 1: no lock is held while a call waits; a thread waits by itself, a task lets the others run. Rule 2: what
changes on the board wakes whoever waits: a stop lets it go on to its refusal, and an order that is lifted or
whose time is up holds nobody. Rule 3: a call that is covered by several waits for the slowest, not for one
after the other. Rule 4: where it is not known how to wait, nobody does. It makes no calls.
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Final, Self

from spanfuse.board import Board
from spanfuse.context import RunScope
from spanfuse.gate import Gate
from spanfuse.guard import fault, guarded
from spanfuse.orders import pace_of
from spanfuse.pace import Pace, Place
from spanfuse.provider import Intent
from spanfuse.room import Room, running_loop
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Instant
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

PACES: Final = 1_024
"""How many orders' paces are kept; the oldest go first."""


class Throttle:
    """Holds calls back as the board orders. Any thread may ask."""

    def __init__(self, board: Board, gate: Gate) -> None:
        self.board = board
        self.gate = gate
        self.held: set[object] = set()  # who waits now
        # Reentrant: the garbage collector may end a dropped coroutine, so a wait, in the middle of anything.
        self._lock = threading.RLock()
        self._paces: dict[tuple[str, float, int], Pace] = {}
        self._room = Room()
        self._over = False
        board.on_change(lambda directive: self._room.made())
        board.on_lift(self._room.made)

    @property
    def waiting(self) -> int:
        """How many calls wait now."""
        return len(self.held)

    @guarded("throttle", None)
    def hold(self, intent: Intent, scope: RunScope) -> None:
        """Returns when a call may be made, or would be refused; how long that took is said on its intent."""
        if self.board.stands(Action.THROTTLE):
            with _Passage(self, intent, scope) as passage:
                self._room.wait(passage.left)

    async def hold_async(self, intent: Intent, scope: RunScope) -> None:
        """As `hold`, for a task."""
        if not self.board.stands(Action.THROTTLE):
            return
        loop = running_loop()
        if loop is None:
            return
        try:
            with _Passage(self, intent, scope) as passage:
                await self._room.wait_async(passage.left, loop)
        except Exception as error:
            fault("throttle", error)

    def let_go(self) -> None:
        """Holds nobody any more, for good: the library ends its work."""
        self._over = True
        self._room.made()

    def orders(self, intent: Intent, scope: RunScope) -> list[Directive]:
        """What holds a call back now, or would were it enforced."""
        return [] if self._over else self.gate.sparing(Action.THROTTLE, intent, scope)

    def place(self, directive: Directive) -> Place:
        """A place in the row of an order."""
        with self._lock:
            return self._pace(directive).place(self.board.clock())

    def free(self, directive: Directive, place: Place, *, passed: bool) -> None:
        """The place is used, or it is given up."""
        with self._lock:
            pace = self._pace(directive)
            if passed:
                pace.passed(place)
            else:
                pace.give_up(place)

    def _pace(self, directive: Directive) -> Pace:
        """An order keeps its pace over renewals and revisions, as long as that is the same."""
        key = (directive.id, *pace_of(directive))
        pace = self._paces.get(key)
        if pace is None:
            pace = self._paces[key] = Pace(*pace_of(directive))
            if len(self._paces) > PACES:
                del self._paces[next(iter(self._paces))]
        return pace


class _Passage:
    """One call on its way through all that holds it back."""

    def __init__(self, throttle: Throttle, intent: Intent, scope: RunScope) -> None:
        self._throttle = throttle
        self._board = throttle.board
        self._intent = intent
        self._scope = scope
        self._began: Instant = throttle.board.clock()
        self._waits: dict[str, Directive] = {}  # what it has to wait for, or had to
        self._passed: set[str] = set()  # what would have held it back, were it enforced
        self._places: dict[tuple[object, ...], tuple[Directive, Place]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._throttle.held.discard(self)
        now = self._board.clock()
        for directive, place in self._places.values():
            self._throttle.free(directive, place, passed=error is None and place.due <= now)
        if self._waits:
            waited = now - self._began
            self._intent.attributes[names.THROTTLED_MS] = round(waited * 1_000)
            self._board.ledger.answering.took("defer", waited)
            for directive in self._waits.values():
                self._board.ledger.spare(directive, waited=waited)

    def left(self) -> float:
        """Seconds until it is to look again; none when it may pass."""
        orders = self._throttle.orders(self._intent, self._scope)
        self._count([one for one in orders if one.mode is not Mode.ENFORCE])
        self._book([one for one in orders if one.mode is Mode.ENFORCE])
        now = self._board.clock()
        ahead = [(directive, place.due) for directive, place in self._places.values() if place.due > now]
        for directive, _ in ahead:
            if directive.id not in self._waits:
                self._board.ledger.spare(directive, throttled=1)
            self._waits[directive.id] = directive
            self._throttle.held.add(self)
        return max((due - now for _, due in ahead), default=0.0)

    def _count(self, orders: list[Directive]) -> None:
        for directive in orders:
            if directive.id not in self._passed:
                self._passed.add(directive.id)
                self._board.ledger.add(directive, passed=1)

    def _book(self, orders: list[Directive]) -> None:
        """A place in every row that there is now; those in other rows are given up."""
        rows = {(one.id, *pace_of(one)): one for one in orders}
        for row in self._places.keys() - rows.keys():
            self._throttle.free(*self._places.pop(row), passed=False)
        for row, directive in rows.items():
            held = self._places.get(row)
            self._places[row] = (directive, held[1] if held else self._throttle.place(directive))
