"""Waiting for what another thread or process does, bounded in time: the only place where tests wait."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable


def until(predicate: Callable[[], object], timeout: float = 5.0, every: float = 0.002) -> None:
    """Returns as soon as `predicate()` is true; fails the test after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    pause = threading.Event()
    while not predicate():
        if time.monotonic() > deadline:
            raise AssertionError(f"not true within {timeout} s: {predicate}")
        pause.wait(every)


async def until_loop(predicate: Callable[[], object], timeout: float = 5.0, every: float = 0.002) -> None:
    """As `until`, while the event loop runs on."""
    async with asyncio.timeout(timeout):
        while not predicate():
            await asyncio.sleep(every)
