"""A purse with so many micro-dollars in it, that remembers how each slice ended."""

from __future__ import annotations

from dataclasses import dataclass, field

from spanfuse.purse import Once, Short, Taken
from spanfuse.room import Room
from spanfuse_processor.engine.budget import Account, Amounts, Measure
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.verdicts import Directive

DAILY = Account("daily")


@dataclass
class Till:
    """Pays for every call; `ends` says what became of what was taken, in order."""

    free: int
    idle: bool = False
    told: bool = True
    measures: frozenset[Measure] = frozenset({Measure.USD})
    can_come: bool = True
    patience: float = 5.0
    order: Directive | None = None
    room: Room = field(default_factory=Room)
    ends: list[tuple[str, Amounts]] = field(default_factory=list)
    payers: list[Payer] = field(default_factory=list)
    left: int = 0

    def wanted(self, payer: Payer) -> frozenset[Measure]:
        self.payers.append(payer)
        return self.measures

    def take(self, payer: Payer, amounts: Amounts, waiter: object) -> Taken | Short:
        if amounts.usd > self.free:
            need = amounts.usd
            return Short(DAILY, Measure.USD, need, self.free, self.can_come, self.patience, order=self.order)
        self.free -= amounts.usd
        return Slice(self, amounts)

    def leave(self, waiter: object) -> None:
        self.left += 1


class Slice:
    """What one call has taken."""

    accounts = ("daily",)

    def __init__(self, till: Till, amounts: Amounts) -> None:
        self.key = b""
        self._till, self._amounts, self._once = till, amounts, Once()

    def named(self, key: bytes) -> None:
        self.key = key

    def settle(self, amounts: Amounts) -> None:
        self._end("settled", amounts)

    def forfeit(self) -> None:
        self._end("forfeited", self._amounts)

    def cancel(self) -> None:
        self._end("cancelled", Amounts(0, 0, 0))

    def _end(self, how: str, amounts: Amounts) -> None:
        if self._once:
            self._till.free += self._amounts.usd - amounts.usd
            self._till.ends.append((how, amounts))
            self._till.room.made()
