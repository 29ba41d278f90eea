"""Child processes of the demo: started, listened to line by line, and ended whatever happens.

Rule 1: a child is ended by its own id, first politely, then not. Rule 2: children live in sessions of their
own, so that Ctrl-C reaches the runner alone, which ends them. Rule 3: every wait is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import IO, Any

GRACE = 3.0
"""Seconds that a child has to end by itself once it is told to."""

Event = dict[str, Any]


class ChildFailed(Exception):
    """A child did not do what it was started for; the message has the end of what it wrote."""


class Child:
    """One process. Its standard output is one JSON object a line: its events."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, errors: IO[bytes]) -> None:
        self.name = name
        self._process = process
        self._errors = errors

    @property
    def running(self) -> bool:
        """False once the process has ended."""
        return self._process.returncode is None

    async def expect(self, event: str, timeout: float) -> Event:
        """The next event of that name; others before it are dropped.

        Raises:
            ChildFailed: the child ended, or said nothing of the kind in `timeout` seconds.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                async for each in self.events():
                    if each["event"] == event:
                        return each
        raise ChildFailed(f"{self.name} never said '{event}': {self.last_words()}")

    async def events(self) -> AsyncIterator[Event]:
        """What the child says from now on, until its output closes."""
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            yield json.loads(line)

    async def order(self, text: str) -> None:
        """Writes one line to the child's standard input; a child that has ended hears nothing."""
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError):
            self._process.stdin.write(text.encode() + b"\n")
            await self._process.stdin.drain()

    async def end(self) -> None:
        """Ends the process and waits for it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        for step in (self._process.terminate, self._process.kill):
            if self.running:
                with contextlib.suppress(ProcessLookupError):
                    step()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    await self._process.wait()
                    break
        self._errors.close()

    def last_words(self, size: int = 2_000) -> str:
        """The end of what the child wrote to standard error."""
        length = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, length - size))
        return self._errors.read().decode(errors="replace").strip() or "(it wrote nothing)"


class Troupe:
    """All children of one demo; leaving the context ends them, the youngest first."""

    def __init__(self) -> None:
        self._stack = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Troupe:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._stack.aclose()

    async def start(self, name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Child:
        """Starts `python ARGUMENTS` in a session of its own."""
        errors = tempfile.TemporaryFile()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            env=dict(environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        child = Child(name, process, errors)
        self._stack.push_async_callback(child.end)
        return child


def free_ports(count: int) -> list[int]:
    """Ports of loopback that are free now. They are let go again: another process may be quicker to one."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in held]
