"""Which run is current: in this context, in tasks, over process borders, beneath everything."""

from __future__ import annotations

import asyncio

from opentelemetry import baggage
from opentelemetry import context as otel_context
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from tests.library.making import scope

from spanfuse import context
from spanfuse.context import MAX_AGENTS, RunScope, attached, kept_here, with_run
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Level


def test_a_run_is_current_inside_and_not_after() -> None:
    with attached(with_run(scope())):
        assert context.current() == scope()

    assert context.current() is None


def test_a_run_answers_to_the_keys_of_all_that_is_known_of_it() -> None:
    where = RunScope("r", Identity(user="u", feature="f"), ("a", "b", "a"))

    assert where.keys == (
        BreakerKey(Level.RUN, "r"),
        BreakerKey(Level.AGENT, "a"),
        BreakerKey(Level.AGENT, "b"),
        BreakerKey(Level.USER, "u"),
        BreakerKey(Level.FEATURE, "f"),
        BreakerKey(Level.EVERYTHING, ""),
    )


def test_depth_counts_the_agents_above_the_root_apart() -> None:
    root = scope().inside("planner")

    assert (scope().depth, root.depth, root.inside("writer").depth) == (0, 0, 1)
    assert root.inside("writer").agent == "writer"


def test_an_agent_inside_a_tool_is_no_tools_body() -> None:
    assert scope().within("search").tool == "search"
    assert scope().within("search").inside("helper").tool == ""


def test_the_names_of_agents_are_bounded() -> None:
    where = scope()
    for number in range(MAX_AGENTS * 2):
        where = where.inside(f"a{number}")

    assert len(where.agents) == MAX_AGENTS
    assert where.agent == f"a{MAX_AGENTS * 2 - 1}"


def test_a_run_flows_into_a_task_and_not_back() -> None:
    async def inner() -> RunScope | None:
        otel_context.attach(with_run(scope("inner")))
        return context.current()

    async def outer() -> tuple[RunScope | None, RunScope | None]:
        with attached(with_run(scope("outer"))):
            return await asyncio.create_task(inner()), context.current()

    seen = asyncio.run(outer())

    assert seen == (scope("inner"), scope("outer"))


def test_a_run_crosses_to_another_process_in_baggage() -> None:
    who = Identity("", "", "t", "n", "f", "u/1, 2", "s", "batch")
    here = RunScope("r", who, ("a/b", "c"), budget_usd=2.5)
    carrier: dict[str, str] = {}
    W3CBaggagePropagator().inject(carrier, with_run(here))

    with attached(W3CBaggagePropagator().extract(carrier)):
        there = context.current()

    assert there is not None
    assert (there.id, there.identity, there.agents, there.budget_usd) == ("r", who, ("a_b", "c"), 2.5)


def test_baggage_that_names_no_run_is_none() -> None:
    with attached(W3CBaggagePropagator().extract({"baggage": "spanfuse.user=u,other=1"})):
        assert context.current() is None


def test_a_tools_body_keeps_the_baggage_as_it_is() -> None:
    """Only the object changes: the run says the same to other processes."""
    outer = with_run(scope(feature="f"))
    carriers: list[dict[str, str]] = [{}, {}]

    inner = with_run(scope(feature="f").within("search"), outer)
    for carrier, where in zip(carriers, (outer, inner), strict=True):
        W3CBaggagePropagator().inject(carrier, where)

    assert carriers[0] == carriers[1]


def test_the_run_of_the_process_lies_beneath_all_contexts() -> None:
    context.set_process_run(scope("process"))

    assert context.current() == scope("process")
    with attached(with_run(scope("inner"))):
        assert context.current() == scope("inner")


def test_what_is_kept_here_is_current_and_not_in_baggage() -> None:
    """A provider is not told who its customer's user is; what the application itself carries goes on."""
    theirs = baggage.set_baggage("their.key", "1", with_run(scope(user="u", feature="f")))
    carrier: dict[str, str] = {}

    with attached(theirs):
        hidden = kept_here(scope(user="u", feature="f"))
    W3CBaggagePropagator().inject(carrier, hidden)

    assert carrier == {"baggage": "their.key=1"}
    with attached(hidden):
        assert context.current() == scope(user="u", feature="f")
