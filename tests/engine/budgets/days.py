"""A treasury whose day goes by as a test says, and what it said."""

from __future__ import annotations

from spanfuse_processor.engine.alerts import Notice
from spanfuse_processor.engine.budget import Amounts, Budget, Mark, Period, Reaction
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.treasury import Spend, Treasury

MIDNIGHT = 1_700_006_400.0  # a day begins, in UTC
HOUR = 3_600.0
SLOWING = (Mark(0.5), Mark(0.8, Reaction.THROTTLE), Mark(1.0, Reaction.STOP))
DAILY = Budget("daily", 10_000_000)
HOURLY = Budget("hourly", 1_000_000, period=Period.HOURLY)


class Day:
    """A treasury, and what it said so far."""

    def __init__(self, *budgets: Budget, wall: float = MIDNIGHT) -> None:
        self.budgets = budgets
        self.treasury = Treasury(budgets, wall)
        self.wall = wall
        self.notes: list[Notice] = []
        self.calls = 0

    def spend(self, usd: float, after: float = 1.0, **payer: str) -> list[Notice]:
        self.wall += after
        self.calls += 1
        key = self.calls.to_bytes(8, "big")
        amounts = Amounts(round(usd * 1_000_000), 100)
        said = self.treasury.charge(Spend(key, Payer(**payer), amounts, self.wall, span_id=key), self.wall)
        self.notes += said
        return list(said)

    def wait(self, seconds: float) -> list[Notice]:
        self.wall += seconds
        said = self.treasury.advance(self.wall)
        self.notes += said
        return list(said)

    @property
    def told(self) -> list[tuple[str, float]]:
        return [(note.event.condition.value, note.event.share) for note in self.notes if note.event]

    @property
    def orders(self) -> list[str]:
        """What applications were told, in order: an action, or its end after a minus."""
        given = []
        for note in self.notes:
            if note.directive:
                given.append(note.directive.action.value)
            if note.removal:
                given.append("-" + note.removal.id.rpartition("/")[2])
        return given
