"""The agent of the last act: what it reads in its own spans."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from spanfuse.demo import allowance
from spanfuse.demo.research import Noticed
from spanfuse_processor.engine import names


@pytest.fixture
def noticed() -> Noticed:
    return Noticed()


def end(noticed: Noticed, **said: Any) -> None:
    """One span of the application ends."""
    provider = TracerProvider()
    provider.add_span_processor(noticed)
    provider.get_tracer("test").start_span("chat", attributes=said).end()


def model(noticed: Noticed, tokens: int = 500, **said: Any) -> None:
    end(noticed, **{names.REQUEST_MODEL: "gpt-4o", names.OUTPUT_TOKENS: tokens, **said})


CHEAPER = {names.DEGRADED: True, names.ORIGINAL_MODEL: "gpt-4o", names.REQUEST_MODEL: "gpt-4o-mini"}


def test_an_ordinary_call_is_nothing_to_notice(noticed: Noticed) -> None:
    model(noticed)

    assert (noticed.degraded, noticed.throttled) == (0, 0)
    assert (noticed.first_degraded, noticed.first_held) == (None, None)


def test_the_first_call_that_gave_something_up_is_set_against_the_one_before(noticed: Noticed) -> None:
    model(noticed, 480)
    model(noticed, 150, **CHEAPER)
    model(noticed, 149, **CHEAPER)

    assert noticed.degraded == 2
    first = noticed.first_degraded
    assert first is not None
    assert (first.asked, first.model, first.before, first.tokens) == ("gpt-4o", "gpt-4o-mini", 480, 150)


def test_a_call_that_could_give_nothing_up_does_not_count(noticed: Noticed) -> None:
    model(noticed, **{names.DEGRADED: False})

    assert noticed.degraded == 0


def test_enough_calls_that_were_held_back_are_enough(noticed: Noticed) -> None:
    heard: list[int] = []
    noticed.enough = lambda: heard.append(noticed.throttled)
    for number in range(allowance.SLOW_CALLS):
        assert heard == []
        model(noticed, **{names.THROTTLED_MS: 1_900 + number})

    assert heard == [allowance.SLOW_CALLS]
    assert noticed.first_held is not None
    assert noticed.first_held.waited_ms == 1_900


def test_spans_of_other_things_are_passed_over(noticed: Noticed) -> None:
    end(noticed, **{names.THROTTLED_MS: 5, names.DEGRADED: True})

    assert (noticed.degraded, noticed.throttled) == (0, 0)
