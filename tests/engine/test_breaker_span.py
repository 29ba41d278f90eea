"""What the breaker does stands in the trace of the call that it is about."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engine.driving import KEY, RUN, engine, order, stopped, tell
from tests.engine.making import NOON, SECOND, ended, span, trace
from tests.engine.test_alerts import SPENT

from spanfuse_processor.engine.alerts import Condition
from spanfuse_processor.engine.breaker_span import BreakerSpan, of_budget, of_order, of_verdict
from spanfuse_processor.engine.budget import Measure, Reaction
from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Mode, Verdict

DECIDED = NOON + 5 * SECOND


def told(verdict: Verdict, wall_ns: int = DECIDED, **more: str) -> BreakerSpan:
    made = of_verdict(verdict, wall_ns, **more)
    assert made is not None
    return made


def said(made: BreakerSpan, name: str) -> object:
    return made.attributes.get(f"spanfuse.breaker.{name}")


def test_a_trip_stands_below_the_offending_call_from_its_end_to_the_decision() -> None:
    _, verdict = stopped()

    made = told(verdict)

    assert (made.kind, made.trace_id, made.parent_span_id) == ("trip", trace(1), span(3))
    assert (made.start_ns, made.end_ns) == (NOON + 4 * SECOND, DECIDED)
    assert (made.failed, made.message) == (True, "the same again")


def test_a_trip_says_what_was_seen_and_what_is_done() -> None:
    _, verdict = stopped()
    assert verdict.finding is not None
    rich = replace(
        verdict.finding,
        rule="equal",
        cleared_by="a new result",
        cost=1_250_000,
        first_span_id=span(1),
        spans=(span(2), span(3)),
    )

    made = told(replace(verdict, finding=rich, agent="main"), event_id="e1")

    assert made.attributes == {
        "spanfuse.breaker.kind": "trip",
        "spanfuse.breaker.run": RUN,
        "spanfuse.breaker.agent": "main",
        "spanfuse.breaker.key": str(KEY),
        "spanfuse.breaker.detector": "third",
        "spanfuse.breaker.rule": "equal",
        "spanfuse.breaker.reason": "LOOP",
        "spanfuse.breaker.action": "stop",
        "spanfuse.breaker.mode": "enforce",
        "spanfuse.breaker.severity": "red",
        "spanfuse.breaker.observed": 3.0,
        "spanfuse.breaker.limit": 3.0,
        "spanfuse.breaker.message": "the same again",
        "spanfuse.breaker.cleared_by": "a new result",
        "spanfuse.breaker.cost_usd": 1.25,
        "spanfuse.breaker.directive": f"{KEY}/stop",
        "spanfuse.breaker.revision": 1,
        "spanfuse.breaker.event_id": "e1",
        "gen_ai.agent.name": "main",
    }
    assert made.links == (span(1), span(2))


def test_a_stop_that_is_withheld_is_no_error() -> None:
    verdict = tell(engine(Policy(mode=Mode.SHADOW)), [ended(1), ended(2), ended(3)])[-1]

    made = told(verdict)

    assert (made.kind, said(made, "mode"), made.failed) == ("withheld", "shadow", False)


def test_a_warning_has_no_action() -> None:
    (verdict,) = tell(engine(), [ended(1), ended(2)])

    made = told(verdict)

    assert (made.kind, said(made, "severity"), said(made, "action")) == ("warn", "yellow", None)
    assert (made.trace_id, made.parent_span_id) == (trace(1), span(2))


def test_a_stop_that_stands_already_is_not_told_again() -> None:
    _, verdict = stopped()

    assert of_verdict(replace(verdict, directive=None, transition=None), DECIDED) is None


def test_a_kill_by_an_operator_is_a_trip_in_the_runs_trace() -> None:
    made = engine()
    tell(made, [ended(1)])

    (verdict,) = order(made, OrderKind.KILL)

    trip = told(verdict)
    assert (trip.kind, trip.trace_id, trip.parent_span_id) == ("trip", trace(1), b"")
    assert (said(trip, "detector"), said(trip, "issuer")) == ("operator", "alice")
    assert said(trip, "message") == "because"
    assert trip.start_ns == trip.end_ns == DECIDED


def test_an_order_says_who_gave_it_and_why_and_whether_it_changed_anything() -> None:
    made = of_order(Order(OrderKind.KILL, KEY, "because"), "alice", False, DECIDED, trace(1), "e1")

    assert (made.kind, made.trace_id, made.failed) == ("order", trace(1), False)
    assert made.attributes == {
        "spanfuse.breaker.kind": "order",
        "spanfuse.breaker.run": RUN,
        "spanfuse.breaker.key": str(KEY),
        "spanfuse.breaker.detector": "operator",
        "spanfuse.breaker.action": "kill",
        "spanfuse.breaker.issuer": "alice",
        "spanfuse.breaker.reason": "because",
        "spanfuse.breaker.done": False,
        "spanfuse.breaker.message": f"kill {KEY} by alice: because",
        "spanfuse.breaker.event_id": "e1",
    }


def test_an_order_about_no_run_has_a_trace_of_its_own() -> None:
    made = of_order(Order(OrderKind.RELEASE, BreakerKey(Level.FEATURE, "mail")), "alice", True, DECIDED)

    assert (len(made.trace_id), said(made, "message")) == (16, "release feature/mail by alice")


def test_a_release_is_told_in_the_trace_that_is_given() -> None:
    made, _ = stopped()

    (verdict,) = order(made, OrderKind.RELEASE)

    release = of_verdict(verdict, DECIDED, trace(1))
    assert release is not None
    assert (release.kind, release.trace_id, release.failed) == ("release", trace(1), False)
    assert (said(release, "reason"), said(release, "severity")) == ("because", "green")


def test_a_trip_that_is_told_twice_is_the_same_span_and_another_is_another() -> None:
    first, second = stopped()[1], tell(engine(), [ended(each, of=2) for each in (1, 2, 3)])[-1]

    assert told(first).span_id == told(first, DECIDED + SECOND).span_id
    assert told(first).span_id != told(second).span_id


def test_two_releases_are_two_spans() -> None:
    made, _ = stopped()
    (verdict,) = order(made, OrderKind.RELEASE)

    assert told(verdict).span_id != told(verdict, DECIDED + 1).span_id


def test_a_call_that_ends_after_the_decision_by_its_own_clock_bends_no_time() -> None:
    _, verdict = stopped()

    made = told(verdict, NOON)

    assert made.start_ns == made.end_ns == NOON


def test_a_budget_that_a_call_has_spent_is_told_below_that_call() -> None:
    made = of_budget(SPENT._replace(trace_id=trace(1), span_id=span(9)))

    assert (made.kind, made.trace_id, made.parent_span_id) == ("budget", trace(1), span(9))
    assert (said(made, "budget"), said(made, "rule"), said(made, "action")) == ("support", "mark", "stop")
    assert (said(made, "observed"), said(made, "limit")) == (0.02066, 0.02)
    assert (said(made, "message"), said(made, "event_id")) == (SPENT.words(), SPENT.id)
    assert made.end_ns == int(SPENT.wall * 1e9)


@pytest.mark.parametrize(
    "condition", [Condition.IMMINENT, Condition.RUNAWAY, Condition.LIKELY, Condition.STEPS]
)
def test_what_is_foreseen_is_a_forecast(condition: Condition) -> None:
    event = SPENT._replace(condition=condition, share=0.0, measure=Measure.TOKENS, reaction=Reaction.WARN)

    made = of_budget(event)

    assert (made.kind, said(made, "severity"), said(made, "observed")) == ("forecast", "yellow", 20_660)


def test_what_no_call_has_brought_has_a_trace_of_its_own() -> None:
    made = of_budget(SPENT)

    assert len(made.trace_id) == 16
    assert (made.parent_span_id, made.links) == (b"", ())
    assert made.trace_id == of_budget(SPENT).trace_id != of_budget(SPENT._replace(start=0.0)).trace_id


@pytest.mark.parametrize("scope", ["spanfuse", "other"])
def test_an_engine_never_judges_what_a_breaker_says(scope: str) -> None:
    made = engine()
    back = RawSpan(trace(1), span(9), span(3), "spanfuse.breaker", NOON, NOON, {}, scope=scope)

    assert made.ingest(back, 0.0) == ()
    assert made.stats().unread == (0 if scope == "spanfuse" else 1)
