"""One call, from its admission to its end: gate, span, fingerprints, host.

Rule 1: begin, then exactly one of succeed and fail; a second answer is ignored. Rule 2: BreakerOpen and
RunStopped are the only errors that come out of here; everything else of ours is swallowed and counted.
Rule 3: the record that is judged is made here, not by the tracer: a sampler never decides what is judged.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from opentelemetry import trace

from spanfuse import context, guard, runtime
from spanfuse.calls.active import WatchedCall
from spanfuse.calls.settling import shown_effect
from spanfuse.calls.unwatched import UNWATCHED, ActiveCall
from spanfuse.context import RunScope
from spanfuse.degrading import Changed
from spanfuse.gate import Permit
from spanfuse.lineage import Asked, Trail
from spanfuse.payment import Payment
from spanfuse.provider import Intent, Outcome
from spanfuse.runtime import Runtime
from spanfuse_processor.engine import names
from spanfuse_processor.engine.fingerprint import ArgumentPrints
from spanfuse_processor.engine.nouns import Identity, Kind

__all__ = ["ActiveCall", "begin", "begin_async"]


def begin(intent: Intent, scope: RunScope | None = None) -> ActiveCall:
    """Admits a call and starts its span. Without `instrument()` it returns a call that does nothing.

    `scope` is the run that it is charged to. None: the current one, or whichever it turns out to belong to.
    A call that is to be made more slowly, or that is not paid for yet, waits here, in the calling thread.

    Raises:
        BreakerOpen: a directive in force covers this call (the refusal itself is counted and reported).
        RunStopped: the run swallowed three refusals; model calls only.
    """
    live = runtime.live()
    if live is None:
        return UNWATCHED
    try:
        arrival = _arrive(live, intent, scope)
        live.throttle.hold(intent, arrival.trail.scope)
        changed = _prepare(live, intent, arrival.trail.scope)
        payment = live.payments.pay(intent, arrival.trail.scope)
        return _enter(live, intent, arrival, changed, payment)
    except guard.ORDERS as order:
        live.inflight.refused(order.directive)
        raise
    except Exception as error:
        guard.fault("begin", error)
        return _only_admitted(live, intent, scope or context.current())


async def begin_async(intent: Intent, scope: RunScope | None = None) -> ActiveCall:
    """As `begin`; what waits lets other tasks run meanwhile. Raises as `begin`."""
    live = runtime.live()
    if live is None:
        return UNWATCHED
    try:
        arrival = _arrive(live, intent, scope)
        await live.throttle.hold_async(intent, arrival.trail.scope)
        changed = _prepare(live, intent, arrival.trail.scope)
        payment = await live.payments.pay_async(intent, arrival.trail.scope)
        return _enter(live, intent, arrival, changed, payment)
    except guard.ORDERS as order:
        live.inflight.refused(order.directive)
        raise
    except Exception as error:
        guard.fault("begin", error)
        return _only_admitted(live, intent, scope or context.current())


@guard.guarded("gate", UNWATCHED)
def _only_admitted(live: Runtime, intent: Intent, scope: RunScope | None) -> ActiveCall:
    """A call that cannot be watched for a fault of ours: a stop holds for it all the same."""
    if scope is not None:
        live.gate.admit(intent, scope)
    return UNWATCHED


class _Arrival(NamedTuple):
    """A call that has come: where it belongs, and what can be compared of a tool's arguments."""

    trail: Trail
    arguments: ArgumentPrints | None


def _arrive(live: Runtime, intent: Intent, scope: RunScope | None) -> _Arrival:
    live.start()
    arguments: ArgumentPrints | None = None
    asked: Asked | None = None
    if intent.kind is Kind.TOOL:
        _declare(live, intent)
        intent.effect = intent.effect or shown_effect(intent.name, intent.arguments)
        if live.lineage.expects(intent.name):
            arguments = live.prints.arguments(intent.arguments)
            asked = _carried_out(live, intent, arguments, scope or context.current())
    return _Arrival(_trail(live, intent, scope or context.current(), asked), arguments)


def _prepare(live: Runtime, intent: Intent, scope: RunScope) -> Changed | None:
    """All that comes before a call is paid for."""
    if intent.fresh:
        intent.fresh = not live.lineage.goes_on(scope.id, intent.arguments)
    if intent.answers:
        _tell(live, intent, scope.id)
    return live.degrader.degrade(intent, scope)


def _enter(
    live: Runtime, intent: Intent, arrival: _Arrival, changed: Changed | None, payment: Payment | None
) -> WatchedCall:
    try:
        permit = live.gate.admit(intent, arrival.trail.scope)
        arguments = None if intent.volatile or intent.identity else arrival.arguments
        call = WatchedCall(
            live, intent, arrival.trail, permit, arguments=arguments, changed=changed, payment=payment
        )
    except BaseException as error:
        if payment is not None and isinstance(error, guard.ORDERS):
            payment.cancel()
        elif payment is not None:
            payment.answered(None)  # for a fault of ours the call is made all the same, unwatched
        raise
    live.host.call_started(call)
    return call


def _declare(live: Runtime, intent: Intent) -> None:
    """What policy says of the tool holds where its code says nothing."""
    rule = live.tools.get(intent.name)
    if rule is not None:
        intent.effect = intent.effect or str(rule.effect)  # attributes of spans are plain text
        intent.repeatable = intent.repeatable or rule.repeatable
        intent.volatile = intent.volatile or rule.volatile
        intent.identity = intent.identity or rule.identity
        intent.transient = intent.transient or rule.transient


def _carried_out(
    live: Runtime, intent: Intent, arguments: ArgumentPrints, scope: RunScope | None
) -> Asked | None:
    """The tool call that a model asked for and that is made now."""
    asked = live.lineage.carried_out(intent.name, arguments.raw, scope.id if scope else "")
    if asked is not None:
        intent.tool_call_id = intent.tool_call_id or asked.id
    return asked


def _trail(live: Runtime, intent: Intent, scope: RunScope | None, asked: Asked | None) -> Trail:
    """The run of a call: the one it is in, else the one that asked for it, else its trace, else a new one."""
    if scope is not None:
        return Trail(scope, live.origin)
    if asked is not None:
        return asked.trail
    known = live.lineage.trail_of([answer.id for answer in intent.answers], intent.previous)
    if known is not None:
        return known
    around = trace.get_current_span().get_span_context()
    if around.is_valid:
        return Trail(_of_trace(around.trace_id, live.settings.feature), live.origin)
    return Trail(RunScope(context.new_run_id(), Identity(feature=live.settings.feature)), live.origin)


@lru_cache(maxsize=1_024)
def _of_trace(trace_id: int, feature: str) -> RunScope:
    """The run that a trace is; its calls come one after the other, so it is made once."""
    return RunScope(f"{trace_id:032x}", Identity(feature=feature))


@guard.guarded("telling", None)
def _tell(live: Runtime, intent: Intent, run: str) -> None:
    """Records the tool calls that only their answers in this request show; of two with one id, the last."""
    for answer in {one.id: one for one in intent.answers}.values():
        asked = live.lineage.tell(answer.id, run)
        if asked is not None:
            _derive(live, asked, answer.content)


def _derive(live: Runtime, asked: Asked, result: object) -> None:
    """Records one. It has happened: nobody asks the gate."""
    told = Intent(
        kind=Kind.TOOL,
        operation="execute_tool",
        name=asked.name,
        tool_call_id=asked.id,
        attributes={names.DERIVED: True},
    )
    _declare(live, told)
    told.effect = told.effect or asked.effect
    call = WatchedCall(live, told, asked.trail, Permit(), begun=asked.at, arguments=asked.arguments)
    call.succeed(Outcome(result=result))
