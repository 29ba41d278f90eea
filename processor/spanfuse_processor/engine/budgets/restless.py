"""The accounts of which time alone may change what is done, and when to look at them again.

Rule 1: only what is due is looked at, however many there are. Rule 2: an account is looked at when it is due
at the latest, perhaps before. It does not know what changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import Final

from spanfuse_processor.engine.budget import Account

_SLACK: Final = 64
"""Outdated entries that are not worth a rebuild."""


class Restless:
    """Accounts, each with the wall time when it is due."""

    __slots__ = ("_due", "_queue")

    def __init__(self) -> None:
        self._due: dict[Account, float] = {}
        self._queue: list[tuple[float, Account]] = []

    def __contains__(self, account: object) -> bool:
        return account in self._due

    def __len__(self) -> int:
        return len(self._due)

    def note(self, account: Account, due: float, wall: float) -> None:
        """Is to be looked at when it is due; where it was to be looked at before that, then."""
        known = self._due.get(account)
        if known is not None and wall < known <= due:
            return
        self._due[account] = due
        heappush(self._queue, (due, account))
        if len(self._queue) > 2 * len(self._due) + _SLACK:
            self._queue = [(when, each) for each, when in self._due.items()]
            heapify(self._queue)

    def forget(self, accounts: Iterable[Account]) -> None:
        """Time changes nothing of these."""
        for account in accounts:
            self._due.pop(account, None)

    def take(self, wall: float) -> list[Account]:
        """Those that are due, soonest first; each is to be noted anew, or forgotten."""
        due = []
        while self.soonest() <= wall:
            _, account = heappop(self._queue)
            due.append(account)
            self._due[account] = wall
        return due

    def soonest(self) -> float:
        """When the first is due; `inf`: none ever."""
        queue = self._queue
        while queue and self._due.get(queue[0][1]) != queue[0][0]:
            heappop(queue)
        return queue[0][0] if queue else math.inf
