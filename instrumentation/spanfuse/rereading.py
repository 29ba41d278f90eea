"""The policy's file, looked at now and then: another one is obeyed, a bad one is said and left alone.

Rule 1: it is read by whoever lets time pass, never by a call of the application. Rule 2: it is read once it
has been still for one look. Rule 3: what is wrong with a file is logged once for each change of it: also
that it suddenly says nothing, or is gone.
"""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from spanfuse.errors import SettingsError
from spanfuse.settings import Settings, policy_of
from spanfuse_processor.engine.blank import EMPTY, GONE, is_blank
from spanfuse_processor.engine.policy import Policy

EVERY: Final = 3.0
"""Seconds between two looks, at least."""

_STAYS: Final = "config %s: %s; the policy before stays"
_log = logging.getLogger("spanfuse")


class PolicyFile:
    """The file that `settings` name; none, and it never changes. `clock` is a monotonic one."""

    def __init__(self, settings: Settings, clock: Callable[[], float], every: float = EVERY) -> None:
        self._settings = dataclasses.replace(settings, policy=None)
        self._clock = clock
        self._every = every
        self._due = clock() + every
        self._read = self._seen = self._stamp()
        self._spoke, self._gone = not self._blank(), False

    def changed(self) -> Policy | None:
        """The policy, when the file has changed; None: it has not, or says what cannot be obeyed."""
        if not self._settings.config or self._clock() < self._due:
            return None
        self._due = self._clock() + self._every
        stamp = self._stamp()
        still, self._seen = stamp == self._seen, stamp
        if stamp is None and still and not self._gone:
            _log.error(_STAYS, self._settings.config, GONE)
        self._gone = stamp is None and (still or self._gone)
        if stamp is None or stamp == self._read or not still:
            return None
        self._read = stamp
        return self._policy()

    def _policy(self) -> Policy | None:
        try:
            blank = self._blank()
            policy = policy_of(self._settings)
        except SettingsError as error:
            _log.error("%s; the policy before stays", error)
            return None
        if self._spoke and (blank or self._blank()):  # it may have been emptied while it was read
            _log.error(_STAYS, self._settings.config, EMPTY)
            return None
        self._spoke = not blank
        return policy

    def _blank(self) -> bool:
        """Whether there is a file that says nothing."""
        try:
            return is_blank(Path(self._settings.config).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            return False

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._settings.config)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
