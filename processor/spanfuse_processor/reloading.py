"""The configuration file, watched: a changed one is read, checked, and obeyed or refused as a whole.

Rule 1: it is looked at, and read, off the loop; what is obeyed changes on it. Rule 2: a file that cannot be
obeyed is refused with file, line and field, and what was obeyed stays; so is one that suddenly says nothing.
Rule 3: a file is read once it has
been still for one look, so that none is read while it is being written. Only the policy changes while the
service runs: of other sections that differ it is said that they need a restart.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from spanfuse_processor.clock import Clock
from spanfuse_processor.config import Config
from spanfuse_processor.config_loading import ConfigError
from spanfuse_processor.engine.blank import EMPTY, GONE, is_blank
from spanfuse_processor.engine.policy import PolicyError
from spanfuse_processor.telemetry import log

LOOK_EVERY: Final = 1.0
"""Seconds between two looks."""
OUTCOMES: Final = ("applied", "refused")
STAYS: Final = "configuration refused; the one before stays"

Stamp = tuple[int, int, int] | None
"""What tells that a file has changed: when it was written, its size, which one it is; None: there is none."""


class Reloader:
    """Watches one file.

    Args:
        path: the file.
        config: what was read of it at the start.
        load: reads it; raises ConfigError.
        obey: takes a policy up, on the loop; raises PolicyError, and then nothing has changed.
        clock: stamps what succeeded.
        every: seconds between two looks.

    Attributes:
        counts: attempts, by outcome.
        last: whether the last attempt succeeded, and when one last did (wall time).
    """

    def __init__(
        self,
        path: Path,
        config: Config,
        load: Callable[[], Config],
        obey: Callable[[Config], None],
        clock: Clock,
        every: float = LOOK_EVERY,
    ) -> None:
        self._path = path
        self._started = config
        self._load = load
        self._obey = obey
        self._clock = clock
        self._every = every
        self._read = self._seen = stamp_of(path)
        self._spoke, self._gone = not _blank(path), False
        self._asked = asyncio.Event()
        self.counts = dict.fromkeys(OUTCOMES, 0)
        self.last = (True, clock.wall_ns() / 1e9)

    def ask(self) -> None:
        """Has the file read now, changed or not. On the loop's own thread."""
        self._asked.set()

    async def run(self) -> None:
        """Watches until it is cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._asked.wait()
            await self.look()

    async def look(self) -> None:
        """Looks once; reads the file when it has changed and is still, or when it was asked to."""
        asked = self._asked.is_set()
        self._asked.clear()
        stamp = await asyncio.to_thread(stamp_of, self._path)
        still, self._seen = stamp == self._seen, stamp
        if stamp is None and still and not self._gone:
            log.say(logging.ERROR, STAYS, file=str(self._path), line=0, problem=GONE)
        self._gone = stamp is None and (still or self._gone)
        if asked or (stamp is not None and stamp != self._read and still):
            self._read = stamp
            await self._reload()

    async def _reload(self) -> None:
        try:
            config = await asyncio.to_thread(self._taken)
            self._obey(config)
        except ConfigError as error:
            self._refused(file=error.source, line=error.line, problem=error.problem)
        except PolicyError as error:
            self._refused(file=str(self._path), line=0, problem=str(error))
        except Exception as error:
            self._refused(file=str(self._path), line=0, problem=repr(error))
        else:
            self._spoke = not await asyncio.to_thread(_blank, self._path)
            self.counts["applied"] += 1
            self.last = (True, self._clock.wall_ns() / 1e9)
            log.say(logging.WARNING, "policy reloaded", file=str(self._path))
            if waiting := needing_a_restart(self._started, config):
                log.say(logging.WARNING, "these sections need a restart", sections=",".join(waiting))

    def _taken(self) -> Config:
        """What the file says; it may be emptied while it is read."""
        self._refuse_blank()
        config = self._load()
        self._refuse_blank()
        return config

    def _refuse_blank(self) -> None:
        if self._spoke and _blank(self._path):
            raise ConfigError(str(self._path), 0, EMPTY)

    def _refused(self, **said: object) -> None:
        self.counts["refused"] += 1
        self.last = (False, self.last[1])
        log.say(logging.ERROR, STAYS, **said)


def stamp_of(path: Path) -> Stamp:
    """The stamp of a file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _blank(path: Path) -> bool:
    """Whether there is a file that says nothing."""
    try:
        return is_blank(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return False


def needing_a_restart(one: Config, other: Config) -> list[str]:
    """The sections in which two configurations differ, the policy apart.

    >>> needing_a_restart(Config(), Config(fingerprint_key="secret"))
    ['fingerprint_key']
    """
    names = (each.name for each in dataclasses.fields(Config) if each.name != "policy")
    return [name for name in names if getattr(one, name) != getattr(other, name)]
