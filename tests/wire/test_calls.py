"""Open calls and heartbeats on the wire."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.builders import full_call, full_heartbeat, names, texts

from spanfuse_processor.engine.events import CallOpen, Heartbeat
from spanfuse_processor.engine.nouns import Identity, Kind
from spanfuse_processor.wire import calls
from spanfuse_processor.wire import control_pb2 as pb

lengths = st.integers(0, 10**15).map(lambda nanos: nanos / 10**9)  # seconds


@st.composite
def any_call(draw: st.DrawFn) -> CallOpen:
    kind, name = draw(st.sampled_from(Kind)), draw(names)
    agents = tuple(draw(st.lists(names, max_size=4)))
    return CallOpen(
        trace_id=draw(st.binary(min_size=16, max_size=16)),
        span_id=draw(st.binary(min_size=8, max_size=8)),
        parent_span_id=draw(st.just(b"") | st.binary(min_size=8, max_size=8)),
        started_ns=draw(st.integers(0, 2**63 - 1)),
        kind=kind,
        name=name,
        agent=agents[-1] if agents else "",
        model=name if kind in (Kind.MODEL, Kind.EMBEDDINGS) else "",
        run_id=draw(texts),
        depth=draw(st.integers(-1, 2**31 - 1)),
        agents=agents,
        identity=Identity("svc", "i-1", *(draw(texts) for _ in range(6))),
        effect=draw(texts),
        stages=draw(texts),
        open_for=draw(lengths),
        quiet_for=draw(lengths),
    )


@given(any_call())
def test_an_open_call_survives_the_wire(event: CallOpen) -> None:
    sent = calls.encode(event).SerializeToString()

    assert calls.decode(pb.OpenCall.FromString(sent), "svc", "i-1") == event


@pytest.mark.parametrize(
    ("field", "value"),
    [("trace_id", b""), ("trace_id", b"t" * 15), ("span_id", b""), ("parent_span_id", b"p")],
)
def test_a_call_whose_ids_are_no_ids_is_none(field: str, value: bytes) -> None:
    message = calls.encode(full_call())
    setattr(message, field, value)

    assert calls.decode(message) is None


def test_a_kind_that_is_unknown_is_other() -> None:
    message = calls.encode(replace(full_call(), kind=Kind.TOOL))
    message.kind = "telepathy"
    read = calls.decode(message)

    assert read is not None
    assert read.kind is Kind.OTHER


@given(
    st.builds(
        Heartbeat,
        run_id=texts,
        trace_id=st.binary(min_size=16, max_size=16),
        span_id=st.binary(min_size=8, max_size=8),
        ago=lengths,
        within=lengths,
    )
)
def test_a_heartbeat_survives_the_wire(beat: Heartbeat) -> None:
    sent = calls.encode_heartbeat(beat).SerializeToString()

    assert calls.decode_heartbeat(pb.Heartbeat.FromString(sent)) == beat


@pytest.mark.parametrize(("field", "value"), [("trace_id", b"t"), ("span_id", b""), ("span_id", b"s" * 9)])
def test_a_heartbeat_whose_ids_are_no_ids_comes_from_nowhere_in_particular(field: str, value: bytes) -> None:
    message = calls.encode_heartbeat(full_heartbeat())
    setattr(message, field, value)

    beat = calls.decode_heartbeat(message)

    assert (beat.run_id, beat.trace_id, beat.span_id) == ("r1", b"", b"")
