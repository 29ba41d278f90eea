"""The contract of a call that has begun, and the one that nobody watches.

Rule 1: begin, then exactly one of succeed and fail. Rule 2: what is not watched is made all the same, and
costs nothing. It does not know how a call is watched.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final

from spanfuse.context import RunScope
from spanfuse.inflight import Wait
from spanfuse.provider import Outcome
from spanfuse_processor.engine.nouns import NOBODY
from spanfuse_processor.engine.verdicts import Directive

NOTHING: Final = nullcontext()
"""Around what needs nothing around it."""


class ActiveCall:
    """A call that has been admitted and has begun. This one is watched by nobody and does nothing."""

    __slots__ = ("scope",)

    scope: RunScope
    """The run it is charged to, with the call itself for agents and tools."""

    def __init__(self, scope: RunScope) -> None:
        self.scope = scope

    def attached(self) -> AbstractContextManager[None]:
        """Makes the call's span and scope current in this context (for the body of a tool or agent)."""
        return NOTHING

    def waiting(self) -> Wait | nullcontext[None]:
        """Around the wait for the answer: `async with` where a stop may interrupt it, `with` where not.

        Raises:
            BreakerOpen: at its end, when a directive has cancelled the task that waited here.
        """
        return NOTHING

    @property
    def ordered(self) -> Directive | None:
        """The directive that stands for this call's run now: what a stream asks at each chunk. Cheap."""
        return None

    def rests(self, resting: bool) -> None:
        """Whether nobody waits for it now, as between two pieces of its answer: it is not stuck then."""

    def put_back(self, error: BaseException) -> bool:
        """Whether the request, which was made cheaper and not taken, is now what the application asked for.

        It is to be made once more then.

        Raises:
            BreakerOpen: what it asked for first cannot be paid for.
        """
        return False

    def succeed(self, outcome: Outcome) -> None:
        """The call ended well (or a stream was dropped: `outcome.complete` False)."""

    def fail(self, error: BaseException, partial: Outcome | None = None) -> None:
        """The call raised; `partial` is what a stream had said before."""


UNWATCHED: Final = ActiveCall(RunScope("", NOBODY))
