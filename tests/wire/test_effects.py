"""Effects on the wire."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.wire.builders import full_effect, names, seconds, texts

from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import effects
from spanfuse_processor.wire.effects import MAX_ERROR, Effect, EffectState

counts = st.integers(0, 2**64 - 1)
any_effect = st.builds(
    Effect,
    directive_id=names,
    revision=counts,
    state=st.sampled_from(EffectState),
    error=texts,
    calls_refused=counts,
    tasks_cancelled=counts,
    streams_closed=counts,
    not_interruptible=counts,
    applied_after=st.none() | seconds,
    kill_latency=st.none() | st.just(0.0) | seconds,
    calls_throttled=counts,
    throttled_for=st.just(0.0) | seconds,
    calls_degraded=counts,
    calls_not_degraded=counts,
)


@given(any_effect)
def test_an_effect_survives_the_wire(effect: Effect) -> None:
    sent = effects.encode(effect).SerializeToString()

    assert effects.decode(pb.Effect.FromString(sent)) == effect


def test_a_latency_of_nothing_is_not_a_latency_of_zero() -> None:
    never = Effect("run/r1/stop", 1, EffectState.RECEIVED)
    at_once = Effect("run/r1/stop", 1, EffectState.APPLIED, applied_after=0.0)

    assert effects.decode(effects.encode(never)) == never
    assert effects.decode(effects.encode(at_once)) == at_once


def test_an_effect_whose_state_is_unknown_is_none() -> None:
    message = effects.encode(full_effect())
    message.state = 42  # type: ignore[assignment]

    assert effects.decode(message) is None


def test_the_error_of_a_peer_is_clipped() -> None:
    message = pb.Effect(directive_id="x", state=pb.Effect.STATE_REJECTED, error="e" * (2 * MAX_ERROR))
    read = effects.decode(message)

    assert read is not None
    assert len(read.error) == MAX_ERROR
