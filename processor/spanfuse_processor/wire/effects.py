"""What came of a directive in one application, as it is reported back.

Rule 1: an effect names the revision that it answers. Rule 2: latencies are seconds on the application's
own clock, None where nothing was measured. Reading never raises.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.effect import Effect, EffectState
from spanfuse_processor.wire.plain import duration, seconds, text

__all__ = ["MAX_ERROR", "Effect", "EffectState", "decode", "encode"]

MAX_ERROR = 1024  # characters


_STATES: Final = {
    EffectState.RECEIVED: pb.Effect.STATE_RECEIVED,
    EffectState.APPLIED: pb.Effect.STATE_APPLIED,
    EffectState.REJECTED: pb.Effect.STATE_REJECTED,
    EffectState.EXPIRED: pb.Effect.STATE_EXPIRED,
}
_KNOWN: Final[dict[int, EffectState]] = {number: state for state, number in _STATES.items()}


def encode(effect: Effect) -> pb.Effect:
    """The message for `effect`."""
    return pb.Effect(
        directive_id=text(effect.directive_id),
        revision=effect.revision,
        state=_STATES[effect.state],
        error=text(effect.error, MAX_ERROR),
        calls_refused=effect.calls_refused,
        tasks_cancelled=effect.tasks_cancelled,
        streams_closed=effect.streams_closed,
        not_interruptible=effect.not_interruptible,
        applied_after=None if effect.applied_after is None else duration(effect.applied_after),
        kill_latency=None if effect.kill_latency is None else duration(effect.kill_latency),
        calls_throttled=effect.calls_throttled,
        throttled_for=duration(effect.throttled_for) if effect.throttled_for else None,
        calls_degraded=effect.calls_degraded,
        calls_not_degraded=effect.calls_not_degraded,
    )


def decode(message: pb.Effect) -> Effect | None:
    """The effect that `message` says, or None when its state is unknown here."""
    state = _KNOWN.get(message.state)
    if state is None:
        return None
    return Effect(
        directive_id=message.directive_id,
        revision=message.revision,
        state=state,
        error=message.error[:MAX_ERROR],
        calls_refused=message.calls_refused,
        tasks_cancelled=message.tasks_cancelled,
        streams_closed=message.streams_closed,
        not_interruptible=message.not_interruptible,
        applied_after=seconds(message.applied_after) if message.HasField("applied_after") else None,
        kill_latency=seconds(message.kill_latency) if message.HasField("kill_latency") else None,
        calls_throttled=message.calls_throttled,
        throttled_for=seconds(message.throttled_for),
        calls_degraded=message.calls_degraded,
        calls_not_degraded=message.calls_not_degraded,
    )
