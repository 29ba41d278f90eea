"""Real database servers on loopback, each in a folder of its own, ended by pid at the end of the block."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
from tests.processes import free_port
from tests.waiting import until

POSTGRES_USER = "postgres"
"""Whom Debian's package makes. Postgres refuses to run as root."""


@dataclass
class Server:
    """A server's process, which may be ended and started again."""

    command: Sequence[str]
    port: int
    greet: Callable[[int], object]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it and returns when it takes connections."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self.answers, timeout=30.0, every=0.02)

    def answers(self) -> bool:
        """Whether it takes connections; fails when it has ended."""
        assert self.process is not None
        assert self.process.poll() is None, f"{self.command[0]} ended with {self.process.returncode}"
        with contextlib.suppress(OSError, psycopg.OperationalError):
            self.greet(self.port)
            return True
        return False

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to it."""
        assert self.process is not None
        self.process.send_signal(number)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """Ends it, whatever state it is in."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(number)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


def program(name: str, package: str) -> str:
    """The path of a server's program; a machine without it fails the tests, it does not skip them."""
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: path.parts[4])
    found = shutil.which(name) or (str(debian[-1]) if debian else "")
    assert found, f"{name} is not installed: apt-get install {package}, or scripts/database_servers.sh"
    return found


@contextlib.contextmanager
def redis_server() -> Iterator[Server]:
    """A Redis without a disk."""
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with tempfile.TemporaryDirectory() as folder:
        command = [program("redis-server", "redis-server"), *options, "--dir", folder]
        server = Server(command, port, _greet_socket)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def postgres_server() -> Iterator[Server]:
    """A Postgres whose database, user and (absent) password are its own."""
    with tempfile.TemporaryDirectory() as folder:
        as_whom = _not_as_root(Path(folder))
        data, port = f"{folder}/data", free_port()
        make = ["--pgdata", data, "--auth=trust", "--username=spanfuse", "--no-sync", "--no-locale"]
        command = [*as_whom, program("initdb", "postgresql"), *make, "--encoding=UTF8"]
        subprocess.run(command, check=True, timeout=60, stdout=subprocess.DEVNULL, cwd=folder)
        options = ["-D", data, "-p", str(port), "-c", "fsync=off", "-c", "listen_addresses=127.0.0.1"]
        sockets = ["-c", f"unix_socket_directories={folder}"]
        command = [*as_whom, program("postgres", "postgresql"), *options, *sockets]
        server = Server(command, port, _greet_postgres)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _greet_socket(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), 1).close()


def _greet_postgres(port: int) -> None:
    psycopg.connect(f"postgresql://spanfuse@127.0.0.1:{port}/postgres", connect_timeout=2).close()


def _not_as_root(folder: Path) -> list[str]:
    """What goes before a command so that Postgres is not run by root."""
    if os.geteuid() != 0:
        return []
    user = pwd.getpwnam(POSTGRES_USER)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]
