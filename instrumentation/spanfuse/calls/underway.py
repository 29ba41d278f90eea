"""A call that has begun, as the event that hosts are told of while it is open.

Rule 1: it says what the call's span will say, no content. Rule 2: it is made when somebody asks: most calls
end before anybody does. It does not know for how long the call has been open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from spanfuse.context import RunScope
from spanfuse.provider import Intent
from spanfuse.telemetry import Started
from spanfuse_processor.engine import names
from spanfuse_processor.engine.events import CallOpen
from spanfuse_processor.engine.nouns import Identity, Kind

_NAMED_BY_MODEL: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS})


def event_of(
    intent: Intent, scope: RunScope, ids: Started, started_ns: int, resource: Mapping[str, object]
) -> CallOpen:
    """The event for a call that is charged to `scope`."""
    return CallOpen(
        trace_id=ids.trace_id,
        span_id=ids.span_id,
        parent_span_id=ids.parent_span_id,
        started_ns=started_ns,
        kind=intent.kind,
        name=intent.name,
        operation=intent.operation,
        agent=scope.agent,
        provider=intent.provider,
        model=intent.name if intent.kind in _NAMED_BY_MODEL else "",
        run_id=scope.id,
        depth=scope.depth,
        agents=scope.agents,
        identity=_identity(scope, resource),
        tool_call_id=intent.tool_call_id,
        effect=intent.effect,
        repeatable=intent.repeatable,
        user_turn=intent.user_turn,
        stages=scope.stages,
    )


def _identity(scope: RunScope, resource: Mapping[str, object]) -> Identity:
    """Who the call is made for, and by which process."""
    who = scope.identity
    return Identity(
        service=str(resource.get(names.SERVICE_NAME, "")),
        instance=str(resource.get(names.SERVICE_INSTANCE, "")),
        tenant=who.tenant,
        namespace=who.namespace,
        feature=who.feature,
        user=who.user,
        session=who.session,
        profile=who.profile or str(resource.get(names.PROFILE, "")),
    )
