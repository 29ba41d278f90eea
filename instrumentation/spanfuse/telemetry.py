"""The spans that the application itself sees: made with its own tracer provider, if it has one.

Rule 1: the application's provider is used, never replaced or pre-empted; it may come late, so it is looked
for anew at each span (one comparison). Rule 2: until there is one, and where a tracer gives no valid ids,
spans get ids of their own: contexts are propagated and the record is complete either way. Rule 3: what
is judged is never read back from these spans. It does not know what a call is.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, SpanKind, TraceFlags, Tracer

from spanfuse.guard import fault
from spanfuse.settings import resource_attributes
from spanfuse_processor.engine import names

SCOPE: Final = names.SCOPE

_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)


def library_version() -> str:
    """The version of this library, empty when it runs from a bare source tree."""
    from importlib.metadata import PackageNotFoundError, version  # 15 ms, and few ask

    try:
        return version("spanfuse")
    except PackageNotFoundError:
        return ""


@dataclass(slots=True)
class Started:
    """A span that has begun: the application's own object, and its ids as bytes."""

    span: Span
    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes


class Tracing:
    """Starts spans.

    `on_provider` is told of the application's provider when it is first seen, `on_none` of our resource when
    the first span begins and there is no provider.
    """

    def __init__(
        self,
        service: str,
        instance: str,
        on_provider: Callable[[Any], None] | None = None,
        on_none: Callable[[Mapping[str, object]], None] | None = None,
    ) -> None:
        self._on_provider = on_provider
        self._on_none = on_none
        self._provider: object = None
        self._tracer: Tracer | None = None
        self._instance = {names.SERVICE_INSTANCE: instance}
        self.resource: Mapping[str, object] = {
            **resource_attributes(),
            **({names.SERVICE_NAME: service} if service else {}),
            **self._instance,
        }

    def start(
        self,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, Any],
        start_ns: int,
        origin: SpanContext | None = None,
    ) -> Started:
        """A span under the current one; under `origin` where there is none."""
        context = otel_context.get_current()
        parent = trace.get_current_span(context).get_span_context()
        if not parent.is_valid and origin is not None:
            parent = origin
            context = trace.set_span_in_context(NonRecordingSpan(origin), context)
        span = self._span(name, kind, attributes, start_ns, context, parent)
        made = span.get_span_context()
        return Started(
            span,
            made.trace_id.to_bytes(16, "big"),
            made.span_id.to_bytes(8, "big"),
            parent.span_id.to_bytes(8, "big") if parent.is_valid else b"",
        )

    def _span(
        self,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, Any],
        start_ns: int,
        context: Context,
        parent: SpanContext,
    ) -> Span:
        try:
            tracer = self.adopt()
            if tracer is None:
                self._say_there_is_none()
            else:
                span = tracer.start_span(name, context, kind, attributes, start_time=start_ns)
                made = span.get_span_context()
                if made.is_valid and made.span_id != parent.span_id:
                    return span
        except Exception as error:  # of the application's sampler or span processors: foreign code
            fault("the application's tracer", error)
        return NonRecordingSpan(_own_context(parent))

    def _say_there_is_none(self) -> None:
        told, self._on_none = self._on_none, None
        if told is not None:
            told(self.resource)

    def adopt(self) -> Tracer | None:
        """The tracer of the application's provider, None while it has set none."""
        provider = trace.get_tracer_provider()
        if provider is not self._provider:
            self._provider = provider
            self._take(provider)
        return self._tracer

    def _take(self, provider: trace.TracerProvider) -> None:
        if isinstance(provider, trace.ProxyTracerProvider) or getattr(provider, "stands_in", False):
            self._tracer = None
            return
        self._tracer = provider.get_tracer(SCOPE, library_version())
        resource = getattr(provider, "resource", None)
        # The instance stays ours: it is what the processor knows this process by.
        self.resource = {**self.resource, **getattr(resource, "attributes", {}), **self._instance}
        if self._on_provider is not None:
            self._on_provider(provider)


def _own_context(parent: SpanContext) -> SpanContext:
    """Ids as the SDK makes them: random, never zero; the trace is the parent's where there is one."""
    trace_id = parent.trace_id if parent.is_valid else random.getrandbits(128) or 1
    flags = parent.trace_flags if parent.is_valid else _SAMPLED
    return SpanContext(trace_id, random.getrandbits(64) or 1, is_remote=False, trace_flags=flags)
