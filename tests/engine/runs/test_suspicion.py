"""A warning of a loop that stands while a run spends the budget that it gave itself."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.driving import KEY, engine, order, tell
from tests.engine.making import CountLimits, ended, finding, model

from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.nouns import Fingerprints, Usage
from spanfuse_processor.engine.orders import OrderKind
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.runs.suspicion import DRIFT, Suspicion, confirmed, suspected
from spanfuse_processor.engine.verdicts import BreakerState, Severity, Verdict


def call(**more: Any) -> Call:
    """A call that ended."""
    return Call(ended(1), "run", 1, 0, 0, (), True, **more)


def spend(number: int, usd: float, budget: int | None = 1_000_000) -> Any:
    """A model call that costs so much, of a run that gave itself so many micro-dollars."""
    return model(number, usage=Usage(int(usd * 1_000_000), 0), budget=budget)


def warned(policy: Policy | None = None, budget: int | None = 1_000_000) -> list[Verdict]:
    """A run is warned of a loop at its second tool call and then spends half a dollar."""
    limits = {"third": CountLimits(warn=2, stop=99)}
    made = engine(policy or Policy(detectors=limits), third=Unit.RUN)
    return list(tell(made, [ended(1), ended(2), spend(3, 0.2, budget), spend(4, 0.3, budget)]))


def test_a_warning_that_stands_while_a_quarter_of_the_budget_goes_is_a_stop() -> None:
    (_, stop) = warned()

    assert stop.finding is not None
    assert (stop.finding.severity, stop.finding.rule) == (Severity.STOP, "suspicion")
    assert "50 % of its budget" in stop.finding.message
    assert stop.directive is not None


@pytest.mark.parametrize(
    ("policy", "budget"),
    [
        (Policy(suspicion=0.0, detectors={"third": CountLimits(stop=99)}), 1_000_000),
        (Policy(suspicion=0.9, detectors={"third": CountLimits(stop=99)}), 1_000_000),
        (None, None),
        (None, 100_000_000),
    ],
    ids=["switched off", "a larger share", "no budget", "a large budget"],
)
def test_else_it_stays_a_warning(policy: Policy | None, budget: int | None) -> None:
    verdicts = warned(policy, budget)

    assert [each.finding.severity for each in verdicts if each.finding] == [Severity.WARN]


def test_progress_in_between_clears_it() -> None:
    made = engine(Policy(detectors={"third": CountLimits(warn=2, stop=99)}), third=Unit.RUN)
    new = ended(3, name="read", prints=Fingerprints("a", "a", "b", "b"))

    verdicts = tell(made, [ended(1), ended(2), spend(4, 0.2), new, spend(5, 0.2)])

    assert len(verdicts) == 1


def test_after_a_release_the_old_suspicion_stops_nothing() -> None:
    made = engine(Policy(detectors={"third": CountLimits(warn=2, stop=99)}), third=Unit.RUN)
    tell(made, [ended(1), ended(2), spend(3, 0.3)])

    order(made, OrderKind.RELEASE)
    tell(made, [spend(4, 0.3)])

    view = made.run(KEY.id)
    assert view is not None
    assert view.state is BreakerState.CLOSED


@pytest.mark.parametrize(
    ("reason", "news", "effect", "clears"),
    [
        ("LOOP", News.NEW, "read", True),
        ("LOOP", News.KNOWN, "write", False),
        ("LOOP", News.UNKNOWN, "", False),
        (DRIFT, News.NEW, "read", False),
        (DRIFT, News.NEW, "write", True),
    ],
)
def test_what_clears_depends_on_what_is_suspected(reason: str, news: News, effect: str, clears: bool) -> None:
    suspicion = Suspicion(finding(call(), Severity.WARN, reason=reason), 0)

    assert suspicion.cleared_by(call(news=news, effect=effect)) is clears


def test_what_is_no_loop_is_not_suspected() -> None:
    assert suspected(call(), [finding(call(), Severity.WARN, reason="RATE")]) is None
    assert suspected(call(), [finding(call(), Severity.STOP)]) is None


def test_the_evidence_of_the_warning_is_kept_and_the_last_call_named() -> None:
    seen = finding(call(), Severity.WARN, spans=(b"1", b"2"), first_span_id=b"1")
    later = call(run_cost=600_000)

    stop = confirmed(Suspicion(seen, 100_000), later, 0.5, 1_000_000)

    assert stop is not None
    assert stop.spans == (b"1", b"2", later.event.span_id)
    assert (stop.first_span_id, stop.observed, stop.limit) == (b"1", 50.0, 50.0)
