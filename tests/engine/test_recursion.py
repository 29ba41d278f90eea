"""An agent that calls itself through other processes, each call in a trace of its own: it is stopped.

What ties the traces is our baggage, a link, or nothing but a conversation; the parent of a process's first
call lies elsewhere and never arrives. Spans come as they end, with their starts told, the wrong way round,
process by process, or shuffled.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import pytest
from tests.engine.making import NOON, SECOND, Book, span, trace

from spanfuse_processor.engine import names
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.dialects.otel_genai import OtelGenai
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded, CallStarted, RawSpan
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Severity

AGENT, CHAT, TOOL, REMOTE = 1, 2, 3, 99
OURS: Final = {name: DETECTORS[name] for name in ("nesting", "fanout")}
Tie = Callable[[int], dict[str, Any]]


def by_baggage(level: int) -> dict[str, Any]:
    """Our run id, and the agents that the processes before this one were in."""
    path = "/".join(["planner"] * (level - 1))
    return {names.RUN: "r", names.DEPTH: max(0, level - 2)} | ({names.AGENT_PATH: path} if path else {})


def by_link(level: int) -> dict[str, Any]:
    return {}


def by_conversation(level: int) -> dict[str, Any]:
    return {names.CONVERSATION: "c1"}


TIES: Final[dict[str, Tie]] = {"baggage": by_baggage, "link": by_link, "conversation": by_conversation}
LEVELS: Final = {"baggage": 6, "link": 6, "conversation": 8}
"""How deep it goes; where nothing but time tells of it, it has to be deeper."""


def recursion(tie: str, levels: int) -> list[RawSpan]:
    """Each agent asks a model, and then calls the next by a tool, in another process: the outermost first."""
    spans = []
    for level in range(1, levels + 1):
        start, end = NOON + 3 * level * SECOND, NOON + (7 * levels - level) * SECOND
        own = TIES[tie](level)
        inside = own | by_baggage(level + 1) if tie == "baggage" else own
        links = ((trace(level - 1), span(TOOL)),) if tie == "link" and level > 1 else ()
        agent = {names.OPERATION: "invoke_agent", names.AGENT: "planner"} | own
        chat = {
            names.OPERATION: "chat",
            names.REQUEST_MODEL: "good",
            names.INPUT_TOKENS: 900 * level,
        } | inside
        tool = {names.OPERATION: "execute_tool", names.TOOL: "ask_planner"} | inside
        spans += [
            RawSpan(trace(level), span(AGENT), span(REMOTE), "", start, end, agent, links=links),
            RawSpan(trace(level), span(CHAT), span(AGENT), "", start + 1, start + SECOND, chat),
            RawSpan(trace(level), span(TOOL), span(AGENT), "", start + SECOND + 1, end - 1, tool),
        ]
    return spans


@dataclass
class Told:
    """What an engine was told, and what it made of it."""

    stopped_after: int | None = None
    agents: int = 0
    calls: int = 0  # from the first that is told of the agent that called itself


def as_they_end(spans: list[RawSpan]) -> list[RawSpan]:
    return sorted(spans, key=lambda each: each.end_ns)


def process_by_process(spans: list[RawSpan]) -> list[RawSpan]:
    """Two processes take turns; each exports all of its spans at once, in the order of their ends."""
    return sorted(as_they_end(spans), key=lambda each: int.from_bytes(each.trace_id, "big") % 2)


def the_wrong_way_round(spans: list[RawSpan]) -> list[RawSpan]:
    return as_they_end(spans)[::-1]


def shuffled(seed: int) -> Callable[[list[RawSpan]], list[RawSpan]]:
    def order(spans: list[RawSpan]) -> list[RawSpan]:
        return random.Random(seed).sample(spans, len(spans))

    return order


ORDERS: Final = {
    "as they end": as_they_end,
    "process by process": process_by_process,
    "the wrong way round": the_wrong_way_round,
} | {f"shuffled, {seed}": shuffled(seed) for seed in range(12)}


def told(events: list[CallStarted]) -> Told:
    """Tells an engine of calls until it stops the run."""
    engine, result = Engine(Policy(), Book(), detectors=OURS), Told()
    for event in events:
        result.calls += event.trace_id > trace(1)
        result.agents += isinstance(event, CallEnded) and event.span_id == span(AGENT)
        verdicts = engine.observe(event, 0.0)
        if any(v.finding is not None and v.finding.severity is Severity.STOP for v in verdicts):
            result.stopped_after = result.calls
            break
    return result


def read(spans: list[RawSpan]) -> list[CallStarted]:
    dialect = OtelGenai()
    return [event for each in spans if (event := dialect.read(each)) is not None]


def with_starts(spans: list[RawSpan]) -> list[CallStarted]:
    """Ends in their order, and each start in its time before."""
    ends = read(as_they_end(spans))
    starts = [
        CallStarted(**{name: getattr(event, name) for name in CallStarted.__dataclass_fields__})
        for event in ends
    ]
    timed = [(e.started_ns, e) for e in starts] + [(e.ended_ns, e) for e in ends if isinstance(e, CallEnded)]
    return [event for _, event in sorted(timed, key=lambda each: each[0])]


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("order", ORDERS)
def test_it_is_stopped_within_fifteen_calls_in_any_order(tie: str, order: str) -> None:
    spans = [
        each for each in recursion(tie, LEVELS[tie]) if tie != "conversation" or each.span_id != span(TOOL)
    ]

    result = told(read(ORDERS[order](spans)))

    assert result.stopped_after is not None
    assert result.stopped_after <= 15


@pytest.mark.parametrize("tie", TIES)
def test_it_is_stopped_within_fifteen_calls_where_starts_are_told(tie: str) -> None:
    spans = [each for each in recursion(tie, LEVELS[tie]) if each.span_id == span(AGENT)]

    result = told(with_starts(spans))

    assert result.stopped_after is not None
    assert result.stopped_after <= 15


def test_by_baggage_it_is_stopped_before_the_third_of_a_name_has_done_anything() -> None:
    result = told(with_starts(recursion("baggage", 40)))

    assert (result.stopped_after, result.agents) == (5, 0)


def test_by_baggage_each_process_sees_it_by_itself() -> None:
    one = [each for each in recursion("baggage", 9) if int.from_bytes(each.trace_id, "big") % 2]

    result = told(with_starts(one))

    assert (result.stopped_after, result.agents) == (1, 0)


@pytest.mark.parametrize(("tie", "agents"), [("baggage", 0), ("link", 3), ("conversation", 8)])
def test_however_deep_it_is_stopped_when_few_have_ended(tie: str, agents: int) -> None:
    result = told(read(as_they_end(recursion(tie, 60))))

    assert result.stopped_after is not None
    assert result.agents == agents


@pytest.mark.parametrize("tie", TIES)
def test_a_planner_and_its_helpers_in_other_processes_are_let_work(tie: str) -> None:
    deep = recursion(tie, 2)
    planner, helper = deep[:3], deep[3:]
    again = [
        RawSpan(
            trace(number),
            each.span_id,
            each.parent_span_id,
            "",
            each.start_ns + number,
            each.end_ns + number,
            each.attributes,
            links=each.links,
        )
        for number in range(2, 10)
        for each in helper
    ]

    assert told(read(as_they_end([*planner, *again]))).stopped_after is None
