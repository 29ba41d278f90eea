"""What is in flight, by run: so that a stop reaches what is already waiting.

Rule 1: a waiting asyncio task is cancelled from its own loop, once, at its innermost wait. Rule 2: our own
cancellation leaves as BreakerOpen, anybody else's as it came (`asyncio.timeout` is the model). Rule 3: a task
that has been told of a directive is not cancelled for it: it may be cleaning up. Rule 4: what cannot be
interrupted is counted, not touched. It does not know why a run is stopped.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.orders import REFUSING
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

if TYPE_CHECKING:
    import asyncio

_UNTOUCHED = (KeyboardInterrupt, SystemExit, BreakerOpen)
"""What leaves a cancelled wait as it is."""
_EVERYTHING = BreakerKey(Level.EVERYTHING, "")
"""A key of every run, and so of every wait."""


class Wait:
    """A stretch of code that waits: `async with` where a stop may interrupt it, `with` where not.

    Raises:
        BreakerOpen: at its end, when a directive has cancelled it.
    """

    __slots__ = ("_cancelling", "_directive", "_inflight", "_loop", "_task", "keys", "payer")

    def __init__(
        self, inflight: Inflight, keys: tuple[BreakerKey, ...], payer: Callable[[], Payer] | None = None
    ) -> None:
        self.keys = keys
        self.payer = payer
        self._inflight = inflight
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._directive: Directive | None = None
        self._cancelling = 0

    def __enter__(self) -> Wait:
        self._inflight.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inflight.remove(self)
        directive, task = self._directive, self._task
        if directive is None or task is None:
            return
        if task.uncancel() > self._cancelling or error is None or isinstance(error, _UNTOUCHED):
            return  # somebody else cancelled as well, or the call got through before we did
        raise BreakerOpen(directive) from error

    def interruptibly(self) -> Wait:
        """Begins as a wait of the running task; for use where the end is a plain `__exit__`."""
        self._loop, self._task = _here()
        if self._task is not None:
            self._cancelling = self._task.cancelling()
        return self.__enter__()

    async def __aenter__(self) -> Wait:
        return self.interruptibly()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    @property
    def interruptible(self) -> bool:
        """Whether an asyncio task waits here."""
        return self._task is not None

    def interrupt(self, directive: Directive) -> None:
        """Cancels the task, unless the wait is over by then. From any thread."""
        loop = self._loop
        if loop is None:
            return
        with suppress(RuntimeError):  # the loop has been closed
            if directive.grace:
                loop.call_soon_threadsafe(loop.call_later, directive.grace, self._cancel, directive)
            else:
                loop.call_soon_threadsafe(self._cancel, directive)

    def _cancel(self, directive: Directive) -> None:
        task = self._task
        if task is None or self._directive is not None or self is not self._inflight.innermost(self):
            return
        if directive.grace and not self._inflight.holds(directive):
            return  # it was lifted in time
        if self._inflight.tell(task, directive):
            self._directive = directive
            task.cancel(str(directive.key))
            self._inflight.cancelled(directive)

    def same_task(self, other: Wait) -> bool:
        """Whether both wait in one asyncio task."""
        return self._task is not None and self._task is other._task


class Inflight:
    """All waits of this process. Listens to the board."""

    def __init__(self, board: Board) -> None:
        self._board = board
        # Reentrant: the garbage collector may end a dropped coroutine, so a wait, in the middle of anything.
        self._lock = threading.RLock()
        self._waits: dict[BreakerKey, dict[Wait, None]] = {}  # insertion order: outermost first
        self._told: WeakKeyDictionary[asyncio.Task[Any], tuple[str, int]] = WeakKeyDictionary()
        board.on_change(self.stop)

    def wait(self, keys: tuple[BreakerKey, ...], payer: Callable[[], Payer] | None = None) -> Wait:
        """A wait that a directive for any of `keys` interrupts, or one that reaches who pays."""
        return Wait(self, keys, payer)

    def add(self, wait: Wait) -> None:
        """The wait begins."""
        with self._lock:
            for key in wait.keys:
                self._waits.setdefault(key, {})[wait] = None

    def remove(self, wait: Wait) -> None:
        """The wait is over."""
        with self._lock:
            for key in wait.keys:
                waits = self._waits.get(key)
                if waits is not None:
                    waits.pop(wait, None)
                    if not waits:
                        del self._waits[key]

    def innermost(self, wait: Wait) -> Wait | None:
        """The newest wait of the same task that goes on still; None when `wait` itself is over."""
        with self._lock:
            beside = list(self._waits.get(wait.keys[0], ()))
        return next((one for one in reversed(beside) if one.same_task(wait)), None)

    def stop(self, directive: Directive) -> None:
        """A directive newly holds: cancels what it covers. Called by the board, on any thread."""
        if directive.mode is not Mode.ENFORCE or not directive.cancel_in_flight:
            return
        if directive.action not in REFUSING:
            return
        waits = self._covered(directive)
        for wait in waits:
            wait.interrupt(directive)
        stuck = sum(not wait.interruptible for wait in waits)
        if stuck:
            self._board.ledger.add(directive, not_interruptible=stuck)

    def refused(self, directive: Directive) -> None:
        """A call of the running task has just been refused for `directive`: it is told."""
        task = _here()[1]
        if task is not None:
            self.tell(task, directive)

    def tell(self, task: asyncio.Task[Any], directive: Directive) -> bool:
        """Notes that `task` knows of `directive`; False when it knew."""
        news = (directive.id, directive.revision)
        with self._lock:
            known = self._told.get(task) == news
            self._told[task] = news
        return not known

    def holds(self, directive: Directive) -> bool:
        """Whether `directive` still stands."""
        return directive in self._board.directives()

    def cancelled(self, directive: Directive) -> None:
        """A task has been cancelled for `directive`."""
        self._board.ledger.add(directive, cancelled=1)

    def _covered(self, directive: Directive) -> list[Wait]:
        reach = directive.reach
        key = _EVERYTHING if reach is not None else directive.key
        with self._lock:
            waits = list(self._waits.get(key, ()))
        if reach is not None:
            waits = [wait for wait in waits if wait.payer is not None and reach.covers(wait.payer())]
        if directive.action is not Action.BLOCK_TOOL:
            return waits
        return [wait for wait in waits if any(key.level is Level.TOOL for key in wait.keys)]


def _here() -> tuple[asyncio.AbstractEventLoop | None, asyncio.Task[Any] | None]:
    """The running loop and task, without importing asyncio where nobody uses it."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return None, None
    try:
        loop = asyncio.get_running_loop()
    except (RuntimeError, AttributeError):  # no loop runs; or another thread is importing asyncio just now
        return None, None
    return loop, asyncio.current_task(loop)
