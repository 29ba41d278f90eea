"""Plain values at the border of protobuf."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.plain import MAX_SECONDS, duration, parsed, seconds, text


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_none(data: bytes) -> None:
    message = parsed(pb.WatchEvent, data)

    assert message is None or isinstance(message, pb.WatchEvent)


def test_bytes_that_are_no_message_are_none() -> None:
    assert parsed(pb.WatchEvent, b"\xff\xff\xff") is None


@given(st.integers(0, 10**15).map(lambda nanos: nanos / 10**9))
def test_a_duration_survives_the_wire_to_the_nanosecond(value: float) -> None:
    sent = pb.GoAway(retry_after=duration(value)).SerializeToString()

    assert seconds(pb.GoAway.FromString(sent).retry_after) == value


@pytest.mark.parametrize(
    ("value", "sent"), [(-1.0, 0.0), (math.nan, 0.0), (math.inf, MAX_SECONDS), (0.9999999999, 1.0)]
)
def test_a_duration_is_bounded_and_rounded(value: float, sent: float) -> None:
    assert seconds(pb.GoAway(retry_after=duration(value)).retry_after) == sent


def test_a_negative_duration_of_a_peer_is_none() -> None:
    assert seconds(pb.GoAway(retry_after={"seconds": -5, "nanos": -1}).retry_after) == 0.0


def test_text_that_is_no_unicode_is_sent_with_question_marks() -> None:
    assert pb.Removal(id=text("a\ud800b")).id == "a?b"


def test_text_over_its_limit_is_clipped_and_says_so() -> None:
    assert text("abcdef", 4) == "abc…"
    assert text("abcd", 4) == "abcd"
