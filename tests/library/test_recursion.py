"""A service that calls itself: the baggage says in every process how deep it is, and there it ends."""

from __future__ import annotations

import pytest
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from tests.library.making import ask

import spanfuse
from spanfuse.context import attached
from spanfuse.errors import BreakerOpen

Headers = dict[str, str]
pytestmark = pytest.mark.usefixtures("judging")


def carried() -> Headers:
    """What goes out with a request: the baggage, and no trace."""
    headers: Headers = {}
    W3CBaggagePropagator().inject(headers)
    return headers


def serve(agents: str, worked: list[str], headers: Headers | None = None, levels: int = 20) -> None:
    """A request comes to the first of `agents`, which asks a model and then the next of them, in turn."""
    if not levels:
        return
    with attached(W3CBaggagePropagator().extract(headers or {}, Context())), spanfuse.run(agent=agents[0]):
        ask()
        worked.append(agents[0])
        serve(agents[1:] + agents[0], worked, carried(), levels - 1)


def test_an_agent_that_calls_itself_is_stopped_before_the_third_does_anything() -> None:
    worked: list[str] = []

    with pytest.raises(BreakerOpen, match="agent p calls itself, 3 levels deep"):
        serve("p", worked)

    assert worked == ["p", "p"]


def test_two_that_call_each_other_are_stopped_at_the_fifth() -> None:
    worked: list[str] = []

    with pytest.raises(BreakerOpen, match="agent w calls itself, 3 levels deep"):
        serve("wr", worked)

    assert worked == ["w", "r", "w", "r"]


def test_an_orchestrator_a_researcher_and_its_tool_agent_are_let_work() -> None:
    worked: list[str] = []

    for _ in range(3):
        serve("ort", worked, levels=3)

    assert worked == ["o", "r", "t"] * 3
