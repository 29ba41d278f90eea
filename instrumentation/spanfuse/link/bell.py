"""A bell: wakes the one thread that waits at it.

Rule 1: ringing never waits and takes no lock of ours, so it may happen anywhere, in a finaliser too (an
Event would let a thread wait for itself there). Rule 2: many rings before the waiter comes are one.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue


class Bell:
    """Rung by any thread, heard by one."""

    __slots__ = ("_rings",)

    def __init__(self) -> None:
        self._rings: SimpleQueue[None] = SimpleQueue()

    def ring(self) -> None:
        """Wakes the waiter, or keeps it from falling asleep next time."""
        if self._rings.empty():
            self._rings.put(None)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits for a ring, at most `timeout` seconds (None: for ever); whether there was one."""
        try:
            self._rings.get(timeout=None if timeout is None else max(0.0, timeout))
        except Empty:
            return False
        return True
