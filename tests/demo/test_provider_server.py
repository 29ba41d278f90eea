"""The demo's provider speaks the wire: everything here goes through the unmodified `openai` package."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from spanfuse.demo.tools import described, search

TASK = [{"role": "user", "content": "Find prices: tin, zinc."}]
STORY: Any = [{"role": "user", "content": "Write a chapter."}]


@pytest.fixture
def client(provider: str) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{provider}/v1", api_key="sk-demo", max_retries=0) as client:
        yield client


def create(client: OpenAI, **options: Any) -> Any:
    arguments = {"model": "gpt-4o", "messages": TASK, "tools": described([search]), **options}
    return client.chat.completions.create(**arguments)


def stats(provider: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{provider}/stats", timeout=5) as answer:
        return dict(json.loads(answer.read())["runs"])


def test_a_completion_asks_for_a_tool_and_reports_its_usage(client: OpenAI) -> None:
    answer = create(client)
    call = answer.choices[0].message.tool_calls[0]
    assert answer.choices[0].finish_reason == "tool_calls"
    assert json.loads(call.function.arguments) == {"query": "price of tin"}
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.usage.prompt_tokens_details.cached_tokens == 0


def test_an_answered_conversation_goes_on_to_its_end(client: OpenAI) -> None:
    messages: list[Any] = list(TASK)
    while (message := create(client, messages=messages).choices[0].message).tool_calls:
        messages.append(message)
        messages.append({"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "1 EUR"})
    assert message.content == "I found prices for all 2 materials."
    assert len(messages) == 5


def test_a_stream_carries_the_same_tool_call_in_pieces(client: OpenAI) -> None:
    with client.chat.completions.stream(model="gpt-4o", messages=TASK, tools=described([search])) as stream:  # type: ignore[arg-type]
        final = stream.get_final_completion()
    whole = create(client).choices[0].message.tool_calls[0]
    calls = final.choices[0].message.tool_calls
    assert calls is not None
    assert (calls[0].id, calls[0].function.arguments) == (whole.id, whole.function.arguments)


def test_a_stream_reports_usage_in_its_last_chunk_when_asked(client: OpenAI) -> None:
    chunks = list(
        create(client, messages=STORY, tools=[], stream=True, stream_options={"include_usage": True})
    )
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == 400


def test_a_stream_reports_no_usage_unasked(client: OpenAI) -> None:
    chunks = list(create(client, messages=STORY, tools=[], stream=True))
    assert all(chunk.usage is None for chunk in chunks)
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_the_start_of_a_long_conversation_is_cached(client: OpenAI) -> None:
    answered = create(client).choices[0].message
    result = {"role": "tool", "tool_call_id": answered.tool_calls[0].id, "content": "1 EUR"}
    long = [{"role": "system", "content": "rule " * 1_000}, *TASK, answered, result]
    usage = create(client, messages=long).usage
    assert usage.prompt_tokens_details.cached_tokens == 1_280
    assert usage.prompt_tokens > 1_280


def test_models_are_listed_and_told_apart(client: OpenAI) -> None:
    assert {model.id for model in client.models.list()} == {"gpt-4o", "gpt-4o-mini", "gpt-4.1"}
    assert client.models.retrieve("gpt-4o").id == "gpt-4o"


def test_a_wrong_key_is_refused(provider: str) -> None:
    with (
        OpenAI(base_url=f"{provider}/v1", api_key="wrong", max_retries=0) as stranger,
        pytest.raises(openai.AuthenticationError) as refusal,
    ):
        create(stranger)
    assert refusal.value.code == "invalid_api_key"


def test_an_unknown_model_is_not_found(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as refusal:
        create(client, model="gpt-9")
    assert refusal.value.code == "model_not_found"


def test_an_unknown_path_is_not_found(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="gpt-4o", input="x")


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "tool", "tool_call_id": "call_1", "content": "1 EUR"}],
        [
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {}}]},
            {"role": "user", "content": "and?"},
        ],
    ],
    ids=["none", "an answer to nothing", "a call without an answer"],
)
def test_a_conversation_in_disorder_is_refused(client: OpenAI, messages: list[Any]) -> None:
    with pytest.raises(openai.BadRequestError):
        create(client, messages=messages)


def test_what_a_run_used_is_counted_by_its_user(client: OpenAI, provider: str) -> None:
    usage = create(client, user="counted").usage
    assert stats(provider)["counted"] == {
        "requests": 1,
        "tool_calls": 1,
        "tool_answers": 0,
        "input_tokens": usage.prompt_tokens,
        "cached_tokens": 0,
        "output_tokens": usage.completion_tokens,
    }


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_an_answer_is_cut_off_where_the_request_says(client: OpenAI, limit: str) -> None:
    answer = create(client, messages=STORY, tools=[], **{limit: 150})
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage.completion_tokens == len(answer.choices[0].message.content.split()) == 150


@pytest.mark.parametrize("limits", [{"max_tokens": 0}, {"max_tokens": 9, "max_completion_tokens": 9}])
def test_a_limit_that_is_none_is_refused(client: OpenAI, limits: dict[str, int]) -> None:
    with pytest.raises(openai.BadRequestError):
        create(client, **limits)


def test_the_log_has_each_request_with_its_model_and_its_limit(client: OpenAI, provider: str) -> None:
    create(client, messages=STORY, tools=[], user="logged")
    create(client, messages=STORY, tools=[], user="logged", model="gpt-4o-mini", max_completion_tokens=150)
    with urllib.request.urlopen(f"{provider}/log", timeout=5) as answer:
        asked = [each for each in json.load(answer)["requests"] if each["user"] == "logged"]
    assert [(each["model"], each["most"], each["output_tokens"]) for each in asked] == [
        ("gpt-4o", None, 400),
        ("gpt-4o-mini", 150, 150),
    ]
    assert asked[0]["at"] <= asked[1]["at"]


async def test_many_runs_are_served_at_once(provider: str) -> None:
    async with AsyncOpenAI(base_url=f"{provider}/v1", api_key="sk-demo", max_retries=0) as client:

        async def ask(number: int) -> None:
            await client.chat.completions.create(model="gpt-4o", messages=STORY, user=f"many-{number}")

        async with asyncio.timeout(30):
            await asyncio.gather(*(ask(number) for number in range(100)))
    assert sum(name.startswith("many-") for name in stats(provider)) == 100
