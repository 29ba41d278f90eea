"""Another policy for an engine at work: at once where it can be, from what begins on where it cannot."""

from __future__ import annotations

import pytest
from tests.engine.driving import engine, look, stopped, tell
from tests.engine.making import ended, model

from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import Policy, PolicyError, Price, ToolRule
from spanfuse_processor.engine.verdicts import BreakerState, Mode


def test_a_mode_holds_at_once_in_a_run_that_had_begun() -> None:
    made = engine()
    tell(made, [ended(1), ended(2)])

    made.renew(Policy(mode=Mode.SHADOW))
    verdict = tell(made, [ended(3)])[-1]

    assert verdict.directive is not None
    assert verdict.directive.mode is Mode.SHADOW
    assert look(made).state is BreakerState.CLOSED


def test_what_was_stopped_stays_stopped() -> None:
    made, _ = stopped()

    made.renew(Policy(mode=Mode.SHADOW))

    assert look(made).state is BreakerState.OPEN


def test_a_price_holds_from_the_next_call_on() -> None:
    made = engine()
    tell(made, [model(1)])
    before = look(made).cost

    made.renew(Policy(prices={"*": Price(input=1_000.0, output=0.0)}))
    tell(made, [model(2)])

    assert look(made).cost - before == 100_000


def test_a_fee_of_a_tool_holds_from_the_next_call_on() -> None:
    made = engine()
    tell(made, [ended(1)])

    made.renew(Policy(tools={"*": ToolRule(), "search": ToolRule(fee=0.5)}))
    tool = ended(2, kind=Kind.TOOL)
    tool.name = "search"
    tell(made, [tool])

    assert look(made).cost == 500_000


def test_thresholds_hold_for_runs_that_begin_from_then_on() -> None:
    made = engine()
    tell(made, [ended(1)])

    made.renew(Policy(detectors={"third": {"stop": 4}}))
    begun = tell(made, [ended(2), ended(3)])
    new = tell(made, [ended(number, of=2) for number in (11, 12, 13)])

    assert [bool(verdict.directive) for verdict in begun] == [False, True]
    assert [bool(verdict.directive) for verdict in new] == [False]


def test_what_features_are_watched_by_begins_anew() -> None:
    made = engine(third=Unit.FEATURE)
    first = [ended(1), ended(2)]
    third = ended(3)
    for event in (*first, third):
        event.identity = event.identity.__class__(feature="chat")
    tell(made, first)

    made.renew(Policy())

    assert tell(made, [third]) == []


def test_a_policy_that_cannot_be_obeyed_changes_nothing() -> None:
    made = engine()

    with pytest.raises(PolicyError):
        made.renew(Policy(mode=Mode.SHADOW, detectors={"third": {"no_such_limit": 1}}))

    verdict = tell(made, [ended(1), ended(2), ended(3)])[-1]
    assert verdict.directive is not None
    assert verdict.directive.mode is Mode.ENFORCE
