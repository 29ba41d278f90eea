"""Signs of life: the calls that are open, and the runs that say that they live.

Rule 1: a call that begins or ends, and a heartbeat, take no lock and read no clock, for they are many. Rule
2: most calls end before anybody need hear of them: agents are told at once, for depth is counted from them,
others when they have been open for a second; then all of them again and again, so that whoever is told no
more knows that nobody is left to tell, or to wait. Rule 3: bounded. It does not know who is told.
"""

from __future__ import annotations

from typing import Final

from spanfuse.host import Underway
from spanfuse_processor.engine.events import CallOpen, Heartbeat
from spanfuse_processor.engine.nouns import Instant, Kind

LIMIT: Final = 10_000
"""Calls, and runs with heartbeats, that are remembered at once; what comes beyond is told by its end only."""
SETTLED: Final = 1.0
"""Seconds after which a call that is not an agent is worth telling."""
AGAIN: Final = 10.0
"""Seconds between two tellings of one call."""
SPACING: Final = 2.0
"""Seconds between two tellings of heartbeats."""
AT_ONCE: Final = frozenset({Kind.AGENT, Kind.WORKFLOW})


class _Beat:
    """The latest heartbeat of a run."""

    __slots__ = ("at", "heartbeat")

    def __init__(self, heartbeat: Heartbeat, at: Instant) -> None:
        self.heartbeat = heartbeat
        self.at = at

    def told(self, now: Instant) -> Heartbeat:
        """As it is told now."""
        self.heartbeat.ago = max(0.0, now - self.at)
        return self.heartbeat


class Signs:
    """Those of this process. Signs come from any thread, one asks what is due."""

    def __init__(self) -> None:
        self._open: dict[bytes, Underway] = {}
        self._again: dict[bytes, Instant] = {}  # when those that were told are to be told again
        self._beats: dict[str, _Beat] = {}
        self._beats_due: Instant = 0.0

    def __len__(self) -> int:
        return len(self._open)

    def began(self, call: Underway) -> bool:
        """A call began. Whether it is to be told at once."""
        if len(self._open) >= LIMIT:
            return False
        self._open[call.span_id] = call
        return call.kind in AT_ONCE

    def ended(self, span_id: bytes) -> None:
        """A call ended, perhaps one that is not known here."""
        self._open.pop(span_id, None)
        if self._again:
            self._again.pop(span_id, None)

    def beat(self, heartbeat: Heartbeat, now: Instant) -> None:
        """A run says that it lives."""
        if len(self._beats) < LIMIT or heartbeat.run_id in self._beats:
            self._beats[heartbeat.run_id] = _Beat(heartbeat, now)

    def calls(self, now: Instant) -> list[CallOpen]:
        """Every open call that somebody waits for, oldest first."""
        return [call.told(now) for call in [*self._open.values()] if not call.resting]

    def due(self, now: Instant, limit: int) -> list[CallOpen | Heartbeat]:
        """What is to be told now: up to `limit` calls, then heartbeats. It counts as told."""
        return [*self.due_calls(now, limit), *self.due_beats(now)]

    def due_calls(self, now: Instant, limit: int) -> list[CallOpen]:
        """Up to `limit` calls that are to be told now, oldest first."""
        due = [call for call in [*self._open.values()] if not call.resting and self._due(call) <= now][:limit]
        for call in due:
            self._again[call.span_id] = now + AGAIN
            if call.span_id not in self._open:  # it ended this moment
                self._again.pop(call.span_id, None)
        return [call.told(now) for call in due]

    def due_beats(self, now: Instant) -> list[Heartbeat]:
        """The heartbeats that nobody has been told of."""
        if now < self._beats_due or not self._beats:
            return []
        beats, self._beats = self._beats, {}
        self._beats_due = now + SPACING
        return [beat.told(now) for beat in beats.values()]

    def _due(self, call: Underway) -> Instant:
        return self._again.get(call.span_id, call.began + (0.0 if call.kind in AT_ONCE else SETTLED))
