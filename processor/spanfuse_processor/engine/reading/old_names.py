"""What emitters of older conventions, or of their own, send in the place of a current GenAI name.

Rule 1: tables only, each entry seen on real spans. Rule 2: the current spelling always goes first; these
are looked up where it is absent. This file does not know how values are read.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind

OLD_NAMES: Final[dict[str, tuple[str, ...]]] = {
    names.PROVIDER: ("gen_ai.system",),
    names.INPUT_TOKENS: ("gen_ai.usage.prompt_tokens",),
    names.OUTPUT_TOKENS: ("gen_ai.usage.completion_tokens",),
    names.CACHED_TOKENS: (
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.input_tokens.cached",
        "ai.usage.cachedInputTokens",
    ),
    names.CACHE_WRITE_TOKENS: (
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_write_input_tokens",
        "ai.usage.inputTokenDetails.cacheWriteTokens",
    ),
    names.REASONING_TOKENS: (
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens",
        "ai.usage.reasoningTokens",
    ),
    names.AUDIO_INPUT_TOKENS: ("gen_ai.usage.details.input_audio_tokens",),
    names.AUDIO_CACHED_TOKENS: ("gen_ai.usage.details.cache_audio_read_tokens",),
    names.AUDIO_OUTPUT_TOKENS: ("gen_ai.usage.details.output_audio_tokens",),
    names.SERVICE_TIER: (
        "gen_ai.openai.response.service_tier",
        "anthropic.response.service_tier",
        "openai.request.service_tier",
        "gen_ai.openai.request.service_tier",
    ),
    names.TOOL: ("traceloop.entity.name",),
    names.TOOL_CALL_ID: ("gen_ai.tool.call_id",),
    names.TOOL_ARGUMENTS: ("gen_ai.tool.args", "tool_arguments", "traceloop.entity.input"),
    names.TOOL_RESULT: ("tool_response", "traceloop.entity.output"),
    names.AGENT: ("traceloop.entity.name",),
    names.COST_USD: ("operation.cost", "gen_ai.cost.total_cost", "gen_ai.usage.cost"),
}
"""Current name -> older or private ones, in the order in which they are believed."""

OLD_KINDS: Final[dict[str, dict[str, Kind]]] = {
    "llm.request.type": {"chat": Kind.MODEL, "completion": Kind.MODEL, "embedding": Kind.EMBEDDINGS},
    "traceloop.span.kind": {
        "tool": Kind.TOOL,
        "agent": Kind.AGENT,
        "workflow": Kind.WORKFLOW,
        "task": Kind.OTHER,
    },
}
"""Attributes that said what a span is before `gen_ai.operation.name` did, and their values."""

PROVIDERS: Final[dict[str, str]] = {
    "strands-agents": "",
    "microsoft.agent_framework": "",
    "langchain": "",
    "langgraph": "",
    "crewai": "",
    "gemini": "gcp.gemini",
    "openai.chat": "openai",
    "openai.responses": "openai",
    "anthropic.messages": "anthropic",
}
"""Frameworks that name themselves where the provider belongs (so it is unknown), and odd spellings."""

NAMELESS_CONTAINERS: Final = frozenset({"openlit.instrumentation.openai_agents"})
"""Scopes that call every step and wrapper an agent; only those with a name are."""

EXCLUSIVE: Final = frozenset({"openlit.instrumentation.anthropic"})
"""Scopes whose input tokens leave out the cached ones."""
