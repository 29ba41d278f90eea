"""The standing order of a strict budget."""

from __future__ import annotations

from spanfuse_processor.engine.budget import Budget, Measure, Period
from spanfuse_processor.engine.budgets.requirements import requirement, requirement_id
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import Action, Leasing, Mode, OnExpiry
from spanfuse_processor.wire import directives

BUDGET = Budget(
    "each-run",
    100,
    Measure.TOKENS,
    Period.RUN,
    Reach(feature=("chat",)),
    ("user",),
    strict=True,
    patience=2.0,
)


def test_it_says_what_is_taken_and_from_which_account() -> None:
    order = requirement(BUDGET, 7)

    assert (order.action, order.wide, order.reach) == (Action.REQUIRE_LEASE, True, BUDGET.reach)
    assert order.leasing == Leasing("tokens", ("user", "run"), 2.0)
    assert (order.id, order.key.id) == (requirement_id("each-run"), "each-run")


def test_it_holds_when_whoever_gave_it_is_lost() -> None:
    assert requirement(BUDGET, 7).on_expiry is OnExpiry.DENY


def test_it_is_meant_as_the_budget_is() -> None:
    assert requirement(BUDGET, 7).mode is Mode.ENFORCE


def test_it_travels() -> None:
    order = requirement(BUDGET, 7)

    assert directives.decode(directives.encode(order)) == order
