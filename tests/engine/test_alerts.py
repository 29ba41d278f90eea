"""What is told of a budget, in words: what is so, and what ends it."""

from __future__ import annotations

from math import inf

import pytest

from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Measure, Reaction
from spanfuse_processor.engine.verdicts import Mode

SPENT = BudgetEvent(
    Account("support"), Measure.USD, Condition.MARK, Reaction.STOP, Mode.ENFORCE,
    wall=1_796_070_000.0, start=1_795_996_800.0, end=1_796_083_200.0, spent=20_660, limit=20_000, share=1.0,
)  # fmt: skip


def test_a_budget_that_is_spent_says_so_and_when_calls_go_on() -> None:
    assert SPENT.words() == (
        "Budget support has reached its limit: 0.021 of 0.020 USD are spent. "
        "Calls go on at 2026-12-01 00:00 UTC, or as soon as the limit is raised."
    )


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (inf, "Calls go on as soon as the limit is raised."),
        (SPENT.wall, "Calls go on when old spend counts no more, or as soon as the limit is raised."),
    ],
)
def test_a_run_and_what_rolls_have_no_next_period(end: float, said: str) -> None:
    assert SPENT._replace(end=end).words().endswith(said)


@pytest.mark.parametrize("mode", [Mode.SHADOW, Mode.WARN])
def test_where_nothing_is_stopped_nothing_has_to_go_on(mode: Mode) -> None:
    assert "Calls go on" not in SPENT._replace(mode=mode).words()
    assert "Calls go on" not in SPENT._replace(reaction=Reaction.WARN).words()


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.005, "has reached 0.5 % of its limit"), (0.5, "has reached 50 % of its limit"), (1.2, "120 %")],
)
def test_a_mark_is_named_by_its_share(share: float, said: str) -> None:
    assert said in SPENT._replace(share=share, reaction=Reaction.WARN).words()


def test_what_is_nearly_spent_runs_out_in_less_than_a_second() -> None:
    soon = SPENT._replace(
        condition=Condition.IMMINENT, reaction=Reaction.WARN, share=0.0, spent=19_990, exhausted_at=SPENT.wall
    )

    assert soon.words() == (
        "Budget support runs out in less than a second, before its period ends: "
        "0.01999 of 0.02000 USD are spent."
    )
