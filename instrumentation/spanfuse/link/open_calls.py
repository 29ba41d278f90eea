"""Calls that have begun and not ended, as far as a processor should know of them.

Rule 1: noting a start or an end takes no lock, for it happens on every call. Rule 2: most calls end before
anybody need hear of them: agents are told at once, for depth is counted from them, others when they have
been open for a second; then all of them again and again, as a sign of life. Rule 3: bounded.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.nouns import Instant, Kind

LIMIT: Final = 10_000
"""Calls that are remembered at once; what begins beyond is told by its end only."""
SETTLED: Final = 1.0
"""Seconds after which a call that is not an agent is worth telling."""
HEARTBEAT: Final = 10.0
"""Seconds between two tellings of one call."""
AT_ONCE: Final = frozenset({Kind.AGENT, Kind.WORKFLOW})


class _Open:
    """One call, and when it is to be told next."""

    __slots__ = ("due", "event")

    def __init__(self, event: CallStarted, due: Instant) -> None:
        self.event = event
        self.due = due


class OpenCalls:
    """The open calls of this process. Starts and ends come from any thread, `due` is asked by one."""

    def __init__(self) -> None:
        self._open: dict[bytes, _Open] = {}

    def __len__(self) -> int:
        return len(self._open)

    def began(self, event: CallStarted, now: Instant) -> bool:
        """A call began. Whether it is to be told at once."""
        if len(self._open) >= LIMIT:
            return False
        at_once = event.kind in AT_ONCE
        self._open[event.span_id] = _Open(event, now if at_once else now + SETTLED)
        return at_once

    def ended(self, span_id: bytes) -> None:
        """A call ended, perhaps one that is not known here."""
        self._open.pop(span_id, None)

    def all(self) -> list[CallStarted]:
        """Every open call, oldest first."""
        return [each.event for each in list(self._open.values())]

    def due(self, now: Instant, limit: int) -> list[CallStarted]:
        """Up to `limit` calls that are to be told now. They count as told, until the next heartbeat."""
        told = [each for each in list(self._open.values()) if each.due <= now][:limit]
        for each in told:
            each.due = now + HEARTBEAT
        return [each.event for each in told]
