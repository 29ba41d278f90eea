"""Waiting for something to come free: threads by themselves, tasks while others run.

Rule 1: a waker is registered before the look that it follows, so nothing falls in between. Rule 2: telling
takes no lock and never waits, so it may happen anywhere, in a finaliser too. Rule 3: who waits looks again
after `LOOK` seconds at the latest. It does not know what is waited for.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncio

LOOK: Final = 0.5
"""Seconds after which whoever waits looks again."""

Attempt = Callable[[], float]
"""Tries, and returns the seconds for which it pays to wait for another try; 0 when it is done."""


class Room:
    """Where calls wait until there is room for them."""

    def __init__(self) -> None:
        self._wakers: dict[object, Callable[[], object]] = {}

    @property
    def waiting(self) -> int:
        """How many wait now."""
        return len(self._wakers)

    def made(self) -> None:
        """There may be room now."""
        for waker in list(self._wakers.values()):
            with suppress(RuntimeError):  # its loop has been closed
                waker()

    def wait(self, attempt: Attempt) -> None:
        """Tries until it is done, in this thread. What `attempt` raises passes."""
        bell, me = threading.Event(), object()
        self._wakers[me] = bell.set
        try:
            while (left := attempt()) > 0:
                bell.wait(min(left, LOOK))
                bell.clear()
        finally:
            del self._wakers[me]

    async def wait_async(self, attempt: Attempt, loop: asyncio.AbstractEventLoop) -> None:
        """As `wait`, in a task of this loop."""
        me = object()
        try:
            while True:
                bell: asyncio.Future[None] = loop.create_future()
                self._wakers[me] = partial(loop.call_soon_threadsafe, _ring, bell)
                left = attempt()
                if left <= 0:
                    return
                timer = loop.call_later(min(left, LOOK), _ring, bell)
                try:
                    await bell
                finally:
                    timer.cancel()
        finally:
            del self._wakers[me]


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The running loop, without importing asyncio where nobody uses it; None: another library's, or none."""
    module = sys.modules.get("asyncio")
    try:
        loop: asyncio.AbstractEventLoop | None = module.get_running_loop() if module else None
    except (RuntimeError, AttributeError):  # no loop runs; or another thread is importing asyncio just now
        return None
    return loop


def _ring(bell: asyncio.Future[None]) -> None:
    if not bell.done():
        bell.set_result(None)
