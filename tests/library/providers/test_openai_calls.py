"""Calls of OpenAI's SDK that fail, wait, are cancelled or run side by side; Azure; what is left alone."""

from __future__ import annotations

import asyncio
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import openai
import pytest
from openai import AsyncOpenAI, AzureOpenAI, OpenAI
from openai.types.chat import ChatCompletion
from opentelemetry import trace
from tests.library.providers.fake_openai import FakeOpenAI, Reply
from tests.library.providers.openai_paths import CHAT, MODEL, USER
from tests.library.providers.stage import Stage
from tests.waiting import until

from spanfuse.errors import BreakerOpen
from spanfuse_processor.engine import names


@pytest.fixture
def hold(server: FakeOpenAI) -> Iterator[threading.Event]:
    """A server that does not answer until it is let go."""
    hold = threading.Event()
    server.say(Reply(hold=hold))
    yield hold
    hold.set()


@pytest.mark.parametrize(
    ("status", "error"), [(429, openai.RateLimitError), (500, openai.InternalServerError)]
)
def test_an_error_is_one_call_however_often_the_sdk_tries(
    stage: Stage, client: OpenAI, server: FakeOpenAI, status: int, error: type[openai.APIStatusError]
) -> None:
    server.say(Reply(status=status))

    with pytest.raises(error):
        client.chat.completions.create(**CHAT)

    assert stage.only()[names.ERROR_TYPE] == f"openai.{error.__name__}"
    assert len(server.requests) == 3


async def test_an_async_error_is_one_call_however_often_the_sdk_tries(
    stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI
) -> None:
    server.say(Reply(status=500))

    with pytest.raises(openai.InternalServerError):
        await async_client.chat.completions.create(**CHAT)

    assert stage.only()[names.ERROR_TYPE] == "openai.InternalServerError"
    assert stage.only()[names.RESENDS] == 2
    assert len(server.requests) == 3


def test_a_retry_that_succeeds_is_one_call(stage: Stage, client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=429), Reply())

    client.chat.completions.create(**CHAT)

    assert names.ERROR_TYPE not in stage.only()
    assert len(server.requests) == 2


def test_what_the_sdk_tries_again_by_itself_is_counted_for_its_own_call(
    stage: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    server.say(Reply(status=429), Reply(), Reply())

    client.chat.completions.create(**CHAT)
    client.chat.completions.create(**CHAT)

    first, second = stage.spans
    assert first[names.RESENDS] == 1
    assert names.RESENDS not in second


def test_a_timeout_is_the_error_of_the_call(stage: Stage, client: OpenAI, hold: threading.Event) -> None:
    with pytest.raises(openai.APITimeoutError):
        client.with_options(timeout=0.05, max_retries=0).chat.completions.create(**CHAT)

    assert stage.only()[names.ERROR_TYPE] == "openai.APITimeoutError"


async def test_a_stop_cancels_a_waiting_call_and_comes_out_as_breaker_open(
    stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI, hold: threading.Event
) -> None:
    call = asyncio.create_task(async_client.chat.completions.create(**CHAT))
    await asyncio.to_thread(until, lambda: server.requests)

    directive = stage.stop()

    with pytest.raises(BreakerOpen) as stopped:
        await call
    assert stopped.value.directive is directive
    assert call.cancelling() == 0 and not call.cancelled()
    assert stage.only()[names.STOPPED] == directive.id


async def test_the_applications_own_cancellation_stays_what_it_is(
    stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI, hold: threading.Event
) -> None:
    call = asyncio.create_task(async_client.chat.completions.create(**CHAT))
    await asyncio.to_thread(until, lambda: server.requests)

    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    assert call.cancelled()
    assert stage.only()[names.ERROR_TYPE] == "asyncio.exceptions.CancelledError"


async def test_a_stopped_run_among_others_stops_alone(
    stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI, hold: threading.Event
) -> None:
    call = asyncio.create_task(async_client.chat.completions.create(**CHAT))
    await asyncio.to_thread(until, lambda: server.requests)

    stage.stop("another-run")
    hold.set()

    assert (await call).choices[0].message.content == "Hello there"


def test_calls_side_by_side_are_kept_apart(stage: Stage, client: OpenAI) -> None:
    def ask(number: int) -> str:
        completion = client.chat.completions.create(
            model=f"m-{number}", messages=USER, stream=bool(number % 2)
        )
        if number % 2:
            return "".join(chunk.model for chunk in completion)  # type: ignore[union-attr,misc]
        return completion.model  # type: ignore[union-attr]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(12)))

    assert {span[names.REQUEST_MODEL] for span in stage.spans} == {f"m-{number}" for number in range(12)}
    assert len(stage.spans) == 12


async def test_async_calls_side_by_side_are_kept_apart(stage: Stage, async_client: AsyncOpenAI) -> None:
    asked = (async_client.chat.completions.create(model=f"m-{n}", messages=USER) for n in range(8))

    await asyncio.gather(*asked)

    assert {span[names.REQUEST_MODEL] for span in stage.spans} == {f"m-{number}" for number in range(8)}


def test_the_call_is_the_current_span_while_it_is_made(stage: Stage, server: FakeOpenAI) -> None:
    seen = []

    def note(request: httpx2.Request) -> None:
        seen.append(trace.get_current_span().get_span_context().span_id)

    with httpx2.Client(event_hooks={"request": [note]}, verify=False) as http:
        OpenAI(base_url=server.url, api_key="k", http_client=http).chat.completions.create(**CHAT)

    assert seen == [int.from_bytes(stage.memory.ended[0].span_id, "big")]


def test_azure_is_named_as_the_provider(stage: Stage, server: FakeOpenAI) -> None:
    url = server.url.removesuffix("/v1")
    with AzureOpenAI(azure_endpoint=url, api_key="k", api_version="2024-10-21", max_retries=0) as azure:
        azure.chat.completions.create(**CHAT)

    span = stage.only()
    assert span[names.PROVIDER] == "azure.ai.openai"
    assert (span["server.address"], span["server.port"]) == ("127.0.0.1", server.port)
    assert server.requests[0].path.startswith(f"/openai/deployments/{MODEL}/chat/completions")


def test_a_raw_response_of_httpx_is_read_and_stays_readable(stage: Stage, client: OpenAI) -> None:
    response = client.post("/chat/completions", cast_to=httpx2.Response, body={"model": MODEL})

    assert response.json()["id"] == "resp-1"
    assert stage.only()[names.INPUT_TOKENS] == 12


def test_what_runs_no_model_is_left_alone(stage: Stage, client: OpenAI) -> None:
    client.models.list()
    client.get("/chat/completions", cast_to=object)

    assert stage.memory.begun == []


def test_responses_are_the_sdks_own_and_can_be_pickled(stage: Stage, client: OpenAI) -> None:
    completion = client.chat.completions.create(**CHAT)
    raw = client.chat.completions.with_raw_response.create(**CHAT)

    assert type(completion) is ChatCompletion
    assert pickle.loads(pickle.dumps(completion)) == completion
    assert pickle.loads(pickle.dumps(raw.http_response)).content == raw.content


def test_a_streamed_http_response_can_be_pickled(stage: Stage, client: OpenAI) -> None:
    stream = client.chat.completions.create(**CHAT, stream=True)
    list(stream)

    assert pickle.loads(pickle.dumps(stream.response)).status_code == 200
