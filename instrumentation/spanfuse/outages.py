"""What is said of a store that cannot be used: once when that begins, once when it is over.

Rule 1: one failure is none: of many processes that open a new file at once, some find it locked. Rule 2: one
that comes and goes is told of once a minute. Rule 3: no password is written. Any thread may call. It does not
know what is kept.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from spanfuse_processor.store import RowsRefused
from spanfuse_processor.storing import reason, shown

QUIET: Final = 60.0
"""Seconds between two lines of a kind about a store."""

_log = logging.getLogger("spanfuse")


class Outage:
    """Of one store. `cost` says what it means, for a person."""

    def __init__(self, url: str, cost: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._cost = cost
        self._clock = clock
        self._said: dict[str, float] = {}
        self._failures = 0
        self._stands = False

    def failed(self, error: BaseException) -> None:
        """It could not be used, or could not hold a row."""
        if isinstance(error, RowsRefused):
            self._say("refused", "%s cannot hold a row, which is left out (%s)", error)
            return
        self._failures += 1
        if self._failures > 1 and not self._stands:
            self._stands = self._say(
                "away", f"%s cannot be used, and is tried again: {self._cost} (%s)", error
            )

    def back(self) -> None:
        """It could be used again."""
        self._failures = 0
        if self._stands:
            self._stands = False
            _log.warning("%s can be used again", shown(self._url))

    def _say(self, kind: str, sentence: str, error: BaseException) -> bool:
        now = self._clock()
        if now - self._said.get(kind, float("-inf")) < QUIET:
            return False
        self._said[kind] = now
        _log.warning(sentence, shown(self._url), reason(error, self._url))
        return True
