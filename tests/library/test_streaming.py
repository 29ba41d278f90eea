"""Streams end once, however they end; and stop when they are told to."""

from __future__ import annotations

import gc

import pytest
from tests.library.streams import STOP, Body, Call, Response, Stream, Words, said
from tests.waiting import until

from spanfuse import guard
from spanfuse.errors import BreakerOpen
from spanfuse.streaming import StreamedCall, watch_body


def test_a_stream_that_is_read_to_its_end_is_complete() -> None:
    call = Call()

    chunks = list(Stream(call, ("one", "two")).chunks)

    assert chunks == ["one", "two"]
    assert said(call) == ("one two", True)


def test_a_call_rests_until_somebody_waits_for_its_next_chunk() -> None:
    call = Call()
    stream = Stream(call, ("one", "two"))
    assert call.rest == [True]

    list(stream.chunks)

    assert call.rest == [True] + [False, True] * 3


def test_an_error_passes_as_it_is_and_ends_the_call() -> None:
    call, error = Call(), ValueError("broken")

    with pytest.raises(ValueError) as raised:
        list(Stream(call, ("one", error)).chunks)

    assert raised.value is error
    assert call.ends == [error]


def test_a_stop_comes_before_the_next_chunk_and_closes_the_response() -> None:
    call = Call()
    stream = Stream(call, ("one", "two"))
    next(stream.chunks)

    call.order = STOP

    with pytest.raises(BreakerOpen) as stopped:
        next(stream.chunks)
    assert stream.response.closed
    assert call.ends == [stopped.value]


def test_a_stop_before_the_first_chunk_closes_the_response_too() -> None:
    call = Call()
    stream = Stream(call, ("one",))
    call.order = STOP

    with pytest.raises(BreakerOpen):
        next(stream.chunks)

    assert stream.response.closed


def test_a_stream_that_has_ended_is_not_stopped_any_more() -> None:
    call = Call()
    stream = Stream(call, ("one",))
    list(stream.chunks)

    call.order = STOP

    assert list(stream.chunks) == []


def test_after_a_stop_the_stream_is_at_its_end() -> None:
    call = Call()
    stream = Stream(call, ("one", "two"))
    call.order = STOP
    with pytest.raises(BreakerOpen):
        next(stream.chunks)

    assert list(stream.chunks) == []
    assert len(call.ends) == 1


@pytest.mark.parametrize(("words", "complete"), [(("one", "two", "."), False), (("one", ".", "usage"), True)])
def test_a_stream_that_is_closed_early_is_complete_if_all_was_said(
    words: tuple[str, ...], complete: bool
) -> None:
    call = Call()
    stream = Stream(call, words)
    next(stream.chunks), next(stream.chunks)

    stream.response.close()

    assert said(call) == (" ".join(words[:2]), complete)


def test_a_dropped_stream_is_ended_on_the_reapers_thread() -> None:
    call = Call()
    stream = Stream(call, ("one", "two"))
    next(stream.chunks)

    del stream
    gc.collect()

    until(lambda: call.ends)
    assert said(call) == ("one", False)
    assert call.threads == ["spanfuse-reaper"]


def test_a_response_that_is_dropped_unread_is_ended() -> None:
    call = Call()
    response = Response()
    watch_body(response, StreamedCall(call, Words(), response))

    del response
    gc.collect()

    until(lambda: call.ends)
    assert said(call) == ("", False)


def test_a_body_is_still_read_and_closed() -> None:
    response = Response()
    body = response.stream
    watch_body(response, StreamedCall(Call(), Words(), response))

    assert list(response.stream) == [b"one"]
    response.close()

    assert isinstance(response.stream, Body)
    assert body.closed == 1


def test_chunks_that_we_cannot_read_reach_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    monkeypatch.setattr(Words, "add", lambda self, chunk: 1 / 0)
    monkeypatch.setattr(Words, "outcome", lambda self: 1 / 0)
    call = Call()

    chunks = list(Stream(call, ("one", "two")).chunks)

    assert chunks == ["one", "two"]
    assert said(call) == (None, True)
