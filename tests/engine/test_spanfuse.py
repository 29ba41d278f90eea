"""The straight line for our own spans reads what the general dialect reads, only faster."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.genai import raw

from spanfuse_processor.engine import names
from spanfuse_processor.engine.dialects.otel_genai import OtelGenai
from spanfuse_processor.engine.dialects.spanfuse import Spanfuse
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result

PRINTS = Fingerprints("a" * 16, "b" * 16, "c" * 16, "c" * 16, result_size=40)
COMMON = {
    names.RUN: "run-1",
    names.DEPTH: 1,
    names.AGENT: "helper",
    names.AGENT_PATH: "main/helper",
    names.ARGUMENTS: pack_arguments(PRINTS),
    names.RESULT: pack_result(PRINTS),
}
TOOL = COMMON | {names.OPERATION: "execute_tool", names.TOOL: "search", names.TOOL_CALL_ID: "call_1"}
CHAT = COMMON | {
    names.OPERATION: "chat",
    names.PROVIDER: "openai",
    names.REQUEST_MODEL: "gpt-4o",
    names.RESPONSE_MODEL: "gpt-4o-2024-08-06",
    names.RESPONSE_ID: "resp_1",
    names.INPUT_TOKENS: 100,
    names.OUTPUT_TOKENS: 20,
}
MORE = {
    names.TURN: "user",
    names.FEATURE: "chat",
    names.USER: "u1",
    names.ERROR_TYPE: "ValueError",
    names.EFFECT: "wait",
    names.REPEATABLE: True,
    names.COST_USD: 0.0025,
    names.CACHED_TOKENS: 80,
    names.CACHE_WRITE_TOKENS: 40,
    names.REASONING_TOKENS: 30,
    names.FINISH_REASONS: ["length"],
    names.BUDGET_USD: 2.5,
    names.PRESUMED_USD: 0.0105,
}
values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5)
odd = values | st.lists(values, max_size=2)


def fast(attributes: dict[str, Any], scope: str = names.SCOPE, **more: Any) -> Any:
    """What the straight line reads."""
    return Spanfuse(Fingerprinter(), {}).read(raw(attributes, scope=scope, **more))


def test_a_tool_s_call_is_read() -> None:
    event = fast(TOOL)

    assert (event.kind, event.name, event.tool_call_id, event.effect) == (
        Kind.TOOL,
        "search",
        "call_1",
        "read",
    )
    assert (event.run_id, event.depth, event.agents, event.agent) == (
        "run-1",
        1,
        ("main", "helper"),
        "helper",
    )
    assert event.prints == PRINTS


def test_a_model_s_call_is_read() -> None:
    event = fast(CHAT)

    assert (event.kind, event.name, event.model) == (Kind.MODEL, "gpt-4o", "gpt-4o-2024-08-06")
    assert (event.provider, event.response_id, event.usage) == ("openai", "resp_1", Usage(100, 20))


def test_a_run_s_own_budget_and_a_cut_answer_are_read() -> None:
    event = fast(CHAT | {names.BUDGET_USD: 2.5, names.FINISH_REASONS: ["length"]})

    assert (event.budget, event.cut, event.asks) == (2_500_000, True, False)
    assert fast(CHAT | {names.FINISH_REASONS: ["tool_calls"]}).asks
    assert (fast(CHAT).budget, fast(CHAT).cut) == (None, False)


def test_what_was_charged_on_presumption_is_read() -> None:
    event = fast({name: CHAT[name] for name in CHAT if "usage" not in name} | {names.PRESUMED_USD: 0.0105})

    assert (event.usage, event.presumed, event.estimated) == (None, 10_500, True)
    assert fast(CHAT | {names.PRESUMED_USD: -1}).presumed is None
    assert fast(CHAT).presumed is None


def test_whose_words_came_last_is_read() -> None:
    turns = [fast(CHAT | {names.TURN: turn}) for turn in ("user", "fresh", "tool", "agent")]

    assert [(each.user_turn, each.fresh, each.handed) for each in turns] == [
        (True, False, False), (True, True, False), (False, False, True), (False, False, False),
    ]  # fmt: skip


def test_a_scope_that_is_not_ours_is_left_to_others() -> None:
    assert fast(TOOL, scope="mine") is None


@pytest.mark.parametrize("name", [names.RUN, names.OPERATION])
def test_a_span_that_lacks_what_ours_have_is_left_to_others(name: str) -> None:
    assert fast({key: value for key, value in TOOL.items() if key != name}) is None


def test_without_fingerprints_it_is_left_to_others() -> None:
    bare = {key: value for key, value in TOOL.items() if key not in (names.ARGUMENTS, names.RESULT)}

    assert fast(bare) is None


@pytest.mark.parametrize("operation", ["invoke_agent", "invoke_workflow", "retrieval"])
def test_other_operations_are_left_to_others(operation: str) -> None:
    assert fast(TOOL | {names.OPERATION: operation}) is None


@given(
    st.sampled_from([TOOL, CHAT, CHAT | {names.OPERATION: "embeddings"}]),
    st.sets(st.sampled_from(sorted(MORE))),
    st.dictionaries(st.sampled_from(sorted(TOOL | CHAT | MORE)), odd, max_size=3),
    st.sampled_from([0, 1, 2]),
)
def test_whatever_comes_both_dialects_read_the_same(
    base: dict[str, Any], more: set[str], strange: dict[str, Any], status: int
) -> None:
    attributes = base | {name: MORE[name] for name in more} | strange

    event = fast(attributes, status=status)

    if event is not None:
        assert event == OtelGenai().read(raw(attributes, scope=names.SCOPE, status=status))
