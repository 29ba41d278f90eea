"""Streams of OpenAI's SDK: stopped, closed, dropped, broken; and what of them still works."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator

import pytest
from openai import APIConnectionError, APIError, AsyncOpenAI, AsyncStream, OpenAI, Stream
from openai.types.chat import ChatCompletionChunk
from tests.library.providers.fake_openai import FakeOpenAI, Reply
from tests.library.providers.openai_paths import CHAT, COUNTED, MODEL
from tests.library.providers.stage import Stage
from tests.waiting import until

from spanfuse import reaper
from spanfuse.errors import BreakerOpen
from spanfuse_processor.engine import names


@pytest.fixture
def pause(server: FakeOpenAI) -> Iterator[threading.Event]:
    """A server that sends two pieces and waits."""
    pause = threading.Event()
    server.say(Reply(text="one two three", pause=pause, pause_after=2))
    yield pause
    pause.set()


def test_a_stopped_stream_ends_at_the_next_chunk_and_closes_its_connection(
    stage: Stage, client: OpenAI, pause: threading.Event
) -> None:
    stream = client.chat.completions.create(**CHAT, **COUNTED)
    next(stream), next(stream)

    directive = stage.stop()

    with pytest.raises(BreakerOpen) as stopped:
        next(stream)
    assert stopped.value.directive is directive
    assert stream.response.is_closed


def test_a_stopped_stream_is_recorded_with_what_is_known(
    stage: Stage, client: OpenAI, pause: threading.Event
) -> None:
    stream = client.chat.completions.create(**CHAT, **COUNTED)
    next(stream)
    directive = stage.stop()

    with pytest.raises(BreakerOpen):
        list(stream)

    span = stage.only()
    assert span[names.STOPPED] == directive.id
    assert span[names.RESPONSE_ID] == "resp-1"
    assert span[names.NOT_ENDED] is True
    assert span[names.ESTIMATED] is True  # what arrived is paid for
    assert stage.board.effects(directive).streams_closed == 1


def test_a_stopped_helper_stops_too(stage: Stage, client: OpenAI, pause: threading.Event) -> None:
    with client.responses.stream(model=MODEL, input="x") as events:
        next(events)
        stage.stop()

        with pytest.raises(BreakerOpen):
            events.until_done()

    assert names.STOPPED in stage.only()


async def test_a_stop_wakes_an_async_stream_that_waits_for_its_next_chunk(
    stage: Stage, async_client: AsyncOpenAI, pause: threading.Event
) -> None:
    stream = await async_client.chat.completions.create(**CHAT, **COUNTED)
    await anext(stream), await anext(stream)
    asyncio.get_running_loop().call_soon(stage.stop)

    with pytest.raises(BreakerOpen):
        await anext(stream)

    assert stream.response.is_closed
    assert names.STOPPED in stage.only()
    task = asyncio.current_task()
    assert task is not None and task.cancelling() == 0


async def test_a_stopped_async_stream_ends_at_the_next_chunk(
    stage: Stage, async_client: AsyncOpenAI, pause: threading.Event
) -> None:
    stream = await async_client.chat.completions.create(**CHAT, **COUNTED)
    await anext(stream)
    directive = stage.stop()

    with pytest.raises(BreakerOpen):
        await anext(stream)

    assert stream.response.is_closed
    assert stage.board.effects(directive).streams_closed == 1


def test_a_closed_stream_is_abandoned(stage: Stage, client: OpenAI, pause: threading.Event) -> None:
    with client.chat.completions.create(**CHAT, **COUNTED) as stream:
        next(stream)

    assert len(stage.memory.ended) == 1
    assert stage.only()[names.NOT_ENDED] is True


async def test_a_closed_async_stream_is_abandoned(
    stage: Stage, async_client: AsyncOpenAI, pause: threading.Event
) -> None:
    async with await async_client.chat.completions.create(**CHAT, **COUNTED) as stream:
        await anext(stream)

    assert len(stage.memory.ended) == 1
    assert stage.only()[names.NOT_ENDED] is True


def test_a_helper_that_is_left_early_is_abandoned(
    stage: Stage, client: OpenAI, pause: threading.Event
) -> None:
    with client.chat.completions.stream(**CHAT) as events:
        next(events)

    assert stage.only()[names.NOT_ENDED] is True


def test_a_stream_that_is_never_read_is_abandoned(stage: Stage, client: OpenAI) -> None:
    client.chat.completions.create(**CHAT, **COUNTED).close()

    assert stage.only()[names.NOT_ENDED] is True


def test_a_dropped_stream_is_ended_by_the_reaper_and_not_inside_the_collector(
    stage: Stage, client: OpenAI, pause: threading.Event
) -> None:
    for _ in client.chat.completions.create(**CHAT, **COUNTED):
        break
    seen = _threads_that_end(stage)

    gc.collect()

    until(lambda: stage.memory.ended)
    assert stage.only()[names.NOT_ENDED] is True
    assert seen == ["spanfuse-reaper"]


def _threads_that_end(stage: Stage) -> list[str]:
    """The names of the threads on which spans end from now on."""
    seen: list[str] = []
    end = stage.memory.span_ended

    def noted(span: object) -> None:
        seen.append(threading.current_thread().name)
        end(span)  # type: ignore[arg-type]

    stage.memory.span_ended = noted  # type: ignore[method-assign]
    return seen


async def test_a_dropped_async_stream_is_ended(
    stage: Stage, async_client: AsyncOpenAI, pause: threading.Event
) -> None:
    async for _ in await async_client.chat.completions.create(**CHAT, **COUNTED):
        break

    async with asyncio.timeout(5):
        while not stage.memory.ended:
            gc.collect()  # the loop revives an async generator once, to close it
            await asyncio.sleep(0)
    assert stage.only()[names.NOT_ENDED] is True


def test_a_raw_stream_that_is_never_parsed_is_ended(stage: Stage, client: OpenAI) -> None:
    response = client.chat.completions.with_raw_response.create(**CHAT, **COUNTED)
    assert b"hello" in response.http_response.read().lower()

    assert stage.only()[names.NOT_ENDED] is True


def test_leaving_after_the_last_word_is_no_abandoning(stage: Stage, client: OpenAI) -> None:
    with client.responses.create(model=MODEL, input="x", stream=True) as events:
        for event in events:
            if event.type == "response.completed":
                break

    span = stage.only()
    assert names.NOT_ENDED not in span
    assert span[names.OUTPUT_TOKENS] == 5


def test_a_connection_that_breaks_is_the_error_of_the_call(
    stage: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    server.say(Reply(text="one two three", broken=True, pause_after=2))

    with pytest.raises(APIConnectionError):
        list(client.chat.completions.create(**CHAT, **COUNTED))

    assert stage.only()[names.ERROR_TYPE] == "openai.APIConnectionError"


async def test_an_async_connection_that_breaks_is_the_error_of_the_call(
    stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI
) -> None:
    server.say(Reply(text="one two three", broken=True, pause_after=2))

    with pytest.raises(APIConnectionError):
        [chunk async for chunk in await async_client.chat.completions.create(**CHAT, **COUNTED)]

    assert stage.only()[names.ERROR_TYPE] == "openai.APIConnectionError"


def test_an_error_event_is_the_error_of_the_call(stage: Stage, client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(failing=True))

    with pytest.raises(APIError, match="overloaded"):
        list(client.chat.completions.create(**CHAT, **COUNTED))

    assert stage.only()[names.ERROR_TYPE] == "openai.APIError"


def test_a_stream_stays_what_it_was(stage: Stage, client: OpenAI) -> None:
    stream = client.chat.completions.create(**CHAT, **COUNTED)

    assert type(stream) is Stream
    assert all(isinstance(chunk, ChatCompletionChunk) for chunk in stream)
    assert stream.response.is_closed and stream.response.elapsed.total_seconds() > 0
    assert list(stream) == []


async def test_an_async_stream_stays_what_it_was(stage: Stage, async_client: AsyncOpenAI) -> None:
    stream = await async_client.chat.completions.create(**CHAT, **COUNTED)

    assert type(stream) is AsyncStream
    assert [type(chunk) async for chunk in stream][0] is ChatCompletionChunk
    assert stream.response.is_closed


def test_a_stream_may_be_read_in_two_loops(stage: Stage, client: OpenAI) -> None:
    stream = client.chat.completions.create(**CHAT, **COUNTED)

    first = [chunk for chunk, _ in zip(stream, range(2), strict=False)]
    rest = list(stream)

    assert first and rest
    assert names.NOT_ENDED not in stage.only()


def test_a_stream_is_watched_until_it_has_ended(stage: Stage, client: OpenAI) -> None:
    before = reaper.watched()

    stream = client.chat.completions.create(**CHAT, **COUNTED)
    during = reaper.watched()
    list(stream)

    assert (during - before, reaper.watched() - before) == (1, 0)
