"""The processor of the overshoot tests: the real service, with one strict budget of a dollar."""

from __future__ import annotations

from pathlib import Path

from tests.processes import Processor

POLICY = """
policy:
  budgets:
    daily: { usd: 1, strict: true, patience: 5s }
"""


def lender(folder: Path) -> Processor:
    """A service that keeps its money in `folder`; not started yet."""
    config = folder / "spanfuse.yaml"
    config.write_text(POLICY)
    return Processor(
        environment={
            "SPANFUSE_CONFIG": str(config),
            "SPANFUSE_STORE_PATH": str(folder / "money.db"),
            "XDG_STATE_HOME": str(folder),
            "SPANFUSE_LOG_LEVEL": "error",
        }
    )


def forget(folder: Path) -> None:
    """The store is lost."""
    for file in folder.glob("money.db*"):
        file.unlink()
