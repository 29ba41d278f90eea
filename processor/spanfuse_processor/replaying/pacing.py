"""The time of a recording, and what falls due in it.

Rule 1: it is the latest that was told, and never goes back. Rule 2: what falls due between two events is done
in its order and at its own time, not when the next event comes. Rule 3: nothing is assumed after the last
event. It does not know what is due.
"""

from __future__ import annotations

from typing import Final, Protocol

from spanfuse_processor.engine import Instant

NS: Final = 1_000_000_000


class Timed(Protocol):
    """What has to be told that time passes: an engine."""

    def next_deadline(self) -> Instant | None:
        """When it has to be told next."""

    def advance(self, now: Instant) -> object:
        """Time has come to `now`."""


class Pace:
    """Takes something timed from event to event. `now` is in seconds."""

    def __init__(self, timed: Timed) -> None:
        self.now: Instant = 0.0
        self._timed = timed
        self._now_ns = 0

    def turn_to(self, time_ns: int) -> Instant:
        """The time of an event: whatever is due by then is done first. Returns the time that it is now."""
        if time_ns <= self._now_ns:
            return self.now
        until, timed = time_ns / NS, self._timed
        due = timed.next_deadline()
        while due is not None and due <= until:
            before = self.now
            self.now = max(before, due)
            timed.advance(self.now)
            due = timed.next_deadline()
            if due is not None and due <= self.now == before:  # it stays due: as good as at the event itself
                timed.advance(until)
                break
        self._now_ns, self.now = time_ns, until
        return until
