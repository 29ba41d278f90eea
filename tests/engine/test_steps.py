"""Runs near what they may cost: told once, in time, and not when there is no cap."""

from __future__ import annotations

from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Period, Reaction
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer, Reach
from spanfuse_processor.engine.steps import Steps

CENT = 10_000
EACH = Budget("each", 100 * CENT, period=Period.RUN)


def told(
    *budgets: Budget, steps: int, cap: int | None = None, run: str = "r1"
) -> list[tuple[int, BudgetEvent]]:
    """What is told of a run of calls of ten cents, and after how many of them."""
    ledger, watch = Ledger(budgets, 0.0), Steps()
    payer = Payer(agent="writer", run="r1")
    events = []
    for step in range(1, steps + 1):
        ledger.charge(step.to_bytes(8, "big"), payer, Amounts(10 * CENT, 100), float(step), float(step))
        events += [(step, each) for each in watch.step(payer, 10 * CENT, cap, ledger, float(step))]
    return events


def test_a_run_that_said_what_it_may_cost_is_told_of_three_steps_before() -> None:
    ((step, event),) = told(steps=10, cap=100 * CENT)

    assert step == 7
    assert (event.condition, event.reaction) == (Condition.STEPS, Reaction.WARN)
    assert (event.account, event.spent, event.limit) == (Account("run", ("r1",)), 70 * CENT, 100 * CENT)


def test_it_is_told_how_many_steps_are_left() -> None:
    ((_, event),) = told(steps=10, cap=100 * CENT)

    assert event.run is not None
    assert (event.run.steps_low, event.run.steps_high, event.run.total_mid) == (3, 3, None)
    assert event.words() == "Budget run[r1] of this run ends in 3 steps: 0.70 of 1.00 USD are spent."


def test_and_what_such_runs_come_to_once_twenty_are_over() -> None:
    watch, ledger = Steps(), Ledger((), 0.0)
    for number in range(40):
        for _ in range(12):
            watch.step(Payer(agent="writer", run=f"before-{number}"), 10 * CENT, None, ledger, 0.0)
        watch.finish(f"before-{number}", stopped=False)

    events = [
        each
        for _ in range(10)
        for each in watch.step(Payer(agent="writer", run="r1"), 10 * CENT, 100 * CENT, ledger, 0.0)
    ]

    (event,) = events
    assert event.words().endswith("It would come to about 1.20 USD (1.20 to 1.20, by 40 runs before).")


def test_a_budget_of_single_runs_is_told_of_too() -> None:
    ((step, event),) = told(EACH, steps=10)

    assert (step, event.account) == (7, Account("each", ("r1",)))


def test_a_run_without_a_cap_is_never_told_of() -> None:
    assert told(steps=50) == []


def test_a_run_that_is_over_its_cap_is_not_told_that_it_comes_near() -> None:
    assert told(steps=10, cap=15 * CENT) == []


def test_a_budget_of_others_does_not_cap_a_run() -> None:
    assert told(Budget("each", CENT, period=Period.RUN, reach=Reach(agent=("reader",))), steps=10) == []


def test_a_run_that_was_stopped_teaches_nothing() -> None:
    watch, ledger = Steps(), Ledger((), 0.0)
    watch.step(Payer(agent="writer", run="r1"), CENT, None, ledger, 0.0)

    watch.finish("r1", stopped=True)

    assert watch.forecaster.dump() == {"agents": {}}
