"""Postgres and Redis of the stack, from deploy/postgres/roles.sql and deploy/redis.conf.

Rule 1: passwords go by the environment, or in files that only their owner reads; never as arguments. Rule 2:
a folder that has a database already keeps it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

import psycopg
from tests.stack.programs import ROOT, Program, Troupe, find

SERVER_USER = "postgres"
"""Whom Debian's package makes. Postgres refuses to run as root."""


def postgres(troupe: Troupe, folder: Path, port: int, secrets: Mapping[str, str]) -> None:
    """Starts Postgres; a new one gets the roles and the database of roles.sql."""
    whom, data = _not_as_root(folder), folder / "data"
    fresh = not data.exists()
    if fresh:
        _make(whom, folder, data, secrets["POSTGRES_PASSWORD"])
    options = ["-D", str(data), "-p", str(port), "-c", "listen_addresses=127.0.0.1"]
    options += ["-c", f"unix_socket_directories={folder}"]
    admin = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"

    def ready() -> bool:
        try:
            psycopg.connect(admin, password=secrets["POSTGRES_PASSWORD"], connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    command = [*whom, find("postgres"), *options]
    troupe.start(Program("postgres", command, ready, {}, stop_with=signal.SIGINT))
    if fresh:
        command = [
            find("psql"),
            "--no-psqlrc",
            "--quiet",
            "-f",
            str(ROOT / "deploy/postgres/roles.sql"),
            admin,
        ]
        known = {**os.environ, **secrets, "PGPASSWORD": secrets["POSTGRES_PASSWORD"]}
        subprocess.run(command, check=True, env=known, timeout=60)


def _make(whom: list[str], folder: Path, data: Path, password: str) -> None:
    file = folder / "password"
    file.touch(mode=0o600)
    file.write_text(password)
    if whom:
        shutil.chown(file, SERVER_USER)
    how = [
        "--username=postgres",
        f"--pwfile={file}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--no-locale",
    ]
    command = [*whom, find("initdb"), f"--pgdata={data}", *how]
    subprocess.run(command, check=True, timeout=120, stdout=subprocess.DEVNULL, cwd=folder)
    file.unlink()


def _not_as_root(folder: Path) -> list[str]:
    """Makes the server's folder. Returns what goes before a command so that it is not run by root."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0:
        return []
    user = pwd.getpwnam(SERVER_USER)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]


def redis(troupe: Troupe, folder: Path, port: int, password: str) -> None:
    """Starts Redis with redis.conf, its port and its password behind it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "redis.conf"
    file.touch(mode=0o600)
    own = f"\nbind 127.0.0.1\nport {port}\ndir {folder}\nrequirepass {password}\n"
    file.write_text((ROOT / "deploy/redis.conf").read_text() + own)

    def ready() -> bool:
        with socket.create_connection(("127.0.0.1", port), 2) as connection:
            connection.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            answers = connection.makefile("rb")
            return (answers.readline(), answers.readline()) == (b"+OK\r\n", b"+PONG\r\n")

    troupe.start(Program("redis", [find("redis-server"), str(file)], ready, {}))
