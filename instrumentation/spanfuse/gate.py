"""The gate: one question before every call, one answer, never a wait.

Rule 1: `admit` answers from the board in this process: no I/O, no lock, no clock unless something
stands. Rule 2: a permit is settled or failed exactly once. Rule 3: a stopped run stays stopped: every further
admit refuses, and after three swallowed refusals model calls raise what `except Exception` does not catch.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from spanfuse.board import Board
from spanfuse.context import RunScope
from spanfuse.errors import BreakerOpen, RunStopped
from spanfuse.orders import SPARED
from spanfuse.payers import Payers
from spanfuse.provider import Intent
from spanfuse_processor.engine.nouns import BreakerKey, Kind, Level, Usage
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

SWALLOWED: Final = 3
"""Refusals that a run may swallow before its model calls raise RunStopped."""
VOLLEY: Final = 0.1
"""Seconds in which refusals of calls made side by side count as one: nobody has swallowed anything yet."""
RUNS: Final = 10_000
"""How many runs' refusals are remembered."""

_LEVELS: Final = {Kind.TOOL: Level.TOOL, Kind.AGENT: Level.AGENT}
_refused: ContextVar[tuple[str, str, int] | None] = ContextVar("spanfuse-refused", default=None)


def named_key(intent: Intent) -> BreakerKey:
    """The breaker of the model, tool or agent that is called."""
    return BreakerKey(_LEVELS.get(intent.kind, Level.MODEL), intent.name)


class Permit:
    """Leave to make one call. `settle` or `fail` exactly once; a second answer is ignored."""

    __slots__ = ("settled",)

    def __init__(self) -> None:
        self.settled = False

    def settle(self, usage: Usage | None) -> None:
        """The call was made and used this much (None: nothing was reported)."""
        self.settled = True

    def fail(self, error: BaseException) -> None:
        """The call failed."""
        self.settled = True


@dataclass(slots=True)
class _Refusals:
    count: int = 0
    last: float = 0.0


class Gate:
    """Admits calls, or raises what the board orders. `payers` tells who pays for them."""

    def __init__(self, board: Board, payers: Payers | None = None) -> None:
        self._board = board
        self.payers = payers or Payers()
        self._lock = threading.RLock()  # the collector may end a call in the middle of anything
        self._refusals: OrderedDict[tuple[str, str, int], _Refusals] = OrderedDict()

    def admit(self, intent: Intent, scope: RunScope) -> Permit:
        """Leave for one call of `scope`.

        Raises:
            BreakerOpen: a directive in force covers this call.
            RunStopped: as above, and the run has swallowed three refusals; model calls only.
        """
        if not self._board.refusing:
            return Permit()
        directive = self.standing(intent, scope)
        if directive is None:
            return Permit()
        if directive.mode is not Mode.ENFORCE:
            self._board.ledger.add(directive, passed=1)
            return Permit()
        raise self.refusal(directive, intent, scope)

    def standing(self, intent: Intent, scope: RunScope) -> Directive | None:
        """The directive that covers a call and refuses it, in whatever mode. No lock."""
        directive = self._board.standing((*scope.keys, named_key(intent)), self._payer(scope, intent))
        if directive is None or (directive.action is Action.BLOCK_TOOL and intent.kind is not Kind.TOOL):
            return None
        return directive

    def stopping(self, scope: RunScope) -> Directive | None:
        """The directive that stops a run as a whole now, not only some of its calls."""
        if not self._board.refusing:
            return None
        directive = self._board.standing(scope.keys, self._payer(scope))
        stops = directive is not None and directive.mode is Mode.ENFORCE and directive.action is Action.STOP
        return directive if stops else None

    def sparing(self, action: Action, intent: Intent, scope: RunScope) -> list[Directive]:
        """The directives of this action, THROTTLE or DEGRADE, that cover a call, strictest first.

        In whatever mode; none where the call would be refused anyway.
        """
        if not self._board.stands(action) or intent.kind not in SPARED:
            return []
        keys, payer = (*scope.keys, named_key(intent)), self._payer(scope, intent)
        found = self._board.covering(action, keys, payer)
        return [] if found and self.refuses(intent, scope) else found

    def refuses(self, intent: Intent, scope: RunScope) -> bool:
        """Whether a call would be refused now."""
        directive = self.standing(intent, scope)
        return directive is not None and directive.mode is Mode.ENFORCE

    def _payer(self, scope: RunScope, intent: Intent | None = None) -> Payer | None:
        """Who pays, where anything goes by it."""
        return self.payers.of(scope, intent) if self._board.wide else None

    def refusal(self, directive: Directive, intent: Intent, scope: RunScope) -> BreakerOpen | RunStopped:
        """What is raised when a call is refused for `directive`; it is counted."""
        self._board.ledger.add(directive, refused=1)
        swallowed = self._count((scope.id, directive.id, directive.revision)) - 1
        # Never inside a tool's body: there are frameworks that feed even a BaseException of a tool to the
        # model and go on for ever.
        if swallowed >= SWALLOWED and intent.kind is Kind.MODEL and not scope.tool:
            return RunStopped(directive)
        return BreakerOpen(directive)

    def _count(self, stop: tuple[str, str, int]) -> int:
        """How often the run has been refused, calls made side by side counted once.

        A refusal is swallowed when the code that got it calls again: in the same context, or (in a new task
        or thread) later than a call that was made beside it could be.
        """
        again = _refused.get() == stop
        _refused.set(stop)
        now = self._board.clock()
        with self._lock:
            run = self._refusals.setdefault(stop, _Refusals())
            if again or run.count == 0 or now - run.last > VOLLEY:
                run.count += 1
                run.last = now
            if len(self._refusals) > RUNS:
                self._refusals.popitem(last=False)
            return run.count
