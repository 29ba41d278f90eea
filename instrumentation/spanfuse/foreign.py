"""Spans of other instrumentations in this process: what speaks of a GenAI call is judged as well.

Rule 1: it hangs on the application's own tracer provider, once, and goes by what is live at the moment.
Rule 2: our own spans, and spans that tell of calls that we record ourselves, are passed over, unless they
say what we could only guess: then what they say of usage is told as ours. Rule 3: a span that begins in a run
is stamped with it, so that it is judged with its run. It is imported only where the application has the SDK;
it does not judge, nor read more than a span's kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from weakref import WeakSet

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import SpanContext

from spanfuse import context, runtime
from spanfuse.guard import guarded
from spanfuse.runtime import Runtime
from spanfuse.telemetry import SCOPE
from spanfuse_processor.engine import names
from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.engine.nouns import Kind

PREFIXES: Final = ("gen_ai.", "llm.", "openinference.", "traceloop.")
"""What an attribute begins with, in spans that speak of GenAI calls."""

_OPERATIONS: Final = {
    "chat": Kind.MODEL,
    "text_completion": Kind.MODEL,
    "generate_content": Kind.MODEL,
    "embeddings": Kind.EMBEDDINGS,
    "execute_tool": Kind.TOOL,
    "invoke_agent": Kind.AGENT,
    "llm": Kind.MODEL,
    "completion": Kind.MODEL,
    "embedding": Kind.EMBEDDINGS,
    "tool": Kind.TOOL,
    "agent": Kind.AGENT,
}
_SPEAKS_OF_KIND: Final = (
    names.OPERATION,
    "openinference.span.kind",
    "traceloop.span.kind",
    "llm.request.type",
)
_SPEAKS_OF_USAGE: Final = (names.INPUT_TOKENS, "gen_ai.usage.prompt_tokens")
_OF_USAGE: Final = frozenset(
    {
        *(names.OPERATION, names.RUN, names.PROVIDER, "gen_ai.system"),
        *(names.REQUEST_MODEL, names.RESPONSE_MODEL, names.SERVICE_TIER),
    }
)
_watched: Final[WeakSet[Any]] = WeakSet()


def watch(provider: Any) -> None:
    """Hangs on the application's tracer provider, if it takes processors. Once, whoever asks how often."""
    if hasattr(provider, "add_span_processor") and provider not in _watched:
        _watched.add(provider)
        provider.add_span_processor(ForeignSpans())


class ForeignSpans(SpanProcessor):
    """Hands the spans of other instrumentations to the host."""

    @guarded("foreign.on_start", None)
    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Stamps a span with the run that it begins in."""
        if runtime.live() is None or _is_ours(span):
            return
        scope = context.current()
        if scope is not None:
            span.set_attribute(names.RUN, scope.id)

    @guarded("foreign.on_end", None)
    def on_end(self, span: ReadableSpan) -> None:
        """Hands over what speaks of a GenAI call."""
        live = runtime.live()
        if live is None or _is_ours(span):
            return
        attributes = span.attributes or {}
        if not any(name.startswith(PREFIXES) for name in attributes):
            return
        raw = _plain(span)
        if raw is None:
            return
        ours = live.twins.tells_ours(raw.span_id, raw.parent_span_id, kind_of(attributes))
        if not ours:
            _hand_over(live, raw)
        elif any(attributes.get(name) for name in _SPEAKS_OF_USAGE):
            told = replace(raw, span_id=ours, attributes=_of_usage(raw.attributes))
            if live.twins.heard(ours, told):
                live.host.span_ended(told)


def kind_of(attributes: Any) -> Kind:
    """What a foreign span tells of, as its vocabulary names it; OTHER where it does not say."""
    for name in _SPEAKS_OF_KIND:
        said = attributes.get(name)
        if isinstance(said, str):
            return _OPERATIONS.get(said.lower(), Kind.OTHER)
    return Kind.OTHER


def _of_usage(attributes: Mapping[str, object]) -> dict[str, object]:
    """What says what a call used, and of which model; nothing of what was said."""
    return {
        name: value
        for name, value in attributes.items()
        if name in _OF_USAGE or name.startswith("gen_ai.usage.")
    }


def _hand_over(live: Runtime, raw: RawSpan) -> None:
    live.start()
    live.board.ended(raw.span_id, live.board.clock())
    live.host.span_ended(raw)


def _is_ours(span: ReadableSpan) -> bool:
    scope = span.instrumentation_scope
    return scope is not None and scope.name == SCOPE


def _plain(span: ReadableSpan) -> RawSpan | None:
    here: SpanContext | None = span.get_span_context()
    if here is None or not here.is_valid or span.start_time is None or span.end_time is None:
        return None
    parent = span.parent
    return RawSpan(
        trace_id=here.trace_id.to_bytes(16, "big"),
        span_id=here.span_id.to_bytes(8, "big"),
        parent_span_id=parent.span_id.to_bytes(8, "big") if parent is not None else b"",
        name=span.name,
        start_ns=span.start_time,
        end_ns=span.end_time,
        attributes=dict(span.attributes or {}),
        resource=dict(span.resource.attributes),
        scope=span.instrumentation_scope.name if span.instrumentation_scope else "",
        status=span.status.status_code.value,
        links=tuple(_link(link.context) for link in span.links),
        dropped_attributes=span.dropped_attributes,
    )


def _link(other: SpanContext) -> tuple[bytes, bytes]:
    return other.trace_id.to_bytes(16, "big"), other.span_id.to_bytes(8, "big")
