"""The page's keeper, in the service: begins the process that serves it, answers it, replaces it when it dies.

Rule 1: the socket that scrapers come to is the service's: it is bound before anything is served, and while a
process dies and the next begins, scrapers wait. Rule 2: rows are handed over in slices, and the loop is free
between them. Rule 3: without such a process the service runs on and says so; it tries again and again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Final

from spanfuse_processor.telemetry import log
from spanfuse_processor.telemetry.exposition.slices import ASK, END, FAILED, slices
from spanfuse_processor.telemetry.tally import Row
from spanfuse_processor.wire.backoff import Backoff, Patience

PAUSE: Final = 0.001
"""Seconds between two slices."""
NICENESS: Final = 10
"""Of the process: everybody else on the machine goes first."""
ENDING: Final = 2.0
"""Seconds that the process may take to end."""
PATIENCE: Final = Patience(first=0.1, quick=1.0, longest=30.0)
_BEGIN: Final = (
    "import os, sys; os.nice({niceness}); sys.path[:] = {path!r}; "
    "from spanfuse_processor.telemetry.exposition.server import main; "
    "main({listening}, {control}, {cert!r}, {key!r})"
)

Rows = Callable[[], Iterator[Row]]
OnFault = Callable[[str, BaseException], None]


class Page:
    """Keeps the page.

    Args:
        listening: where scrapers come to; it is closed with the page.
        rows: what is shown; asked for on the loop.
        on_fault: hears of what that raises.
        files: of the certificate and its key, where there is one.
    """

    def __init__(
        self, listening: socket.socket, rows: Rows, on_fault: OnFault, files: tuple[str, str] = ("", "")
    ) -> None:
        self._listening = listening
        self._rows = rows
        self._on_fault = on_fault
        self._files = files
        self._task: asyncio.Task[None] | None = None
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begins; on the loop."""
        self._task = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Ends the process and closes the socket."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        self._listening.close()

    async def _keep(self) -> None:
        backoff, now = Backoff(PATIENCE), asyncio.get_running_loop().time
        while True:
            began = now()
            try:
                problem = f"its process ended with {await self._serve()}"
            except OSError as error:
                problem = f"it has no process: {error.strerror or error}"
            log.say(logging.WARNING, "the page of metrics is not served; another try", problem=problem)
            if now() - began > PATIENCE.good:
                backoff.reset()
            await asyncio.sleep(backoff.delay(now(), random.random()))

    async def _serve(self) -> int:
        """Begins a process and answers it until it ends. Returns its exit code."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with ours:
            with theirs:
                process = self.process = self._begin(theirs)
            try:
                with contextlib.suppress(ConnectionError):
                    await self._answer(ours)
            finally:
                ours.close()  # which it ends by
                await _ended(process)
        return process.returncode

    def _begin(self, control: socket.socket) -> subprocess.Popen[bytes]:
        cert, key = self._files
        handed = {"listening": self._listening.fileno(), "control": control.fileno()}
        code = _BEGIN.format(niceness=NICENESS, path=sys.path, cert=cert, key=key, **handed)
        return subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.DEVNULL,
            pass_fds=list(handed.values()),
            start_new_session=True,  # what a terminal sends is for the service
        )

    async def _answer(self, ours: socket.socket) -> None:
        """Answers until the other end is closed."""
        loop = asyncio.get_running_loop()
        while asked := await loop.sock_recv(ours, 64):
            for _ in range(asked.count(ASK)):
                try:
                    for part in slices(self._rows()):
                        await loop.sock_sendall(ours, part)
                        await asyncio.sleep(PAUSE)
                except ConnectionError:
                    raise
                except Exception as error:
                    self._on_fault("metrics", error)
                    await loop.sock_sendall(ours, FAILED)
                else:
                    await loop.sock_sendall(ours, END)


async def _ended(process: subprocess.Popen[bytes]) -> None:
    """Waits for it a little, then ends it."""
    try:
        await asyncio.to_thread(process.wait, ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        await asyncio.to_thread(process.wait)
