"""What the breaker did, as a span of the application's own: the trace that it looks at tells the story.

Rule 1: it is made by the application's provider, where it has one, and by nothing else. Rule 2: it stands
below the offending call; where none is known, at the root of that call's trace, and a budget's without a
call in a trace of its own. Rule 3: it is sampled, whatever became of the trace. It is never judged: it is of
our scope.
"""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from spanfuse.guard import guarded
from spanfuse.telemetry import Tracing
from spanfuse_processor.engine.breaker_span import BreakerSpan
from spanfuse_processor.engine.names import BREAKER_SPAN

_RUN = f"{BREAKER_SPAN}.run"


@guarded("breaker span", None)
def show(tracing: Tracing, said: BreakerSpan) -> None:
    """Makes the span. On any thread but that of a call: the application's span processors run."""
    tracer = tracing.adopt()
    if tracer is None:
        return
    span = tracer.start_span(
        BREAKER_SPAN,
        _around(said),
        SpanKind.INTERNAL,
        said.attributes,
        [Link(_here(said, each)) for each in said.links],
        start_time=said.start_ns,
    )
    span.add_event(f"{BREAKER_SPAN}.{said.kind}", said.attributes, said.end_ns)
    if said.failed:
        span.set_status(Status(StatusCode.ERROR, said.message))
    span.end(said.end_ns)


def _around(said: BreakerSpan) -> Context:
    """Where it stands: only a parent puts it into a trace; what has none there stands below nobody."""
    if not said.parent_span_id and _RUN not in said.attributes:
        return Context()
    parent = _here(said, said.parent_span_id or said.span_id)
    return trace.set_span_in_context(NonRecordingSpan(parent), Context())


def _here(said: BreakerSpan, span_id: bytes) -> SpanContext:
    ids = int.from_bytes(said.trace_id, "big"), int.from_bytes(span_id, "big")
    return SpanContext(*ids, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
