"""Rows and entries for the tests of stores."""

from __future__ import annotations

from typing import Any

from spanfuse_processor.engine.budget import Account, Measure
from spanfuse_processor.engine.budgets.journal import Change, Entry
from spanfuse_processor.store import EventRow, SnapshotRow, StepRow

NOON = 1_780_000_000.0
"""A Thursday, 2026-05-28 20:26:40 UTC."""


def call(number: int, /, ended: float = NOON, **fields: Any) -> StepRow:
    """A call of 100+10 tokens for 0.001 USD."""
    usual: dict[str, Any] = {"kind": "model", "input_tokens": 100, "output_tokens": 10, "cost": 1_000}
    return StepRow("ab" * 16, f"{number:016x}", ended, **usual | fields)


def happened(number: int, at: float = NOON, **fields: Any) -> EventRow:
    """An event."""
    return EventRow(f"event-{number}", at, **{"kind": "trip", **fields})


def taken(number: int, at: float = NOON, **fields: Any) -> SnapshotRow:
    """The snapshot that belongs to an event."""
    return SnapshotRow(f"event-{number}", at, **{"run": "r", "body": '{"version": 1}', **fields})


def entry(number: int, amount: int = 1_000, wall: float = NOON) -> Entry:
    """A charge to an account of its own user."""
    account = Account("daily", ("ann",))
    key = number.to_bytes(8, "big")
    return Entry(number, key, account, amount, Measure.USD, wall, Change.CHARGE, total=amount)


def entries(*numbers: int) -> list[Entry]:
    """Several."""
    return [entry(number) for number in numbers]
