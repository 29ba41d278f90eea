"""How an application's gate answered, as plain data: how long answers took that were not given at once, and
what was answered while nobody could be asked.

Rule: counts are of one report and not told again; a report that is sent again keeps its number. `gate.py`
makes messages of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
"""Seconds: the upper ends of the buckets; one more is beyond all."""
DECISIONS: Final = ("allow", "deny", "defer")


class Waits(NamedTuple):
    """How many answers fell into each bucket, and how many seconds they took together."""

    counts: tuple[int, ...]
    seconds: float


class Blind(NamedTuple):
    """Answers that were given without anybody to ask."""

    allowed: int = 0
    denied: int = 0


class Answers(NamedTuple):
    """One report. `number` is 1 with the first of an application, and grows.

    `waits` are by decision, `blind` by agent.
    """

    number: int
    waits: Mapping[str, Waits]
    blind: Mapping[str, Blind]
