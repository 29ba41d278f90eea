"""Open calls on the wire: a call that has begun, reported before its span can say so.

Rule 1: only what identifies the call travels, never its content. Rule 2: reading never raises; a call whose
ids have the wrong length is no call. Who reports (service and instance) stands once in the report, not in
every call.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.nouns import Identity, Kind
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.plain import text

TRACE_ID = 16  # bytes
SPAN_ID = 8
_KINDS: Final = {kind.value: kind for kind in Kind}
_NAMED_BY_MODEL: Final = (Kind.MODEL, Kind.EMBEDDINGS)


def encode(event: CallStarted) -> pb.OpenCall:
    """The message for a call that began."""
    who = event.identity
    return pb.OpenCall(
        trace_id=event.trace_id,
        span_id=event.span_id,
        parent_span_id=event.parent_span_id,
        start_unix_nano=event.started_ns,
        kind=event.kind.value,
        name=text(event.name),
        run_id=text(event.run_id),
        depth=event.depth,
        agents=[text(agent) for agent in event.agents],
        feature=text(who.feature),
        tenant=text(who.tenant),
        user_id=text(who.user),
        namespace=text(who.namespace),
        session_id=text(who.session),
        profile=text(who.profile),
    )


def decode(message: pb.OpenCall, service: str = "", instance: str = "") -> CallStarted | None:
    """The call that `message` says began in `service`, or None when its ids are no ids."""
    lengths = len(message.trace_id), len(message.span_id), len(message.parent_span_id)
    if lengths not in ((TRACE_ID, SPAN_ID, SPAN_ID), (TRACE_ID, SPAN_ID, 0)):
        return None
    kind = _KINDS.get(message.kind, Kind.OTHER)
    agents = tuple(message.agents)
    return CallStarted(
        trace_id=message.trace_id,
        span_id=message.span_id,
        parent_span_id=message.parent_span_id,
        started_ns=message.start_unix_nano,
        kind=kind,
        name=message.name,
        agent=agents[-1] if agents else "",
        model=message.name if kind in _NAMED_BY_MODEL else "",
        run_id=message.run_id,
        depth=max(-1, message.depth),
        agents=agents,
        identity=Identity(
            service=service,
            instance=instance,
            tenant=message.tenant,
            namespace=message.namespace,
            feature=message.feature,
            user=message.user_id,
            session=message.session_id,
            profile=message.profile,
        ),
    )
