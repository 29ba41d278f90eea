"""Tokens and cost: what counts, under which name, and what is no usage at all."""

from __future__ import annotations

import pytest
from tests.engine.genai import CHAT, read

from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Details, Usage


class TestUsage:
    @pytest.mark.parametrize(
        ("attributes", "usage"),
        [
            ({names.INPUT_TOKENS: 200, names.OUTPUT_TOKENS: 20}, Usage(200, 20)),
            ({"gen_ai.usage.prompt_tokens": 200, "gen_ai.usage.completion_tokens": 20}, Usage(200, 20)),
            ({names.INPUT_TOKENS: "200", names.OUTPUT_TOKENS: 20.0}, Usage(200, 20)),
            ({names.INPUT_TOKENS: 0, names.OUTPUT_TOKENS: 0}, Usage(0, 0)),
            ({names.INPUT_TOKENS: 200}, Usage(200, 0)),
            ({}, None),
            ({names.INPUT_TOKENS: None, names.OUTPUT_TOKENS: True}, None),
            ({names.INPUT_TOKENS: -5, names.OUTPUT_TOKENS: float("nan")}, None),
        ],
    )
    def test_missing_is_not_zero(self, attributes: dict[str, object], usage: Usage | None) -> None:
        assert read(CHAT | attributes).usage == usage

    @pytest.mark.parametrize(
        "name",
        [
            names.CACHED_TOKENS,
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.input_tokens.cached",
            "ai.usage.cachedInputTokens",
        ],
    )
    def test_cached_tokens_by_every_spelling(self, name: str) -> None:
        assert read({**CHAT, names.INPUT_TOKENS: 200, name: 128}).usage == Usage(200, 0, 128)

    @pytest.mark.parametrize(
        "name",
        [
            names.CACHE_WRITE_TOKENS,
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "gen_ai.usage.cache_write_input_tokens",
            "ai.usage.inputTokenDetails.cacheWriteTokens",
        ],
    )
    def test_cache_writes_by_every_spelling(self, name: str) -> None:
        assert read({**CHAT, names.INPUT_TOKENS: 200, name: 64}).usage == Usage(200, 0, 0, 64)

    def test_audio_images_and_long_caches_are_parts_too(self) -> None:
        attributes = {names.INPUT_TOKENS: 200, names.AUDIO_INPUT_TOKENS: 50, names.KEPT_TOKENS: 64}

        assert read({**CHAT, **attributes}).usage == Usage(200, details=Details(kept=64, audio_input=50))

    @pytest.mark.parametrize(
        "name",
        [
            names.SERVICE_TIER,
            "gen_ai.openai.response.service_tier",
            "anthropic.response.service_tier",
            "openai.request.service_tier",
        ],
    )
    def test_how_a_call_was_served_by_every_spelling(self, name: str) -> None:
        assert read({**CHAT, name: "Priority"}).service == "priority"
        assert read({**CHAT, "openai.request.service_tier": "auto", name: "flex"}).service == "flex"

    def test_a_guess_says_so(self) -> None:
        assert read({**CHAT, names.INPUT_TOKENS: 5, names.ESTIMATED: True}).estimated
        assert not read({**CHAT, names.INPUT_TOKENS: 5}).estimated

    def test_parts_that_are_more_than_the_whole_are_outside_of_it(self) -> None:
        usage = read({**CHAT, names.INPUT_TOKENS: 8, names.CACHED_TOKENS: 128}).usage

        assert usage == Usage(136, 0, 128)

    def test_reasoning_is_part_of_the_output(self) -> None:
        usage = read({**CHAT, names.OUTPUT_TOKENS: 5, "gen_ai.usage.reasoning_tokens": 8}).usage

        assert usage == Usage(0, 8, 0, 0, 8)

    @pytest.mark.parametrize("operation", ["invoke_agent", "invoke_workflow", "execute_tool", "agent_step"])
    def test_sums_on_agents_and_workflows_are_no_usage(self, operation: str) -> None:
        assert read({names.OPERATION: operation, names.INPUT_TOKENS: 4_900}).usage is None

    @pytest.mark.parametrize(
        "name", [names.COST_USD, "operation.cost", "gen_ai.cost.total_cost", "gen_ai.usage.cost"]
    )
    def test_a_stated_cost_is_a_hint_in_micro_dollars(self, name: str) -> None:
        assert read(CHAT | {name: 0.0025}).cost == 2_500
        assert read(CHAT | {name: 0}).cost is None
