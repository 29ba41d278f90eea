"""Leases of strict budgets: the standing orders that calls need one, and the office that gives them.

Rule 1: an order is given again well before its time is over, and taken back with its budget. Rule 2: an
office whose former life may have ended unawares lends nothing until holders have had time to say what they
hold. It does not know who asks, nor how.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk
from spanfuse_processor.engine.budgets.leasing import LeaseOffice
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.budgets.requirements import RENEWED, requirement, requirement_id
from spanfuse_processor.engine.verdicts import Directive, Removal

AGAIN: Final = RENEWED / 2
"""Seconds after which a standing order is given again."""
HELLO: Final = 3.0
"""Seconds for which a first life lends nothing: a store that was lost looks like one, but for its holders."""
GONE: Final = "the budget needs no lease any more"


class Lending:
    """One ledger's."""

    def __init__(self, ledger: Ledger, wall: float) -> None:
        self._office = LeaseOffice(ledger, wall, clean=False)  # until it is known what was lent before
        self._required: dict[str, Budget] = {}
        self._due = wall
        self._revision = 0

    @property
    def held(self) -> int:
        """Leases that are held now."""
        return self._office.held

    def resume(
        self,
        ledger: Ledger,
        dump: Mapping[str, Any],
        wall: float,
        clean: bool,
        entries: Iterable[Entry] = (),
    ) -> None:
        """Goes on with a ledger that was restored from a dump and `entries` after it. `clean`: nothing of a
        former life was lost."""
        self._office = LeaseOffice(ledger, wall, clean=clean, hello=0.0 if dump else HELLO)
        self._office.load(dump, entries)

    def follow(self, entries: Iterable[Entry]) -> None:
        """Other processors lend from the same accounts; the ledger knows already."""
        self._office.follow(entries)

    def dump(self) -> dict[str, Any]:
        """All leases, as plain data."""
        return self._office.dump()

    def require(self, budgets: Sequence[Budget], wall: float) -> tuple[list[Directive], list[Removal]]:
        """Which orders are to be given and taken back, for these budgets."""
        strict = {each.name: each for each in budgets if each.strict}
        gone = [name for name in self._required if name not in strict]
        changed = [each for name, each in strict.items() if self._required.get(name) != each]
        self._required = strict
        return self._ordered(changed), [Removal(requirement_id(name), self._next(), GONE) for name in gone]

    def advance(self, wall: float) -> list[Directive]:
        """Time has passed. Returns orders that are to be given again."""
        self._office.expire(wall)
        if wall < self._due:
            return []
        self._due = wall + AGAIN
        return self._ordered(list(self._required.values()))

    def next_deadline(self) -> float:
        """When (wall time) `advance` is due."""
        due = self._office.next_deadline()
        return self._due if due is None else min(due, self._due)

    def ask(self, ask: LeaseAsk, wall: float) -> LeaseAnswer:
        """Answers who asks. Raises LookupError: no strict budget has such an account."""
        return self._office.ask(ask, wall)

    def _ordered(self, budgets: Sequence[Budget]) -> list[Directive]:
        return [requirement(each, self._next()) for each in budgets]

    def _next(self) -> int:
        self._revision += 1
        return self._revision
