"""A tool loop of an untouched program: its tool calls are known from the messages alone."""

from __future__ import annotations

import json
from typing import Any

from openai import AsyncOpenAI, OpenAI
from tests.library.providers.fake_openai import Asked, FakeOpenAI, Reply
from tests.library.providers.openai_paths import MODEL
from tests.library.providers.stage import Stage

from spanfuse_processor.engine import names

WEATHER = Asked("weather", {"city": "Oslo"}, id="call_a")
NEWS = Asked("news", {"topic": "rain"}, id="call_b")
SCRIPT = (
    Reply(asked=[WEATHER, NEWS]),
    Reply(asked=[Asked("weather", {"city": "Bergen"}, id="call_c")]),
    Reply(),
)


def tool(name: str, arguments: str) -> str:
    return f"{name}: {json.loads(arguments)}"


def assert_told(stage: Stage) -> None:
    told = stage.tools()
    assert [(span[names.TOOL], span[names.TOOL_CALL_ID]) for span in told] == [
        ("weather", "call_a"),
        ("news", "call_b"),
        ("weather", "call_c"),
    ]
    assert all(span[names.DERIVED] and span[names.RUN] == "run-1" for span in told)
    assert len({span[names.ARGUMENTS] for span in told}) == 3
    assert len({span[names.RESULT] for span in told}) == 3


def test_a_chat_loop(stage: Stage, client: OpenAI, server: FakeOpenAI) -> None:
    server.say(*SCRIPT)
    messages: list[Any] = [{"role": "user", "content": "Rain?"}]

    while True:
        message = client.chat.completions.create(model=MODEL, messages=messages).choices[0].message
        messages.append(message)
        for call in message.tool_calls or ():
            assert call.type == "function"
            result = tool(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not message.tool_calls:
            break

    assert_told(stage)


def test_a_streamed_chat_loop(stage: Stage, client: OpenAI, server: FakeOpenAI) -> None:
    server.say(*SCRIPT)
    messages: list[Any] = [{"role": "user", "content": "Rain?"}]

    while True:
        with client.chat.completions.stream(model=MODEL, messages=messages) as events:
            message = events.get_final_completion().choices[0].message
        messages.append(message)
        for call in message.tool_calls or ():
            result = tool(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not message.tool_calls:
            break

    assert_told(stage)


async def test_an_async_chat_loop(stage: Stage, async_client: AsyncOpenAI, server: FakeOpenAI) -> None:
    server.say(*SCRIPT)
    messages: list[Any] = [{"role": "user", "content": "Rain?"}]

    while True:
        completion = await async_client.chat.completions.create(model=MODEL, messages=messages)
        message = completion.choices[0].message
        messages.append(message)
        for call in message.tool_calls or ():
            assert call.type == "function"
            result = tool(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not message.tool_calls:
            break

    assert_told(stage)


def test_a_responses_loop_with_the_whole_history(stage: Stage, client: OpenAI, server: FakeOpenAI) -> None:
    server.say(*SCRIPT)
    given: list[Any] = [{"role": "user", "content": "Rain?"}]

    while True:
        response = client.responses.create(model=MODEL, input=given)
        calls = [item for item in response.output if item.type == "function_call"]
        for call in calls:
            output = tool(call.name, call.arguments)
            given += [call, {"type": "function_call_output", "call_id": call.call_id, "output": output}]
        if not calls:
            break

    assert_told(stage)


def test_a_responses_loop_that_goes_on_from_the_previous_response(
    stage: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    server.say(*SCRIPT)
    given: Any = "Rain?"
    previous: str | None = None

    while True:
        response = client.responses.create(model=MODEL, input=given, previous_response_id=previous)
        previous = response.id
        calls = [item for item in response.output if item.type == "function_call"]
        given = [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": tool(call.name, call.arguments),
            }
            for call in calls
        ]
        if not calls:
            break

    assert_told(stage)


def test_a_streamed_responses_loop_that_leaves_early(
    stage: Stage, client: OpenAI, server: FakeOpenAI
) -> None:
    server.say(*SCRIPT)
    given: list[Any] = [{"role": "user", "content": "Rain?"}]
    left = 3

    while left:
        left -= 1
        with client.responses.create(model=MODEL, input=given, stream=True) as events:
            for event in events:
                if event.type == "response.output_item.done" and event.item.type == "function_call":
                    output = tool(event.item.name, event.item.arguments)
                    given.append(event.item)
                    given.append(
                        {"type": "function_call_output", "call_id": event.item.call_id, "output": output}
                    )

    assert_told(stage)
