"""Async streams end once, however they end; and stop when they are told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.library.streams import STOP, Call, Response, Words, said

from spanfuse.errors import BreakerOpen
from spanfuse.streaming import AsyncChunks, StreamedCall, watch_body


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
