"""The standing order of a strict budget: applications hold a lease before they make its calls.

Rule 1: it holds until it is taken back, also when the processor is lost: what cannot be overrun is closed
then. It does not know who holds leases.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.budgets.accounts import counted_by
from spanfuse_processor.engine.budgets.orders import OF_BUDGETS
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action, Directive, Leasing, OnExpiry

REASON: Final = "BUDGET"
RENEWED: Final = 86_400.0
"""Seconds that the order holds by its time alone; then `on_expiry` says that it holds all the same."""


def requirement_id(budget: str) -> str:
    """The id under which a budget's order is given and taken back."""
    return f"{OF_BUDGETS}{budget}/lease"


def requirement(budget: Budget, revision: int, ttl: float = RENEWED) -> Directive:
    """The order of a strict budget, for all calls that it covers."""
    return Directive(
        id=requirement_id(budget.name),
        revision=revision,
        key=BreakerKey(Level.BUDGET, budget.name),
        action=Action.REQUIRE_LEASE,
        mode=budget.mode,
        ttl=ttl,
        on_expiry=OnExpiry.DENY,
        cancel_in_flight=False,
        reason=REASON,
        message=f"what is spent of {budget.name} is taken from a lease first",
        model_message="There is no money left for further calls. Say what is done and what is left.",
        reach=budget.reach,
        leasing=Leasing(budget.measure.value, counted_by(budget), budget.patience),
    )
