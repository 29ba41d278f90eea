"""Orders to throttle, beside those to degrade and to stop, obeyed by OpenAI's SDK over real sockets."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from openai import AsyncOpenAI, OpenAI
from tests.library.providers.fake_openai import FakeOpenAI, Reply
from tests.library.providers.openai_paths import CHAT, SAID
from tests.library.providers.stage import Stage
from tests.waiting import until, until_loop

from spanfuse import runtime
from spanfuse.errors import BreakerOpen
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Degrading, Reach
from spanfuse_processor.engine.verdicts import Action, Directive

CHEAP = "gpt-4.1-nano"
WISH = Degrading(models=(("gpt-4o*", CHEAP),), output_tokens=64, temperature=0.25, tools=("web_*",))
BUDGET = Directive(
    "budget/daily",
    1,
    BreakerKey(Level.BUDGET, "daily"),
    Action.DEGRADE,
    reach=Reach(feature=("test",), model=("gpt-*",)),
    degrading=WISH,
)
SLOW = replace(
    BUDGET, id="slow", action=Action.THROTTLE, degrading=None, params=(("calls_per_second", 10.0),)
)


@pytest.fixture
def short(stage: Stage, server: FakeOpenAI) -> Iterator[Stage]:
    """Money is short."""
    server.say(Reply(text=SAID))
    stage.board.post(BUDGET)
    yield stage


def test_a_stop_goes_before_both(short: Stage, client: OpenAI, server: FakeOpenAI) -> None:
    short.board.post(SLOW)
    short.board.post(replace(BUDGET, id="spent", action=Action.STOP, degrading=None))

    for _ in range(2):
        with pytest.raises(BreakerOpen):
            client.chat.completions.create(**CHAT)

    assert server.requests == []
    assert short.board.effects(SLOW).calls_throttled == 0


def test_both_are_obeyed_where_both_stand(short: Stage, client: OpenAI, server: FakeOpenAI) -> None:
    short.board.post(SLOW)

    for _ in range(2):
        client.chat.completions.create(**CHAT)

    span = short.spans[1]
    assert (span[names.DEGRADED], span[names.THROTTLED_MS] > 0) == (True, True)


def test_threads_pass_one_after_the_other(stage: Stage, client: OpenAI, server: FakeOpenAI) -> None:
    stage.board.post(SLOW)
    began = time.monotonic()

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda _: client.chat.completions.create(**CHAT), range(5)))

    assert time.monotonic() - began >= 0.39
    assert len(server.requests) == 5
    effects = stage.board.effects(SLOW)
    assert effects.calls_throttled == 4
    assert effects.throttled_for == pytest.approx(1.0, abs=0.5)


async def test_tasks_pass_one_after_the_other_streams_among_them(
    stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI
) -> None:
    stage.board.post(SLOW)
    began = time.monotonic()

    async def stream() -> None:
        async for _ in await async_client.chat.completions.create(**CHAT, stream=True):
            pass

    await asyncio.gather(*[stream() for _ in range(4)])

    assert time.monotonic() - began >= 0.29
    until(lambda: len(stage.spans) == 4)
    assert sum(names.THROTTLED_MS in span for span in stage.spans) == 3


async def test_a_stop_that_comes_meanwhile_refuses_those_that_wait(
    stage: Stage, client: OpenAI, async_client: AsyncOpenAI, server: FakeOpenAI
) -> None:
    stage.board.post(replace(SLOW, params=(("calls_per_second", 0.01),)))
    client.chat.completions.create(**CHAT)
    live = runtime.live()
    assert live is not None

    tasks = [asyncio.create_task(async_client.chat.completions.create(**CHAT)) for _ in range(2)]
    thread = asyncio.create_task(asyncio.to_thread(client.chat.completions.create, **CHAT))
    await until_loop(lambda: live.throttle.waiting >= 3)
    stage.stop()
    ended = await asyncio.wait_for(asyncio.gather(*tasks, thread, return_exceptions=True), 5)

    assert [type(each) for each in ended] == [BreakerOpen] * 3
    assert len(server.requests) == 1


async def test_a_budget_that_is_spent_cancels_what_it_reaches(
    stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI
) -> None:
    hold = threading.Event()
    server.say(Reply(hold=hold))
    spent = replace(BUDGET, id="spent", action=Action.STOP, degrading=None)
    task = asyncio.create_task(async_client.chat.completions.create(**CHAT))
    await until_loop(lambda: server.requests)

    stage.board.post(spent)

    with pytest.raises(BreakerOpen):
        await asyncio.wait_for(task, 5)
    hold.set()
    assert stage.board.effects(spent).tasks_cancelled == 1


def test_a_budget_that_is_spent_ends_a_stream_in_the_middle(
    stage: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    spent = replace(BUDGET, id="spent", action=Action.STOP, degrading=None)

    with pytest.raises(BreakerOpen) as caught:
        for _ in client.chat.completions.create(**CHAT, stream=True):
            stage.board.post(spent)

    assert caught.value.directive == spent
    assert stage.board.effects(spent).streams_closed == 1
