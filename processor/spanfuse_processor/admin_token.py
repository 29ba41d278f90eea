"""Where the operator's token lies when nobody configured one: a file that only its owner may read.

Rule 1: the service makes a fresh token at each start and writes it once its ports are its own; commands of
the same user find it by the HTTP port. Rule 2: the file is 0600 from its first byte. Which path it is,
`config_loading.py` says.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def fresh() -> str:
    """A new token."""
    return secrets.token_urlsafe(24)


def publish(path: Path, token: str) -> None:
    """Leaves the token at `path`; raises OSError when it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(token)
    beside.replace(path)


def withdraw(path: Path, token: str) -> None:
    """Removes the file, unless another service has put its own token there since."""
    with contextlib.suppress(OSError):
        if path.read_text() == token:
            path.unlink()


def find(path: Path) -> str:
    """The token at `path`, empty when there is none that we may read."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""
