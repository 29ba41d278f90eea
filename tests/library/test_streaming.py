"""Streams end once, however they end; and stop when they are told to."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
from tests.waiting import until

from spanfuse import guard
from spanfuse.calls.active import ActiveCall
from spanfuse.context import RunScope
from spanfuse.errors import BreakerOpen
from spanfuse.provider import Outcome
from spanfuse.streaming import AsyncChunks, Chunks, StreamedCall, watch_body
from spanfuse_processor.engine.nouns import NOBODY, BreakerKey, Level
from spanfuse_processor.engine.verdicts import Directive

STOP = Directive("d", 1, BreakerKey(Level.RUN, "r"), reason="LOOP")


class Call(ActiveCall):
    """A call that remembers how it ended, and is stopped when the test says so."""

    __slots__ = ("ends", "order", "threads")

    def __init__(self) -> None:
        super().__init__(RunScope("r", NOBODY))
        self.order: Directive | None = None
        self.ends: list[Outcome | BaseException] = []
        self.threads: list[str] = []

    @property
    def ordered(self) -> Directive | None:
        return self.order

    def succeed(self, outcome: Outcome) -> None:
        self.threads.append(threading.current_thread().name)
        self.ends.append(outcome)

    def fail(self, error: BaseException, partial: Outcome | None = None) -> None:
        self.ends.append(error)
        assert partial is not None and not partial.complete


class Words:
    """Gathers words; the model has said all with a full stop."""

    def __init__(self) -> None:
        self.words: list[str] = []

    @property
    def finished(self) -> bool:
        return self.words[-1:] == ["."]

    def add(self, chunk: object) -> None:
        self.words.append(str(chunk))

    def outcome(self) -> Outcome:
        return Outcome(result=" ".join(self.words))


class Body:
    """A body of an HTTP response, sync and async."""

    def __init__(self) -> None:
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        yield b"one"

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"one"

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


class Response:
    """An HTTP response as httpx has it: closing it closes its body, once."""

    def __init__(self) -> None:
        self.stream = Body()
        self.closed = False

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.stream.close()

    async def aclose(self) -> None:
        if not self.closed:
            self.closed = True
            await self.stream.aclose()


class Stream:
    """A stream of the SDK's kind: a generator that refers to it and closes the response in the end."""

    def __init__(self, call: Call, words: tuple[object, ...]) -> None:
        self.response = Response()
        self.words = words
        self.call = StreamedCall(call, Words(), self.response)
        watch_body(self.response, self.call)
        self.chunks = Chunks(self._read(), self.response, self.call)

    def _read(self) -> Iterator[object]:
        try:
            for word in self.words:
                if isinstance(word, Exception):
                    raise word
                yield word
        finally:
            self.response.close()


def said(call: Call) -> tuple[object, bool]:
    """The result of the call's one good end, and whether it is complete."""
    (end,) = call.ends
    assert isinstance(end, Outcome)
    return end.result, end.complete


def test_a_stream_that_is_read_to_its_end_is_complete() -> None:
    call = Call()

    chunks = list(Stream(call, ("one", "two")).chunks)

    assert chunks == ["one", "two"]
    assert said(call) == ("one two", True)


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


async def words(response: Response, *given: object) -> AsyncIterator[object]:
    try:
        for word in given:
            if isinstance(word, Exception):
                raise word
            yield word
    finally:
        await response.aclose()


def async_stream(call: Call, *given: object) -> tuple[AsyncChunks[object], Response]:
    response = Response()
    streamed = StreamedCall(call, Words(), response)
    watch_body(response, streamed)
    return AsyncChunks(words(response, *given), response, streamed), response


async def test_an_async_stream_that_is_read_to_its_end_is_complete() -> None:
    call = Call()
    chunks, _ = async_stream(call, "one", "two")

    assert [chunk async for chunk in chunks] == ["one", "two"]
    assert said(call) == ("one two", True)


async def test_an_error_of_an_async_stream_passes_as_it_is() -> None:
    call, error = Call(), ValueError("broken")
    chunks, _ = async_stream(call, error)

    with pytest.raises(ValueError) as raised:
        await anext(chunks)

    assert raised.value is error
    assert call.ends == [error]


async def test_a_stopped_async_stream_is_closed() -> None:
    call = Call()
    chunks, response = async_stream(call, "one", "two")
    await anext(chunks)
    call.order = STOP

    with pytest.raises(BreakerOpen) as stopped:
        await anext(chunks)

    assert response.closed
    assert call.ends == [stopped.value]


async def test_a_closed_async_stream_is_abandoned() -> None:
    call = Call()
    chunks, response = async_stream(call, "one", "two")
    await anext(chunks)

    await response.aclose()

    assert said(call) == ("one", False)


async def test_a_cancelled_async_stream_fails() -> None:
    call = Call()
    response = Response()

    async def waits() -> AsyncIterator[object]:
        yield await asyncio.get_running_loop().create_future()

    chunks = AsyncChunks(waits(), response, StreamedCall(call, Words(), response))
    task = asyncio.ensure_future(anext(chunks))
    await asyncio.sleep(0)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert [type(end) for end in call.ends] == [asyncio.CancelledError]
