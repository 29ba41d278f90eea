"""What calls of OpenAI's SDK have paid is settled once, however they end."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from openai import APIConnectionError, APITimeoutError, AsyncOpenAI, OpenAI, RateLimitError
from tests.library.providers.fake_openai import FakeOpenAI, Reply
from tests.library.providers.openai_paths import CHAT, COUNTED
from tests.library.providers.stage import Stage, staged
from tests.library.purses.till import Till
from tests.processes import free_port
from tests.waiting import until

from spanfuse.errors import BreakerOpen
from spanfuse.providers.openai import OpenAIAdapter
from spanfuse_processor.engine import names
from spanfuse_processor.engine.budget import Amounts

MUCH = 10**9
STREAMED = {**CHAT, "stream": True}


@pytest.fixture
def till() -> Till:
    return Till(MUCH)


@pytest.fixture
def stage(till: Till) -> Iterator[Stage]:
    with staged(OpenAIAdapter(), till) as stage:
        yield stage


@pytest.fixture
def pause(server: FakeOpenAI) -> Iterator[threading.Event]:
    """A server that sends two pieces and waits."""
    pause = threading.Event()
    server.say(Reply(text="one two three", pause=pause, pause_after=2))
    yield pause
    pause.set()


@pytest.fixture
def hold(server: FakeOpenAI) -> Iterator[threading.Event]:
    """A server that says nothing for now."""
    hold = threading.Event()
    server.say(Reply(hold=hold))
    yield hold
    hold.set()


def ending(till: Till) -> str:
    """How the one call ended; waits for it."""
    until(lambda: till.ends)
    assert len(till.ends) == 1
    return till.ends[0][0]


def spent(till: Till) -> Amounts:
    """What the one call was settled by."""
    assert ending(till) == "settled"
    return till.ends[0][1]


def test_an_answer_is_paid_by_its_usage(stage: Stage, client: OpenAI, till: Till) -> None:
    client.chat.completions.create(**CHAT)

    assert spent(till).tokens == 17
    assert names.PRESUMED_USD not in stage.only()
    assert MUCH - till.free == spent(till).usd > 0
    assert stage.only()[names.LEASED] == ["daily"]


async def test_so_is_that_of_a_task(stage: Stage, async_client: AsyncOpenAI, till: Till) -> None:
    await async_client.chat.completions.create(**CHAT)

    assert spent(till).tokens == 17


def test_the_usage_of_a_stream_is_paid_when_it_has_been_read(
    stage: Stage, client: OpenAI, till: Till
) -> None:
    stream = client.chat.completions.create(**CHAT, **COUNTED)
    assert till.ends == []

    list(stream)

    assert spent(till).tokens == 17


def test_a_stream_that_does_not_say_it_pays_what_is_guessed(stage: Stage, client: OpenAI, till: Till) -> None:
    list(client.chat.completions.create(**STREAMED))

    assert spent(till).tokens > 0
    assert stage.only()[names.ESTIMATED] is True


def test_that_is_no_less_than_what_came(stage: Stage, client: OpenAI, server: FakeOpenAI, till: Till) -> None:
    """Two characters a token and less: keys, figures, hashes."""
    server.say(Reply(text="a3f29b7c01de4f88 " * 20))

    list(client.chat.completions.create(**STREAMED))

    assert spent(till).tokens > 210
    span = stage.only()
    assert span[names.INPUT_TOKENS] + span[names.OUTPUT_TOKENS] == spent(till).tokens


def test_and_no_more_than_was_paid(stage: Stage, client: OpenAI, server: FakeOpenAI, till: Till) -> None:
    server.say(Reply(text="a3f29b7c01de4f88 " * 20))

    list(client.chat.completions.create(**STREAMED, max_tokens=220))

    assert stage.only()[names.OUTPUT_TOKENS] == 220


def test_what_the_provider_refuses_costs_nothing(
    stage: Stage, client: OpenAI, server: FakeOpenAI, till: Till
) -> None:
    server.say(Reply(status=429))

    with pytest.raises(RateLimitError):
        client.with_options(max_retries=0).chat.completions.create(**CHAT)

    assert spent(till) == Amounts(0, 0, 1)


def test_nor_does_a_provider_that_is_not_there(stage: Stage, till: Till) -> None:
    nobody = OpenAI(base_url=f"http://127.0.0.1:{free_port()}/v1", api_key="k", max_retries=0)

    with nobody, pytest.raises(APIConnectionError):
        nobody.chat.completions.create(**CHAT)

    assert spent(till) == Amounts(0, 0, 1)


def test_of_one_that_did_not_answer_in_time_nobody_knows(
    stage: Stage, client: OpenAI, hold: threading.Event, till: Till
) -> None:
    with pytest.raises(APITimeoutError):
        client.with_options(max_retries=0, timeout=0.05).chat.completions.create(**CHAT)

    assert ending(till) == "forfeited"
    assert stage.only()[names.PRESUMED_USD] == till.ends[0][1].usd / 1e6 > 0


async def test_nor_of_a_call_whose_task_was_cancelled(
    stage: Stage, async_client: AsyncOpenAI, hold: threading.Event, server: FakeOpenAI, till: Till
) -> None:
    calling = asyncio.create_task(async_client.chat.completions.create(**CHAT))
    await asyncio.to_thread(until, lambda: server.requests)

    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert ending(till) == "forfeited"


def test_a_stream_that_is_closed_half_way_is_forfeited(
    stage: Stage, client: OpenAI, pause: threading.Event, till: Till
) -> None:
    stream = client.chat.completions.create(**CHAT, **COUNTED)
    next(stream)

    stream.close()

    assert ending(till) == "forfeited"
    span = stage.only()
    assert span[names.PRESUMED_USD] == till.ends[0][1].usd / 1e6
    assert names.COST_USD not in span


def test_so_is_one_that_is_dropped_without_a_word(
    stage: Stage, client: OpenAI, pause: threading.Event, till: Till
) -> None:
    stream = client.chat.completions.create(**CHAT, **COUNTED)
    next(stream)

    del stream
    gc.collect()

    assert ending(till) == "forfeited"


async def test_so_is_a_tasks(
    stage: Stage, async_client: AsyncOpenAI, pause: threading.Event, till: Till
) -> None:
    stream = await async_client.chat.completions.create(**CHAT, **COUNTED)
    await anext(stream)

    del stream
    gc.collect()

    await asyncio.to_thread(ending, till)
    assert ending(till) == "forfeited"


def test_so_is_one_that_is_stopped(stage: Stage, client: OpenAI, pause: threading.Event, till: Till) -> None:
    stream = client.chat.completions.create(**CHAT, **COUNTED)
    next(stream)
    stage.stop()

    with pytest.raises(BreakerOpen):
        next(stream)

    assert ending(till) == "forfeited"


def test_one_whose_connection_breaks_is_forfeited(
    stage: Stage, client: OpenAI, server: FakeOpenAI, till: Till
) -> None:
    server.say(Reply(text="one two three", broken=True, pause_after=2))

    with pytest.raises(APIConnectionError):
        list(client.chat.completions.create(**CHAT, **COUNTED))

    assert ending(till) == "forfeited"


def test_a_call_that_is_stopped_before_it_is_made_pays_nothing(
    stage: Stage, client: OpenAI, server: FakeOpenAI, till: Till
) -> None:
    stage.stop()

    with pytest.raises(BreakerOpen):
        client.chat.completions.create(**CHAT)

    assert (ending(till), till.free, server.requests) == ("cancelled", MUCH, [])


def test_a_call_that_cannot_be_paid_is_not_made(
    stage: Stage, client: OpenAI, server: FakeOpenAI, till: Till
) -> None:
    till.free, till.can_come = 0, False

    with pytest.raises(BreakerOpen) as refused:
        client.chat.completions.create(**CHAT)

    assert refused.value.reason == "BUDGET"
    assert (server.requests, stage.spans, till.ends) == ([], [], [])


def test_a_model_without_a_price_is_not_called(
    stage: Stage, client: OpenAI, server: FakeOpenAI, till: Till
) -> None:
    asked: dict[str, Any] = {**CHAT, "model": "our-own-model"}

    with pytest.raises(BreakerOpen) as refused:
        client.chat.completions.create(**asked)

    assert (refused.value.reason, server.requests) == ("UNPRICED", [])


def test_calls_wait_for_each_other(stage: Stage, client: OpenAI, server: FakeOpenAI, till: Till) -> None:
    """Each may cost all there is; none is refused, for each gives back what it did not need."""
    client.chat.completions.create(**CHAT, max_tokens=100)
    till.free, till.patience = 100, 60.0
    errors: list[BaseException] = []

    def call() -> None:
        try:
            client.chat.completions.create(**CHAT, max_tokens=100)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert {how for how, _ in till.ends} == {"settled"}
