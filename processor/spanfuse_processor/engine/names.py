"""Every attribute name that we write or read by name, once.

The library writes them, the `otel_genai` dialect reads them; one file, so that the two cannot drift.
Sources: OTel GenAI semantic conventions (docs/gen-ai), `error.type` and `user.id`/`session.id` of the core
conventions; what the standard lacks is `spanfuse.*`.
"""

from __future__ import annotations

from typing import Final

SCOPE: Final = "spanfuse"  # the instrumentation scope of our library's spans

BREAKER_SPAN: Final = (
    "spanfuse.breaker"  # the name of a span that tells of the breaker, and the prefix of its fields
)

# OTel GenAI, current names.
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
REQUEST_STREAM: Final = "gen_ai.request.stream"
MAX_TOKENS: Final = "gen_ai.request.max_tokens"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHED_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE_TOKENS: Final = "gen_ai.usage.cache_write.input_tokens"
REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
KEPT_TOKENS: Final = "anthropic.usage.cache_creation.ephemeral_1h_input_tokens"
AUDIO_INPUT_TOKENS: Final = "gen_ai.usage.audio.input_tokens"
AUDIO_CACHED_TOKENS: Final = "gen_ai.usage.audio.cache_read.input_tokens"
AUDIO_OUTPUT_TOKENS: Final = "gen_ai.usage.audio.output_tokens"
IMAGE_INPUT_TOKENS: Final = "gen_ai.usage.image.input_tokens"
IMAGE_CACHED_TOKENS: Final = "gen_ai.usage.image.cache_read.input_tokens"
IMAGE_OUTPUT_TOKENS: Final = "gen_ai.usage.image.output_tokens"
SERVICE_TIER: Final = "openai.response.service_tier"  # how a call was served: default, flex, priority ...
CONVERSATION: Final = "gen_ai.conversation.id"
AGENT: Final = "gen_ai.agent.name"
WORKFLOW: Final = "gen_ai.workflow.name"
TOOL: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"

# OTel core.
ERROR_TYPE: Final = "error.type"
RESENDS: Final = "http.request.resend_count"
"""How many times a client itself tried again, unseen by whoever called it."""
SERVICE_NAME: Final = "service.name"
SERVICE_INSTANCE: Final = "service.instance.id"
SERVICE_NAMESPACE: Final = "service.namespace"
USER: Final = "user.id"
SESSION: Final = "session.id"

# Ours: who and where.
RUN: Final = "spanfuse.run.id"
DEPTH: Final = "spanfuse.run.depth"
BUDGET_USD: Final = "spanfuse.run.budget_usd"
PROFILE: Final = "spanfuse.run.profile"  # interactive, batch or long
AGENT_PATH: Final = "spanfuse.agent.path"  # names of the enclosing agents, outermost first
STAGES: Final = "spanfuse.stages"  # that a call is in, as `reading/stages.py` writes and reads them
STAGE: Final = "spanfuse.stage.name"  # this one and the next two: of the stage's own span, for people
STAGE_BUDGET_USD: Final = "spanfuse.stage.budget_usd"
STAGE_TIMEOUT: Final = "spanfuse.stage.timeout"  # seconds
TENANT: Final = "spanfuse.tenant"
NAMESPACE: Final = "spanfuse.namespace"
FEATURE: Final = "spanfuse.feature"
TURN: Final = "spanfuse.turn"  # whose words came last: a user's, also when nothing else came before, a tool's
USER_TURN: Final = "user"
FRESH_TURN: Final = "fresh"
TOOL_TURN: Final = "tool"

# Ours: what can be compared without content.
ARGUMENTS: Final = "spanfuse.arguments"  # both as `reading/prints.py` writes and reads them
RESULT: Final = "spanfuse.result"

# Ours: about the call.
EFFECT: Final = "spanfuse.tool.effect"
REPEATABLE: Final = "spanfuse.tool.repeatable"
DERIVED: Final = "spanfuse.tool.derived"  # read from the messages, not from a wrapped function
COST_USD: Final = "spanfuse.cost_usd"
ESTIMATED: Final = "spanfuse.usage.estimated"  # true: the tokens were not reported, they are a guess
SEARCHES: Final = "spanfuse.usage.web_searches"  # that the provider itself made for the call
LEASED: Final = "spanfuse.lease"  # the accounts that it was paid from before it began, by name
PRESUMED_USD: Final = "spanfuse.presumed_usd"  # what it was charged where nobody knows what it came to
THROTTLED_MS: Final = "spanfuse.throttled_ms"  # how long it was held back before it began
DEGRADED: Final = "spanfuse.degraded"  # whether it gave something up; false: it was to, and could not
ORIGINAL_MODEL: Final = "spanfuse.request.model.original"  # that the application asked for
STOPPED: Final = "spanfuse.stopped"  # the directive that refused or ended this call
NOT_ENDED: Final = "spanfuse.stream.abandoned"  # the stream was dropped before its end
