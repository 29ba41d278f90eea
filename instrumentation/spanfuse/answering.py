"""How the gate answered where that took time, and where nobody could be asked: figures for the processor.

Rule 1: a call that is answered at once costs nothing here. Rule 2: what is counted is handed out once, in
numbered reports; agents are bounded. Any thread may call. It does not know what was decided for which call.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from typing import Final

from spanfuse_processor.wire.answers import BOUNDS, Answers, Blind, Waits

AGENTS: Final = 50
"""Agents that are counted apart in one report; others go without a name."""


class Answering:
    """Counts."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # the collector may end a call in the middle of anything
        self._reports = 0
        self._begin()

    def took(self, decision: str, seconds: float) -> None:
        """An answer, one of DECISIONS, took so long."""
        with self._lock:
            counts = self._counts.setdefault(decision, [0] * (len(BOUNDS) + 1))
            counts[bisect_left(BOUNDS, seconds)] += 1
            self._seconds[decision] = self._seconds.get(decision, 0.0) + seconds

    def blindly(self, agent: str, *, allowed: bool) -> None:
        """A call of an agent was let through, or not, for want of anybody to ask."""
        with self._lock:
            if agent not in self._blind and len(self._blind) >= AGENTS:
                agent = ""
            before = self._blind.get(agent, Blind())
            self._blind[agent] = Blind(before.allowed + allowed, before.denied + (not allowed))

    def take(self) -> Answers | None:
        """What was counted since the last time, None: nothing."""
        with self._lock:
            if not self._counts and not self._blind:
                return None
            self._reports += 1
            waits = {name: Waits(tuple(each), self._seconds[name]) for name, each in self._counts.items()}
            answers = Answers(self._reports, waits, self._blind)
            self._begin()
        return answers

    def _begin(self) -> None:
        self._counts: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}
        self._blind: dict[str, Blind] = {}
