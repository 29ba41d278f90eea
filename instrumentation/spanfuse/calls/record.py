"""A call as the attributes of its span: the OTel GenAI conventions, and ours beside them.

Rule 1: no content: what was said appears as digests and sizes only (where it is asked for, `contents.py` adds
it). Rule 2: what is not known is absent, never an empty value. Rule 3: names come from `engine.names`, which
the processor reads them by. It does not know where the attributes go.
"""

from __future__ import annotations

from typing import Any, Final

from opentelemetry.trace import SpanKind

from spanfuse.context import RunScope, path_of
from spanfuse.errors import BreakerOpen, RunStopped
from spanfuse.provider import Intent, Outcome
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Fingerprints, Identity, Kind, Usage
from spanfuse_processor.engine.reading.details import NAMES
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result

Attributes = dict[str, Any]

_NAMED: Final = {
    Kind.MODEL: names.REQUEST_MODEL,
    Kind.EMBEDDINGS: names.REQUEST_MODEL,
    Kind.TOOL: names.TOOL,
    Kind.AGENT: names.AGENT,
    Kind.WORKFLOW: names.WORKFLOW,
}
_REMOTE: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS})


def span_name(intent: Intent) -> str:
    """`{operation} {name}`, as the conventions have it."""
    return f"{intent.operation} {intent.name}" if intent.name else intent.operation


def span_kind(intent: Intent) -> SpanKind:
    """CLIENT for what leaves the process, INTERNAL for the rest."""
    return SpanKind.CLIENT if intent.kind in _REMOTE else SpanKind.INTERNAL


def of_start(intent: Intent, scope: RunScope) -> Attributes:
    """What is known when a call begins."""
    known: Attributes = dict(intent.attributes)
    known[names.OPERATION] = intent.operation
    if intent.provider:
        known[names.PROVIDER] = intent.provider
    if scope.agent:
        known[names.AGENT] = scope.agent
    named = _NAMED.get(intent.kind)
    if named and intent.name:
        known[named] = intent.name
    if intent.stream:
        known[names.REQUEST_STREAM] = True
    if intent.user_turn:
        known[names.TURN] = names.FRESH_TURN if intent.fresh else names.USER_TURN
    if intent.kind is Kind.TOOL:
        _add_tool(known, intent)
    _add_scope(known, scope)
    return known


def _add_tool(known: Attributes, intent: Intent) -> None:
    known[names.TOOL_TYPE] = "function"
    if intent.tool_call_id:
        known[names.TOOL_CALL_ID] = intent.tool_call_id
    if intent.effect:
        known[names.EFFECT] = intent.effect
    if intent.repeatable:
        known[names.REPEATABLE] = True


def _add_scope(known: Attributes, scope: RunScope) -> None:
    known[names.RUN] = scope.id
    known[names.DEPTH] = scope.depth
    if scope.agents:
        known[names.AGENT_PATH] = path_of(scope.agents)
    if scope.stages:
        known[names.STAGES] = scope.stages
    if scope.budget_usd is not None:
        known.setdefault(names.BUDGET_USD, scope.budget_usd)
    for name, value in identity_entries(scope.identity):
        known[name] = value


def identity_entries(who: Identity) -> list[tuple[str, str]]:
    """Who a call is made for, as far as it is known; service and instance are the resource's."""
    entries = (
        (names.TENANT, who.tenant),
        (names.NAMESPACE, who.namespace),
        (names.FEATURE, who.feature),
        (names.USER, who.user),
        (names.SESSION, who.session),
        (names.PROFILE, who.profile),
    )
    return [(name, value) for name, value in entries if value]


def of_outcome(outcome: Outcome) -> Attributes:
    """What is known when a call has ended well."""
    known: Attributes = {}
    if outcome.model:
        known[names.RESPONSE_MODEL] = outcome.model
    if outcome.response_id:
        known[names.RESPONSE_ID] = outcome.response_id
    if outcome.finish_reasons:
        known[names.FINISH_REASONS] = list(outcome.finish_reasons)
    if outcome.service:
        known[names.SERVICE_TIER] = outcome.service
    if not outcome.complete:
        known[names.NOT_ENDED] = True
    if outcome.usage is not None:
        known.update(of_usage(outcome.usage))
    return known


def of_usage(usage: Usage) -> Attributes:
    """Tokens. The totals are always there, so that a counted nothing is 0; the parts where they are not 0."""
    known: Attributes = {
        names.INPUT_TOKENS: usage.input_tokens,
        names.OUTPUT_TOKENS: usage.output_tokens,
    }
    parts = (
        (names.CACHED_TOKENS, usage.cached_tokens),
        (names.CACHE_WRITE_TOKENS, usage.cache_write_tokens),
        (names.REASONING_TOKENS, usage.reasoning_tokens),
    )
    known.update({name: count for name, count in parts if count})
    if usage.details is not None:
        known.update({name: count for name, count in zip(NAMES, usage.details, strict=True) if count})
    return known


def of_error(error: BaseException) -> Attributes:
    """What is known when a call has raised: the type of the error, never its message."""
    known: Attributes = {names.ERROR_TYPE: error_type(error)}
    if isinstance(error, BreakerOpen | RunStopped):
        known[names.STOPPED] = error.directive.id
    return known


def error_type(error: BaseException) -> str:
    """The qualified name of an error's class; builtins without their module."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def of_prints(prints: Fingerprints) -> Attributes:
    """What can be compared; what is unknown is left out."""
    packed = ((names.ARGUMENTS, pack_arguments(prints)), (names.RESULT, pack_result(prints)))
    return {name: text for name, text in packed if text}
