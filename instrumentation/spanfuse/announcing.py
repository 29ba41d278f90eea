"""What happens to budgets, told to the application: a line in its log, and its own callback.

Rule 1: whoever brings an event only leaves it: it is told on a thread of ours, never on that of a call.
Rule 2: what waits is bounded, the oldest goes first. Rule 3: a callback that fails is ours to bear: it is
counted and logged, and called again the next time.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from spanfuse.guard import fault
from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.budget import Reaction

WAITING: Final = 1_000
"""Events that may wait."""

_log = logging.getLogger("spanfuse")


class Announcer:
    """Tells `on_event`, and `ring`s when there is something to tell."""

    def __init__(self, on_event: Callable[[BudgetEvent], object] | None, ring: Callable[[], object]) -> None:
        self._on_event = on_event
        self._ring = ring
        self._events: deque[BudgetEvent] = deque(maxlen=WAITING)

    def put(self, event: BudgetEvent) -> None:
        """Leaves an event to be told."""
        self._events.append(event)
        self._ring()

    def deliver(self) -> None:
        """Tells what waits."""
        while self._events:
            event = self._events.popleft()
            level = logging.INFO if event.reaction is Reaction.WARN else logging.WARNING
            _log.log(level, "%s", event.words())
            if self._on_event is not None:
                try:
                    self._on_event(event)
                except Exception as error:
                    fault("on_event", error)
