"""The steps of a history, and what it knows beside the latest of them.

Rule 1: that is made when a step comes back, has noise or leaves the window; most runs are short and new all
along, and have none of it. It does not know how steps are compared.
"""

from __future__ import annotations

from typing import NamedTuple

from spanfuse_processor.engine.lanes.keys import Keys
from spanfuse_processor.engine.marks import Marks


class Step(NamedTuple):
    """One call in a history. `idle_ns` is for how long the agent had had no call open when it began."""

    name: str
    waits: bool
    failed: bool
    started_ns: int
    ended_ns: int
    idle_ns: int
    span_id: bytes


class Past:
    """What there is beside the latest steps. Attributes:

    counts: by period, what was counted for each of the ways to be equal.
    forgiven: calls that were left out, since something was new or a turn began.
    gone: how many steps left the window.
    noisy: keys of the steps that have noise, by their number from 0.
    seen: what left the window.
    stale: how many calls in a row brought nothing new.
    steps: those in the window, unpacked, while somebody looks.
    """

    __slots__ = ("counts", "forgiven", "gone", "noisy", "seen", "stale", "steps")

    def __init__(self) -> None:
        self.counts: dict[int, tuple[int, ...]] | None = None
        self.gone = self.stale = self.forgiven = 0
        self.noisy: dict[int, Keys] | None = None
        self.seen: Marks | None = None
        self.steps: list[Step] | None = None
