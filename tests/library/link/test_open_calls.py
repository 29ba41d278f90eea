"""Which open calls a processor hears of, and when. Time is an argument."""

from __future__ import annotations

from tests.library.examples import started

from spanfuse.link.open_calls import HEARTBEAT, LIMIT, SETTLED, OpenCalls
from spanfuse_processor.engine.nouns import Kind

MANY = 100


def test_an_agent_is_told_at_once() -> None:
    calls, agent = OpenCalls(), started(Kind.AGENT)

    assert calls.began(agent, now=0.0)

    assert calls.due(0.0, MANY) == [agent]


def test_another_call_is_told_when_it_has_been_open_for_a_while() -> None:
    calls, model = OpenCalls(), started(Kind.MODEL)

    assert not calls.began(model, now=0.0)

    assert calls.due(SETTLED / 2, MANY) == []
    assert calls.due(SETTLED, MANY) == [model]


def test_what_was_told_is_told_again_as_a_sign_of_life() -> None:
    calls, agent = OpenCalls(), started(Kind.AGENT)
    calls.began(agent, now=0.0)
    calls.due(0.0, MANY)

    assert calls.due(HEARTBEAT - 0.1, MANY) == []
    assert calls.due(HEARTBEAT, MANY) == [agent]


def test_a_call_that_ended_is_told_no_more() -> None:
    calls, agent = OpenCalls(), started(Kind.AGENT)
    calls.began(agent, now=0.0)

    calls.ended(agent.span_id)

    assert calls.due(0.0, MANY) == []
    assert calls.all() == []


def test_an_end_without_a_start_is_nothing() -> None:
    OpenCalls().ended(b"unknown!")


def test_no_more_are_told_than_asked_for_and_the_rest_comes_next() -> None:
    calls = OpenCalls()
    agents = [started(Kind.AGENT) for _ in range(3)]
    for agent in agents:
        calls.began(agent, now=0.0)

    assert calls.due(0.0, 2) == agents[:2]
    assert calls.due(0.0, 2) == agents[2:]


def test_what_is_remembered_is_bounded() -> None:
    calls = OpenCalls()

    for _ in range(LIMIT + 5):
        calls.began(started(), now=0.0)

    assert len(calls) == LIMIT
