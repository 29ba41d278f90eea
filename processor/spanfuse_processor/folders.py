"""Where this user's files lie on this machine (XDG): for the service, for applications and for commands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def state_folder(environment: Mapping[str, str] | None = None) -> Path:
    """What is to outlive a process and nobody has named a place for."""
    env = os.environ if environment is None else environment
    base = env.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "spanfuse"


def embedded_store(environment: Mapping[str, str] | None = None) -> Path:
    """The SQLite file in which applications that judge themselves keep their record."""
    return state_folder(environment) / "embedded.db"
