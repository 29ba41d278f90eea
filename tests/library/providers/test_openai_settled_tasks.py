"""As `test_openai_settled.py`, for calls that tasks make."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any

import pytest
from openai import APIConnectionError, APITimeoutError, AsyncOpenAI, RateLimitError
from tests.library.providers.fake_openai import FakeOpenAI, Reply
from tests.library.providers.settled import (
    ASKED,
    MOST,
    STREAMED,
    TALE,
    USED,
    Crash,
    assert_charged_once,
    held,
    judging,
)
from tests.waiting import until

import spanfuse

End = Callable[[AsyncOpenAI, FakeOpenAI], Coroutine[Any, Any, object]]


@pytest.fixture(autouse=True)
def _judging() -> None:
    judging()


@pytest.fixture
def hold() -> Iterator[threading.Event]:
    with held() as hold:
        yield hold


async def answered(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    await client.chat.completions.create(**ASKED)


async def answered_in_pieces(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    stream = await client.chat.completions.create(**STREAMED)
    assert [chunk async for chunk in stream]


async def refused(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=429))
    with pytest.raises(RateLimitError):
        await client.chat.completions.create(**ASKED)


async def refused_in_pieces(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=429))
    with pytest.raises(RateLimitError):
        await client.chat.completions.create(**STREAMED)


async def retried(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=500), Reply(status=429), Reply())
    await client.with_options(max_retries=2).chat.completions.create(**ASKED)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("end", "usd"),
    [
        (answered, USED),
        (answered_in_pieces, USED),
        (refused, 0),
        (refused_in_pieces, 0),
        (retried, USED),
    ],
)
async def test_what_is_known_of_tasks_is_charged(
    end: End, usd: int, async_client: AsyncOpenAI, server: FakeOpenAI
) -> None:
    await end(async_client.with_options(max_retries=0), server)

    assert_charged_once(usd)


async def out_of_time(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    with pytest.raises(APITimeoutError):
        await client.chat.completions.create(**ASKED)


async def cancelled(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    await _cancelled(asyncio.create_task(client.chat.completions.create(**ASKED)), server)


async def cancelled_in_pieces(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    async def read() -> None:
        async for _ in await client.chat.completions.create(**STREAMED):
            begun.set()

    begun = asyncio.Event()
    reading = asyncio.create_task(read())
    await begun.wait()
    await _cancelled(reading, server)


async def _cancelled(task: asyncio.Task[Any], server: FakeOpenAI) -> None:
    await asyncio.to_thread(until, lambda: server.requests)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def closed(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    stream = await client.chat.completions.create(**STREAMED)
    await anext(stream)
    await stream.close()
    await stream.close()


async def dropped(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    await anext(await client.chat.completions.create(**STREAMED))


async def crashed(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    with suppress(Crash):
        async with await client.chat.completions.create(**STREAMED) as stream:
            async for _ in stream:
                raise Crash


async def late(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    with pytest.raises(APITimeoutError):
        async for _ in await client.chat.completions.create(**STREAMED):
            pass


async def broken(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(text=TALE.text, broken=True, pause_after=2))
    with pytest.raises(APIConnectionError):
        async for _ in await client.chat.completions.create(**STREAMED):
            pass


async def stopped(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    with spanfuse.run(run_id="r1"):
        stream = await client.chat.completions.create(**STREAMED)
        await anext(stream)
        spanfuse.kill("r1")
        with pytest.raises(spanfuse.BreakerOpen):
            await anext(stream)


@pytest.mark.parametrize(
    "end",
    [
        out_of_time,
        cancelled,
        cancelled_in_pieces,
        closed,
        dropped,
        crashed,
        late,
        broken,
        stopped,
    ],
)
async def test_of_tasks_of_which_nobody_knows_all_is_charged(
    end: End, async_client: AsyncOpenAI, server: FakeOpenAI, hold: threading.Event
) -> None:
    waits = end in (out_of_time, cancelled)
    server.say(Reply(TALE.text, hold=hold) if waits else Reply(TALE.text, pause=hold, pause_after=2))
    timeout = 0.2 if end in (out_of_time, late) else 10.0

    await end(async_client.with_options(max_retries=0, timeout=timeout), server)

    await asyncio.to_thread(assert_charged_once, MOST, range(50, 200))
