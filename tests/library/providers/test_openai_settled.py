"""What calls of OpenAI's SDK come to in a process that judges itself: each is charged once, however it ends.

A real ledger, a real engine, real sockets. A call takes at most MOST; it used USED, where anybody says so.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any

import pytest
from openai import APIConnectionError, APITimeoutError, AsyncOpenAI, OpenAI, RateLimitError
from tests.library.providers.fake_openai import FakeOpenAI, Reply
from tests.library.providers.openai_paths import CHAT, COUNTED
from tests.waiting import until

import spanfuse
from spanfuse import runtime
from spanfuse.hosts.embedded import EmbeddedHost
from spanfuse_processor.engine.budget import Account, Budget, Measure
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.policy import Policy, Price

MOST = 50 * 100  # micro-dollars: so many tokens at most, at 100 USD a million
USED = 5 * 100
BUDGETS = (
    Budget("money", 1_000_000, strict=True),
    Budget("tokens", 1_000_000, Measure.TOKENS, strict=True),
    Budget("calls", 1_000, Measure.CALLS),
)
ASKED = {**CHAT, "max_tokens": 50}
STREAMED = {**ASKED, **COUNTED}
TALE = Reply(text="one two three four")

Sync = Callable[[OpenAI, FakeOpenAI], object]
Async = Callable[[AsyncOpenAI, FakeOpenAI], Coroutine[Any, Any, object]]


@pytest.fixture(autouse=True)
def _judging() -> None:
    prices = {"*": Price(input=0, output=100)}
    spanfuse.instrument(policy=Policy(prices=prices, budgets=BUDGETS))


@pytest.fixture
def impatient(client: OpenAI) -> OpenAI:
    return client.with_options(max_retries=0, timeout=0.2)


@pytest.fixture
def impatient_async(async_client: AsyncOpenAI) -> AsyncOpenAI:
    return async_client.with_options(max_retries=0, timeout=0.2)


@pytest.fixture
def hold() -> Iterator[threading.Event]:
    """What the server waits for, once it is told to."""
    hold = threading.Event()
    yield hold
    hold.set()


def host() -> EmbeddedHost:
    live = runtime.live()
    assert live is not None
    assert isinstance(live.host, EmbeddedHost)
    return live.host


def balance(name: str) -> Balance:
    return host().judge.money(lambda treasury, wall: treasury.ledger.balance(Account(name), wall))


def assert_charged_once(usd: int, tokens: range | None = None) -> None:
    """One call, which cost this much; and nothing more happens to it."""
    gc.collect()
    until(lambda: not balance("money").reserved and balance("calls").spent)
    for _ in range(3):
        gc.collect()
        host().tick()
        assert (balance("money").spent, balance("money").reserved, balance("calls").spent) == (usd, 0, 1)
        assert balance("tokens").reserved == 0
        if tokens is not None:
            assert balance("tokens").spent in tokens


class Crash(Exception):
    """The application's own."""


def answered(client: OpenAI, server: FakeOpenAI) -> None:
    client.chat.completions.create(**ASKED)


def answered_in_pieces(client: OpenAI, server: FakeOpenAI) -> None:
    list(client.chat.completions.create(**STREAMED))


def refused(client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=429))
    with pytest.raises(RateLimitError):
        client.chat.completions.create(**ASKED)


def refused_in_pieces(client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=429))
    with pytest.raises(RateLimitError):
        client.chat.completions.create(**STREAMED)


def retried(client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=500), Reply(status=429), Reply())
    client.with_options(max_retries=2).chat.completions.create(**ASKED)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("end", "usd"),
    [(answered, USED), (answered_in_pieces, USED), (refused, 0), (refused_in_pieces, 0), (retried, USED)],
)
def test_what_is_known_is_charged(end: Sync, usd: int, impatient: OpenAI, server: FakeOpenAI) -> None:
    end(impatient, server)

    assert_charged_once(usd)


async def answered_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    await client.chat.completions.create(**ASKED)


async def answered_in_pieces_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    stream = await client.chat.completions.create(**STREAMED)
    assert [chunk async for chunk in stream]


async def refused_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=429))
    with pytest.raises(RateLimitError):
        await client.chat.completions.create(**ASKED)


async def refused_in_pieces_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=429))
    with pytest.raises(RateLimitError):
        await client.chat.completions.create(**STREAMED)


async def retried_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=500), Reply(status=429), Reply())
    await client.with_options(max_retries=2).chat.completions.create(**ASKED)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("end", "usd"),
    [
        (answered_async, USED),
        (answered_in_pieces_async, USED),
        (refused_async, 0),
        (refused_in_pieces_async, 0),
        (retried_async, USED),
    ],
)
async def test_what_is_known_of_tasks_is_charged(
    end: Async, usd: int, impatient_async: AsyncOpenAI, server: FakeOpenAI
) -> None:
    await end(impatient_async, server)

    assert_charged_once(usd)


def out_of_time(client: OpenAI, server: FakeOpenAI) -> None:
    with pytest.raises(APITimeoutError):
        client.chat.completions.create(**ASKED)


def closed(client: OpenAI, server: FakeOpenAI) -> None:
    stream = client.chat.completions.create(**STREAMED)
    next(stream)
    stream.close()
    stream.close()


def dropped(client: OpenAI, server: FakeOpenAI) -> None:
    next(client.chat.completions.create(**STREAMED))


def crashed(client: OpenAI, server: FakeOpenAI) -> None:
    with suppress(Crash), client.chat.completions.create(**STREAMED) as stream:
        for _ in stream:
            raise Crash


def late(client: OpenAI, server: FakeOpenAI) -> None:
    with pytest.raises(APITimeoutError):
        list(client.chat.completions.create(**STREAMED))


def broken(client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(text=TALE.text, broken=True, pause_after=2))
    with pytest.raises(APIConnectionError):
        list(client.chat.completions.create(**STREAMED))


def stopped(client: OpenAI, server: FakeOpenAI) -> None:
    with spanfuse.run(run_id="r1"):
        stream = client.chat.completions.create(**STREAMED)
        next(stream)
        spanfuse.kill("r1")
        with pytest.raises(spanfuse.BreakerOpen):
            list(stream)


@pytest.mark.parametrize("end", [out_of_time, closed, dropped, crashed, late, broken, stopped])
def test_of_what_nobody_knows_all_is_charged(
    end: Sync, impatient: OpenAI, server: FakeOpenAI, hold: threading.Event
) -> None:
    waits = end is out_of_time
    server.say(Reply(TALE.text, hold=hold) if waits else Reply(TALE.text, pause=hold, pause_after=2))

    end(impatient, server)

    assert_charged_once(MOST, range(50, 200))


async def out_of_time_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
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


async def closed_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    stream = await client.chat.completions.create(**STREAMED)
    await anext(stream)
    await stream.close()
    await stream.close()


async def dropped_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    await anext(await client.chat.completions.create(**STREAMED))


async def crashed_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    with suppress(Crash):
        async with await client.chat.completions.create(**STREAMED) as stream:
            async for _ in stream:
                raise Crash


async def late_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    with pytest.raises(APITimeoutError):
        async for _ in await client.chat.completions.create(**STREAMED):
            pass


async def broken_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(text=TALE.text, broken=True, pause_after=2))
    with pytest.raises(APIConnectionError):
        async for _ in await client.chat.completions.create(**STREAMED):
            pass


async def stopped_async(client: AsyncOpenAI, server: FakeOpenAI) -> None:
    with spanfuse.run(run_id="r1"):
        stream = await client.chat.completions.create(**STREAMED)
        await anext(stream)
        spanfuse.kill("r1")
        with pytest.raises(spanfuse.BreakerOpen):
            await anext(stream)


@pytest.mark.parametrize(
    "end",
    [
        out_of_time_async,
        cancelled,
        cancelled_in_pieces,
        closed_async,
        dropped_async,
        crashed_async,
        late_async,
        broken_async,
        stopped_async,
    ],
)
async def test_of_tasks_of_which_nobody_knows_all_is_charged(
    end: Async, async_client: AsyncOpenAI, server: FakeOpenAI, hold: threading.Event
) -> None:
    waits = end in (out_of_time_async, cancelled)
    server.say(Reply(TALE.text, hold=hold) if waits else Reply(TALE.text, pause=hold, pause_after=2))
    timeout = 0.2 if end in (out_of_time_async, late_async) else 10.0

    await end(async_client.with_options(max_retries=0, timeout=timeout), server)

    await asyncio.to_thread(assert_charged_once, MOST, range(50, 200))
