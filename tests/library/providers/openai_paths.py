"""Every path through OpenAI's SDK that runs a model, sync and async: each returns what the model said."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from openai import AsyncOpenAI, OpenAI
from openai import BaseModel as Model

SAID = '{"word": "hello"}'
MODEL = "gpt-4o-mini"
USER: list[Any] = [{"role": "user", "content": "Say a word"}]
CHAT: dict[str, Any] = {"model": MODEL, "messages": USER}
COUNTED: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}


class Word(Model):
    """What structured outputs are parsed into."""

    word: str


@dataclass(frozen=True)
class Path:
    """One path: how it is walked, and what its record must say."""

    name: str
    walk: Callable[[OpenAI], str]
    walk_async: Callable[[AsyncOpenAI], Awaitable[str]]
    operation: str = "chat"
    streams: bool = False
    counted: bool = True  # usage is known
    complete: bool = True


def _delta(chunk: Any) -> str:
    return "".join(choice.delta.content or "" for choice in chunk.choices)


def _piece(event: Any) -> str:
    return str(event.delta) if event.type == "response.output_text.delta" else ""


def create(client: OpenAI) -> str:
    return client.chat.completions.create(**CHAT).choices[0].message.content or ""


async def create_async(client: AsyncOpenAI) -> str:
    return (await client.chat.completions.create(**CHAT)).choices[0].message.content or ""


def stream(client: OpenAI) -> str:
    return "".join(_delta(chunk) for chunk in client.chat.completions.create(**CHAT, **COUNTED))


async def stream_async(client: AsyncOpenAI) -> str:
    return "".join([_delta(chunk) async for chunk in await client.chat.completions.create(**CHAT, **COUNTED)])


def uncounted(client: OpenAI) -> str:
    return "".join(_delta(chunk) for chunk in client.chat.completions.create(**CHAT, stream=True))


async def uncounted_async(client: AsyncOpenAI) -> str:
    return "".join([_delta(one) async for one in await client.chat.completions.create(**CHAT, stream=True)])


def parse(client: OpenAI) -> str:
    parsed = client.chat.completions.parse(**CHAT, response_format=Word).choices[0].message
    assert parsed.parsed == Word(word="hello")
    return parsed.content or ""


async def parse_async(client: AsyncOpenAI) -> str:
    completion = await client.chat.completions.parse(**CHAT, response_format=Word)
    assert completion.choices[0].message.parsed == Word(word="hello")
    return completion.choices[0].message.content or ""


def helper(client: OpenAI) -> str:
    with client.chat.completions.stream(**CHAT, stream_options={"include_usage": True}) as events:
        said = [event.delta for event in events if event.type == "content.delta"]
        assert events.get_final_completion().choices[0].message.content == "".join(said)
    return "".join(said)


async def helper_async(client: AsyncOpenAI) -> str:
    async with client.chat.completions.stream(**CHAT, stream_options={"include_usage": True}) as events:
        said = [event.delta async for event in events if event.type == "content.delta"]
        assert (await events.get_final_completion()).choices[0].message.content == "".join(said)
    return "".join(said)


def raw(client: OpenAI) -> str:
    response = client.chat.completions.with_raw_response.create(**CHAT)
    assert response.headers["x-request-id"] and b"choices" in response.content
    return response.parse().choices[0].message.content or ""


async def raw_async(client: AsyncOpenAI) -> str:
    response = await client.chat.completions.with_raw_response.create(**CHAT)
    assert response.headers["x-request-id"] and b"choices" in response.content
    return response.parse().choices[0].message.content or ""


def raw_stream(client: OpenAI) -> str:
    response = client.chat.completions.with_raw_response.create(**CHAT, **COUNTED)
    return "".join(_delta(chunk) for chunk in response.parse())


async def raw_stream_async(client: AsyncOpenAI) -> str:
    response = await client.chat.completions.with_raw_response.create(**CHAT, **COUNTED)
    return "".join([_delta(chunk) async for chunk in response.parse()])


def unread(client: OpenAI) -> str:
    with client.chat.completions.with_streaming_response.create(**CHAT) as response:
        return response.parse().choices[0].message.content or ""


async def unread_async(client: AsyncOpenAI) -> str:
    async with client.chat.completions.with_streaming_response.create(**CHAT) as response:
        return (await response.parse()).choices[0].message.content or ""


def unread_stream(client: OpenAI) -> str:
    with client.chat.completions.with_streaming_response.create(**CHAT, **COUNTED) as response:
        return "".join(_delta(chunk) for chunk in response.parse())


async def unread_stream_async(client: AsyncOpenAI) -> str:
    async with client.chat.completions.with_streaming_response.create(**CHAT, **COUNTED) as response:
        return "".join([_delta(chunk) async for chunk in await response.parse()])


def lines(client: OpenAI) -> str:
    with client.chat.completions.with_streaming_response.create(**CHAT, **COUNTED) as response:
        return SAID if any("hello" in line for line in response.iter_lines()) else ""


async def lines_async(client: AsyncOpenAI) -> str:
    async with client.chat.completions.with_streaming_response.create(**CHAT, **COUNTED) as response:
        return SAID if "hello" in "".join([line async for line in response.iter_lines()]) else ""


def options(client: OpenAI) -> str:
    return create(client.with_options(timeout=5, max_retries=0))


async def options_async(client: AsyncOpenAI) -> str:
    return await create_async(client.with_options(timeout=5, max_retries=0))


def responses(client: OpenAI) -> str:
    return client.responses.create(model=MODEL, input="Say a word").output_text


async def responses_async(client: AsyncOpenAI) -> str:
    return (await client.responses.create(model=MODEL, input="Say a word")).output_text


def responses_stream(client: OpenAI) -> str:
    events = client.responses.create(model=MODEL, input="Say a word", stream=True)
    return "".join(_piece(event) for event in events)


async def responses_stream_async(client: AsyncOpenAI) -> str:
    events = await client.responses.create(model=MODEL, input="Say a word", stream=True)
    return "".join([_piece(event) async for event in events])


def responses_parse(client: OpenAI) -> str:
    response = client.responses.parse(model=MODEL, input="Say a word", text_format=Word)
    assert response.output_parsed == Word(word="hello")
    return response.output_text


async def responses_parse_async(client: AsyncOpenAI) -> str:
    response = await client.responses.parse(model=MODEL, input="Say a word", text_format=Word)
    assert response.output_parsed == Word(word="hello")
    return response.output_text


def responses_helper(client: OpenAI) -> str:
    with client.responses.stream(model=MODEL, input="Say a word") as events:
        events.until_done()
        return events.get_final_response().output_text


async def responses_helper_async(client: AsyncOpenAI) -> str:
    async with client.responses.stream(model=MODEL, input="Say a word") as events:
        return (await events.get_final_response()).output_text


def beta_responses(client: OpenAI) -> str:
    response = client.post("/responses?beta=true", cast_to=object, body={"model": MODEL, "input": "x"})
    return str(response["output"][0]["content"][0]["text"])  # type: ignore[index]


async def beta_responses_async(client: AsyncOpenAI) -> str:
    response = await client.post("/responses?beta=true", cast_to=object, body={"model": MODEL, "input": "x"})
    return str(response["output"][0]["content"][0]["text"])  # type: ignore[index]


def embeddings(client: OpenAI) -> str:
    made = client.embeddings.create(model=MODEL, input="Say", encoding_format="float")
    return SAID if made.data[0].embedding == [0.5, 0.25] else ""


async def embeddings_async(client: AsyncOpenAI) -> str:
    made = await client.embeddings.create(model=MODEL, input="Say", encoding_format="float")
    return SAID if made.data[0].embedding == [0.5, 0.25] else ""


def text(client: OpenAI) -> str:
    return client.completions.create(model=MODEL, prompt="Say").choices[0].text


async def text_async(client: AsyncOpenAI) -> str:
    return (await client.completions.create(model=MODEL, prompt="Say")).choices[0].text


def text_stream(client: OpenAI) -> str:
    chunks = client.completions.create(model=MODEL, prompt="Say", stream=True)
    return "".join(chunk.choices[0].text for chunk in chunks)


async def text_stream_async(client: AsyncOpenAI) -> str:
    chunks = await client.completions.create(model=MODEL, prompt="Say", stream=True)
    return "".join([chunk.choices[0].text async for chunk in chunks])


PATHS = [
    Path("create", create, create_async),
    Path("create, streamed", stream, stream_async, streams=True),
    Path("create, streamed without usage", uncounted, uncounted_async, streams=True, counted=False),
    Path("parse", parse, parse_async),
    Path("stream helper", helper, helper_async, streams=True),
    Path("raw response", raw, raw_async),
    Path("raw response, streamed", raw_stream, raw_stream_async, streams=True),
    Path("streaming response, parsed", unread, unread_async),
    Path("streaming response, streamed", unread_stream, unread_stream_async, streams=True),
    Path("streaming response, lines", lines, lines_async, streams=True, counted=False, complete=False),
    Path("with options", options, options_async),
    Path("responses", responses, responses_async),
    Path("responses, streamed", responses_stream, responses_stream_async, streams=True),
    Path("responses, parsed", responses_parse, responses_parse_async),
    Path("responses helper", responses_helper, responses_helper_async, streams=True),
    Path("responses by post", beta_responses, beta_responses_async),
    Path("embeddings", embeddings, embeddings_async, operation="embeddings"),
    Path("completions", text, text_async, operation="text_completion"),
    Path("completions, streamed", text_stream, text_stream_async, operation="text_completion", streams=True),
]
