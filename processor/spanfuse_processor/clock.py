"""The clocks of the service: the only file of it that reads time.

`monotonic` orders waiting (cool-downs, TTLs, evictions), `wall_ns` stamps what people read; never mixed.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two kinds of time."""

    def monotonic(self) -> float:
        """Seconds that never go back, for waiting."""

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch, for stamps."""


class SystemClock:
    """The machine's clocks."""

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def wall_ns(self) -> int:
        """Nanoseconds since the epoch."""
        return time.time_ns()
