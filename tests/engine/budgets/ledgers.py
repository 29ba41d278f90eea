"""Ledgers, payers and moments for the tests of budgets."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from spanfuse_processor.engine.budget import Account, Amounts, Budget
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer

NOON = 1_780_000_000.0 // 86_400 * 86_400 + 43_200  # of a day in UTC
DAY = 86_400.0
CHAT = Payer(feature="chat", user="ann", model="gpt-4o", run="r1")
DAILY = Account("daily")


def at(zone: str, text: str, fold: int = 0) -> float:
    """A moment, by a clock on the wall: `at("Europe/Berlin", "2026-03-29 03:30")`."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def usd(amount: int) -> Amounts:
    return Amounts(amount, 0)


def ledger(*budgets: Budget, wall: float = NOON, journal: int = 0) -> Ledger:
    """Of these budgets, or of a strict one of 100 a day."""
    return Ledger(budgets or (Budget("daily", 100, strict=True),), wall, journal=journal)
