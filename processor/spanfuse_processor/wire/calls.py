"""Open calls and heartbeats on the wire: what goes on in an application, before a span can say so.

Rule 1: only what identifies a call travels, never its content. Rule 2: reading never raises; a call whose ids
have the wrong length is no call. Who reports (service and instance) stands once in the report, not in
every call.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.events import CallOpen, Heartbeat
from spanfuse_processor.engine.nouns import Identity, Kind
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.plain import duration, seconds, text

TRACE_ID = 16  # bytes
SPAN_ID = 8
_KINDS: Final = {kind.value: kind for kind in Kind}
_NAMED_BY_MODEL: Final = (Kind.MODEL, Kind.EMBEDDINGS)


def encode(event: CallOpen) -> pb.OpenCall:
    """The message for a call that is open."""
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
        effect=text(event.effect),
        stages=text(event.stages),
        open_for=_lasting(event.open_for),
        quiet_for=_lasting(event.quiet_for),
    )


def decode(message: pb.OpenCall, service: str = "", instance: str = "") -> CallOpen | None:
    """The call that `message` says is open in `service`, or None when its ids are no ids."""
    lengths = len(message.trace_id), len(message.span_id), len(message.parent_span_id)
    if lengths not in ((TRACE_ID, SPAN_ID, SPAN_ID), (TRACE_ID, SPAN_ID, 0)):
        return None
    kind = _KINDS.get(message.kind, Kind.OTHER)
    agents = tuple(message.agents)
    return CallOpen(
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
        effect=message.effect,
        stages=message.stages,
        open_for=seconds(message.open_for),
        quiet_for=seconds(message.quiet_for),
    )


def encode_heartbeat(beat: Heartbeat) -> pb.Heartbeat:
    """The message for a sign of life."""
    return pb.Heartbeat(
        run_id=text(beat.run_id),
        trace_id=beat.trace_id,
        span_id=beat.span_id,
        ago=_lasting(beat.ago),
        within=_lasting(beat.within),
    )


def decode_heartbeat(message: pb.Heartbeat) -> Heartbeat:
    """The sign of life that `message` says; from nowhere in particular when its ids are no ids."""
    known = len(message.trace_id) == TRACE_ID and len(message.span_id) == SPAN_ID
    return Heartbeat(
        run_id=message.run_id,
        trace_id=message.trace_id if known else b"",
        span_id=message.span_id if known else b"",
        ago=seconds(message.ago),
        within=seconds(message.within),
    )


def _lasting(seconds: float) -> dict[str, int] | None:
    return duration(seconds) if seconds > 0 else None
