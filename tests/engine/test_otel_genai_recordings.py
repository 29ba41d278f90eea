"""What real emitters sent, recorded once: the calls in it, and the tokens that the provider handed out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from spanfuse_processor.engine.dialects.otel_genai import OtelGenai
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.receiver.otlp_json import raw_spans_from_json

RECORDINGS = Path(__file__).parent.parent / "recordings"

# Input, output, cached, cache-written and reasoning tokens, each response once: what the provider handed out,
# as far as the emitter passes it on. And the calls by kind.
TRUTH: dict[str, tuple[tuple[int, ...], dict[Kind, int]]] = {
    "adk.nested.native": (
        (1100, 98, 384, 0, 16),
        {Kind.MODEL: 4, Kind.TOOL: 2, Kind.AGENT: 2, Kind.WORKFLOW: 2},
    ),
    "anthropic_sdk.chat.bare": ((200, 20, 0, 64, 0), {Kind.MODEL: 1}),
    "anthropic_sdk.chat.oldllmetry": ((200, 20, 0, 64, 0), {Kind.MODEL: 1}),
    "anthropic_sdk.chat.openlit": ((200, 20, 0, 64, 0), {Kind.MODEL: 1}),
    "anthropic_sdk.chat.openllmetry": ((200, 20, 0, 64, 0), {Kind.MODEL: 2}),
    "langchain.loop6.otelgenai.content": (
        (2450, 203, 768, 0, 32),
        {Kind.MODEL: 7, Kind.TOOL: 6, Kind.AGENT: 1},
    ),
    "langchain.nested.otelgenai.content": (
        (1100, 98, 384, 0, 16),
        {Kind.MODEL: 4, Kind.TOOL: 2, Kind.AGENT: 2},
    ),
    "litellm.chat.native": ((200, 20, 0, 0, 0), {Kind.MODEL: 1}),
    "mcp.tools.bare": ((0, 0, 0, 0, 0), {Kind.TOOL: 7, Kind.AGENT: 1}),
    "openai_agents.nested.otelgenai.content": (
        (0, 0, 0, 0, 0),
        {Kind.TOOL: 2, Kind.AGENT: 2, Kind.WORKFLOW: 1},
    ),
    "openai_sdk.chat.openai_v2.2_1b0": ((200, 20, 0, 0, 0), {Kind.MODEL: 1}),
    "openai_sdk.chat.otelgenai.content_events": ((200, 20, 0, 0, 8), {Kind.MODEL: 1}),
    "openai_sdk.embeddings.otelgenai": ((12, 0, 0, 0, 0), {Kind.EMBEDDINGS: 1}),
    "openai_sdk.fail.otelgenai": ((0, 0, 0, 0, 0), {Kind.MODEL: 1}),
    "openai_sdk.retry.openllmetry": ((200, 20, 0, 0, 8), {Kind.MODEL: 1}),
    "pydantic_ai.retry.native": ((200, 20, 0, 0, 8), {Kind.MODEL: 1, Kind.AGENT: 1}),
    "sk.toolerror.native.tool_base": ((200, 20, 0, 0, 0), {Kind.MODEL: 1, Kind.TOOL: 1, Kind.AGENT: 1}),
    "strands.retry.native": ((200, 20, 0, 0, 0), {Kind.MODEL: 1, Kind.AGENT: 1}),
    "trap.links_instead_of_parents.otelgenai": (
        (750, 69, 256, 0, 16),
        {Kind.WORKFLOW: 1, Kind.AGENT: 3, Kind.MODEL: 3},
    ),
    "vercel_ai.chat.v6": ((200, 20, 0, 0, 8), {Kind.MODEL: 1}),
    "vercel_ai.chat.v7": ((200, 20, 0, 0, 0), {Kind.MODEL: 1, Kind.AGENT: 1}),
}


def calls(recording: str) -> list[CallEnded]:
    """The calls that a recording tells of."""
    dialect = OtelGenai()
    spans = raw_spans_from_json((RECORDINGS / f"{recording}.json").read_bytes()).spans
    return [event for span in spans if (event := dialect.read(span)) is not None]


def test_every_recording_is_checked() -> None:
    assert {path.stem for path in RECORDINGS.glob("*.json")} == set(TRUTH)


@pytest.mark.parametrize("recording", sorted(TRUTH))
def test_tokens_are_those_that_the_provider_handed_out(recording: str) -> None:
    tokens = [0] * 5
    seen: set[str] = set()
    for event in calls(recording):
        usage = event.usage
        if usage is None or event.response_id in seen:
            continue
        seen |= {event.response_id} - {""}
        parts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cache_write_tokens)
        tokens = [total + part for total, part in zip(tokens, (*parts, usage.reasoning_tokens), strict=True)]

    assert tuple(tokens) == TRUTH[recording][0]


@pytest.mark.parametrize("recording", sorted(TRUTH))
def test_calls_are_of_the_kinds_that_took_place(recording: str) -> None:
    kinds = Counter(event.kind for event in calls(recording) if event.kind is not Kind.OTHER)

    assert dict(kinds) == TRUTH[recording][1]


def test_tool_calls_of_a_loop_have_equal_fingerprints() -> None:
    tools = [event for event in calls("langchain.loop6.otelgenai.content") if event.kind is Kind.TOOL]

    assert len(tools) == 6
    assert all(event.prints is not None and event.prints == tools[0].prints for event in tools)


def test_every_call_has_a_name() -> None:
    assert all(event.name for recording in TRUTH for event in calls(recording))


def test_links_join_traces_into_one_run() -> None:
    joined = [event for event in calls("trap.links_instead_of_parents.otelgenai") if event.joins]

    assert joined
