"""What is said of a destination, in the log: that it is away, that it is back, what it does not take.

Rule: a line of each kind at most once a minute, with how often it happened since the one before. Any thread
may call. It does not know what is done about it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from spanfuse_processor.telemetry import log

QUIET: Final = 60.0
"""Seconds between two lines of a kind."""


class News:
    """Of one destination. `now` is the clock that it goes by."""

    def __init__(self, name: str, now: Callable[[], float]) -> None:
        self._name = name
        self._now = now
        self._lock = threading.Lock()
        self._said: dict[str, float] = {}
        self._times: dict[str, int] = {}
        self._away_since: float | None = None
        self._told = False

    def away(self, words: str, waiting: int) -> None:
        """It did not take a request, which is sent again; so many bytes wait."""
        with self._lock:
            if self._away_since is None:
                self._away_since, self._told = self._now(), False
            if self._told or not self._due("away"):
                return
            self._told = True
        sentence = "a destination does not take spans: they wait and are sent again"
        log.say(logging.WARNING, sentence, destination=self._name, reason=words, waiting=waiting)

    def well(self, rejected: int = 0, words: str = "") -> None:
        """It took a request, but for so many of its spans."""
        if self._away_since is not None:
            self._is_back()
        if rejected:
            self._say("a destination does not take all spans of a request", rejected, words)

    def refused(self, words: str) -> None:
        """It will never take a request."""
        if self._away_since is not None:
            self._is_back()
        self._say("a destination refused requests for good", 1, words)

    def dropped(self, count: int, words: str) -> None:
        """So many requests were let go."""
        self._say("requests were not forwarded", count, words)

    def _is_back(self) -> None:
        with self._lock:
            since, told = self._away_since, self._told
            self._away_since = None
        if since is not None and told:
            seconds = round(self._now() - since, 1)
            log.say(logging.WARNING, "the destination is back", destination=self._name, seconds=seconds)

    def _say(self, sentence: str, count: int, words: str) -> None:
        with self._lock:
            self._times[sentence] = self._times.get(sentence, 0) + count
            if not self._due(sentence):
                return
            times = self._times.pop(sentence)
        log.say(logging.WARNING, sentence, destination=self._name, reason=words, count=times)

    def _due(self, kind: str) -> bool:
        now = self._now()
        if now - self._said.get(kind, float("-inf")) < QUIET:
            return False
        self._said[kind] = now
        return True
