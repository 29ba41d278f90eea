"""Directives: one id for each key, a reason for people, an advice for the model, evidence for both."""

from __future__ import annotations

import pytest
from tests.engine.making import span, trace

from spanfuse_processor.engine import directives
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.verdicts import Action, Directive, Evidence, Finding, Mode, Severity

RUN = BreakerKey(Level.RUN, "r1")
REASONS = ["LOOP", "RETRY_STORM", "DEPTH", "RECURSION", "FAN_OUT", "RATE", "BURST", "SOMETHING_NEW"]


def finding(reason: str = "LOOP", spans: tuple[bytes, ...] = ()) -> Finding:
    return Finding(
        "repeat",
        Severity.STOP,
        reason,
        "search gave the same 5 times.",
        span(9),
        5,
        5.0,
        4.0,
        spans,
        cleared_by="a new result",
        rule="equal",
        first_span_id=span(5),
        prints=("ab12",),
        cost=42,
    )


def stop(what: Finding) -> Directive:
    return directives.stop(RUN, what, Mode.ENFORCE, 3, 60.0, trace(1))


def test_a_stop_says_what_was_seen_and_what_it_cost() -> None:
    made = stop(finding())

    assert (made.id, made.key, made.action, made.mode) == ("run/r1/stop", RUN, Action.STOP, Mode.ENFORCE)
    assert (made.revision, made.ttl, made.reason) == (3, 60.0, "LOOP")
    assert made.message == "search gave the same 5 times."
    assert made.evidence == Evidence(
        "repeat", 5.0, 4.0, trace(1), (span(9),), 42, "equal", span(5), ("ab12",), "a new result"
    )


def test_the_offending_span_comes_last_and_once() -> None:
    assert stop(finding(spans=(span(7), span(9)))).evidence.span_ids == (span(7), span(9))
    assert stop(finding(spans=(span(7), span(8)))).evidence.span_ids == (span(7), span(8), span(9))


def test_evidence_names_sixteen_spans_at_most() -> None:
    ids = stop(finding(spans=tuple(span(number) for number in range(100, 140)))).evidence.span_ids

    assert (len(ids), ids[-1]) == (16, span(9))


@pytest.mark.parametrize("reason", REASONS)
def test_the_model_is_told_in_a_few_sentences_what_to_do_instead(reason: str) -> None:
    text = stop(finding(reason)).model_message

    assert text.startswith("This run was stopped: search gave the same 5 times. ")
    assert len(text) < 200
    assert text.endswith(".")


def test_a_kill_is_signed_and_says_why() -> None:
    order = Order(OrderKind.KILL, RUN, "too dear", "alice")

    made = directives.kill(order, RUN, 4, 86_400.0, trace(1), 42)

    assert (made.id, made.reason, made.message, made.issuer) == ("run/r1/stop", "MANUAL", "too dear", "alice")
    assert made.evidence == Evidence(detector="operator", trace_id=trace(1), cost=42)


def test_a_kill_without_a_reason_still_has_a_message() -> None:
    made = directives.kill(Order(OrderKind.KILL, RUN), RUN, 4, 86_400.0, b"", 0)

    assert made.message == "stopped by an operator"


def test_a_removal_names_the_directive_of_its_key() -> None:
    assert directives.removal(RUN, 5, "released").id == stop(finding()).id
