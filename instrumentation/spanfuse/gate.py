"""The gate: one question before every call, one answer, never a wait.

Rule 1: `admit` answers from the board in this process: no I/O, no lock, no clock unless something
stands. Rule 2: a permit is settled or failed exactly once. Rule 3: a stopped run stays stopped: every further
admit refuses, and after three swallowed refusals model calls raise what `except Exception` does not catch.
"""

from __future__ import annotations

from spanfuse.board import Board
from spanfuse.context import RunScope
from spanfuse.provider import Intent
from spanfuse_processor.engine.nouns import Usage


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


class Gate:
    """Admits calls, or raises what the board orders."""

    def __init__(self, board: Board) -> None:
        raise NotImplementedError

    def admit(self, intent: Intent, scope: RunScope) -> Permit:
        """Leave for one call of `scope`.

        Raises:
            BreakerOpen: a directive in force covers this call.
            RunStopped: as above, and the run has swallowed three refusals; model calls only.
        """
        raise NotImplementedError
