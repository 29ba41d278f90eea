"""The run of a whole process: named from outside, or the parent process's own.

Rule 1: it is the floor under all contexts: what runs inside names itself as ever. Rule 2: a process that is
handed a run (OTel's `BAGGAGE` and `TRACEPARENT` variables) is a part of it; else `SPANFUSE_RUN_NAME` and
`SPANFUSE_RUN_ID` make one. It does not know what the process does.
"""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from spanfuse import context
from spanfuse.calling import ActiveCall, begin
from spanfuse.context import RunScope
from spanfuse.guard import guarded
from spanfuse.provider import Intent, Outcome
from spanfuse.runtime import Runtime
from spanfuse.settings import Settings, inherited
from spanfuse_processor.engine.nouns import Identity, Kind

_PROPAGATORS = (TraceContextTextMapPropagator(), W3CBaggagePropagator())


class _Root:
    """The root span of the process's own run, while it is open."""

    call: ActiveCall | None = None


_root = _Root()


@guarded("process.enter", None)
def enter(live: Runtime) -> None:
    """Makes the process a run, if it is one."""
    handed = _handed_over()
    span = trace.get_current_span(handed).get_span_context()
    live.origin = span if span.is_valid else None
    scope = context.from_baggage(handed) or _own(live.settings)
    context.set_process_run(scope)
    if scope is not None and live.settings.run_name and context.from_baggage(handed) is None:
        _root.call = begin(Intent(Kind.WORKFLOW, "invoke_workflow", live.settings.run_name), scope)
        with _root.call.attached():
            live.origin = trace.get_current_span().get_span_context()


@guarded("process.leave", None)
def leave() -> None:
    """The process ends, or is no longer watched."""
    context.set_process_run(None)
    call, _root.call = _root.call, None
    if call is not None:
        call.succeed(Outcome())


def after_fork() -> None:
    """In the child of a fork: the root is the parent's to end; the run goes on."""
    _root.call = None


def _own(settings: Settings) -> RunScope | None:
    if not (settings.run_name or settings.run_id):
        return None
    return RunScope(settings.run_id or context.new_run_id(), Identity(feature=settings.feature))


def _handed_over() -> Context:
    carrier, handed = inherited(), Context()
    for propagator in _PROPAGATORS:
        handed = propagator.extract(carrier, handed)
    return handed


def environment() -> dict[str, str]:
    """Variables that make a child process a part of the current run: for the `env` it is started with."""
    carrier: dict[str, str] = {}
    scope = context.current()
    here = context.with_run(scope) if scope is not None else None
    for propagator in _PROPAGATORS:
        propagator.inject(carrier, here)
    return {name.upper(): value for name, value in carrier.items()}
