"""Programs of the stack: found on this machine, started as processes of their own, ended by their ids.

Rule 1: a program that is missing is an error that names the script which installs it; nothing is skipped.
Rule 2: what was started is ended, the youngest first, whatever happens; nothing else is. Rule 3: each writes
into a log of its own, and an error shows its end. It does not know what they are for.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.waiting import until

ROOT = Path(__file__).parents[2]
BUILT = ROOT / ".stack" / "bin"
READY_WITHIN = 60.0
"""Seconds that a program has to get ready, on a small and busy machine."""
GRACE = 15.0
"""Seconds that it has to end by itself once it is told to."""


class Missing(Exception):
    """A program is not on this machine."""


class Failed(Exception):
    """A program did not get ready; the message has the end of what it wrote."""


def find(*names: str) -> str:
    """The path of a program, by the first of its names that is known here.

    Raises:
        Missing: there is none.
    """
    for name in names:
        debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: path.parts[4])
        built = BUILT / name
        found = str(built) if built.exists() else shutil.which(name) or (str(debian[-1]) if debian else "")
        if found:
            return found
    raise Missing(f"{names[0]} is not installed: run scripts/stack_programs.sh")


@dataclass(frozen=True, slots=True)
class Program:
    """How to start one: `ready` says whether it does its work; it may raise OSError while it does not."""

    name: str
    command: Sequence[str]
    ready: Callable[[], bool]
    environment: Mapping[str, str]
    stop_with: signal.Signals = signal.SIGTERM


@dataclass(slots=True)
class Running:
    """A program that was started."""

    program: Program
    process: subprocess.Popen[bytes]
    log: Path

    def last_words(self, size: int = 3_000) -> str:
        """The end of what it wrote."""
        return self.log.read_bytes()[-size:].decode(errors="replace").strip() or "(it wrote nothing)"

    def is_ready(self) -> bool:
        """Whether it does its work.

        Raises:
            Failed: it has ended.
        """
        if self.process.poll() is not None:
            code = self.process.returncode
            raise Failed(f"{self.program.name} ended with {code}: {self.last_words()}")
        with contextlib.suppress(OSError):
            return self.program.ready()
        return False

    def stop(self) -> None:
        """Ends it, politely first, and waits for it."""
        for number in (self.program.stop_with, signal.SIGKILL):
            if self.process.poll() is None:
                self.process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(GRACE)


class Troupe:
    """All that was started; leaving the context ends them. Their logs are in `logs`."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._running: list[Running] = []

    def __enter__(self) -> Self:
        self._logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._running:
            self._running.pop().stop()

    def start(self, program: Program) -> Running:
        """Starts one and returns when it is ready. In a session of its own: Ctrl-C reaches us alone.

        Raises:
            Failed: it ended, or did not get ready in time.
        """
        running = self.launch(program)
        try:
            until(running.is_ready, READY_WITHIN, every=0.05)
        except AssertionError:
            raise Failed(f"{program.name} is not ready: {running.last_words()}") from None
        return running

    def launch(self, program: Program) -> Running:
        """Starts one and does not wait for it."""
        log = self._logs / f"{program.name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                program.command,
                env={**os.environ, **program.environment},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        running = Running(program, process, log)
        self._running.append(running)
        return running

    def ended(self) -> Running | None:
        """One that has ended though nobody told it to."""
        return next((each for each in self._running if each.process.poll() is not None), None)


def answers(url: str) -> bool:
    """Whether a GET is answered with 200, never through a proxy. Raises OSError while nobody listens."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=2.0) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False
