"""Requests to the OpenAI API, read into intents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from openai import AzureOpenAI, OpenAI

from spanfuse.provider import Intent, ToolAnswer
from spanfuse.providers.openai.endpoints import Endpoint, Place, endpoint_of, place_of
from spanfuse.providers.openai.request import read_intent
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind

PLACE = Place("openai", "api.openai.com", 443)


def read(endpoint: Endpoint, **body: Any) -> Intent:
    return read_intent(endpoint, body, PLACE, stream=False)


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("/chat/completions", Endpoint.CHAT),
        ("chat/completions", Endpoint.CHAT),
        ("/responses", Endpoint.RESPONSES),
        ("/responses?beta=true", Endpoint.RESPONSES),
        ("/embeddings", Endpoint.EMBEDDINGS),
        ("/completions", Endpoint.COMPLETIONS),
        ("/deployments/gpt-4o/chat/completions", Endpoint.CHAT),
        ("/deployments/gpt-4o/completions?api-version=1", Endpoint.COMPLETIONS),
        ("https://api.example.com/v1/chat/completions", Endpoint.CHAT),
        ("https://api.example.com/v1/embeddings/", Endpoint.EMBEDDINGS),
        ("/chat/completions/chatcmpl-1", None),
        ("/responses/resp-1/cancel", None),
        ("/responses/input_tokens", None),
        ("/models", None),
        ("/threads/runs", None),
        ("/files", None),
    ],
)
def test_an_endpoint_is_known_by_its_path(url: str, endpoint: Endpoint | None) -> None:
    assert endpoint_of(url) is endpoint


@pytest.mark.parametrize(
    ("base_url", "place"),
    [
        ("https://api.openai.com/v1", Place("openai", "api.openai.com", 443)),
        ("http://localhost:11434/v1", Place("openai", "localhost", 11434)),
        ("https://api.groq.com/openai/v1", Place("groq", "api.groq.com", 443)),
        ("https://eu.openai.azure.com/openai", Place("azure.ai.openai", "eu.openai.azure.com", 443)),
        ("http://models.corp/v1", Place("openai", "models.corp", 80)),
    ],
)
def test_a_provider_is_named_by_its_host(base_url: str, place: Place) -> None:
    assert place_of(OpenAI(base_url=base_url, api_key="k")) == place


def test_azure_is_named_by_its_client_behind_whatever_host() -> None:
    client = AzureOpenAI(base_url="https://gateway.corp/openai", api_key="k", api_version="1")

    assert place_of(client).provider == "azure.ai.openai"


def test_what_is_not_a_client_is_nowhere_in_particular() -> None:
    assert place_of(object()) == Place("openai", "", 0)


@pytest.mark.parametrize(
    ("endpoint", "operation", "kind"),
    [
        (Endpoint.CHAT, "chat", Kind.MODEL),
        (Endpoint.RESPONSES, "chat", Kind.MODEL),
        (Endpoint.COMPLETIONS, "text_completion", Kind.MODEL),
        (Endpoint.EMBEDDINGS, "embeddings", Kind.EMBEDDINGS),
    ],
)
def test_an_endpoint_has_its_operation(endpoint: Endpoint, operation: str, kind: Kind) -> None:
    intent = read(endpoint, model="m")

    assert (intent.operation, intent.kind, intent.name) == (operation, kind, "m")


def test_parameters_become_attributes_and_nothing_else_does() -> None:
    intent = read(
        Endpoint.CHAT,
        model="m",
        messages=[],
        temperature=0.2,
        max_completion_tokens=99,
        seed=7,
        stop=["x"],
        tools=[{"type": "function"}],
        user="somebody",
    )

    assert intent.attributes == {
        "server.address": "api.openai.com",
        "server.port": 443,
        "gen_ai.request.temperature": 0.2,
        names.MAX_TOKENS: 99,
        "gen_ai.request.seed": 7,
    }


@pytest.mark.parametrize("conversation", ["conv-1", {"id": "conv-1"}])
def test_a_conversation_is_named(conversation: object) -> None:
    intent = read(Endpoint.RESPONSES, model="m", input="x", conversation=conversation)

    assert intent.attributes[names.CONVERSATION] == "conv-1"


def conversation(call_id: str, content: object = "Rain?") -> list[dict[str, Any]]:
    function = {"name": "weather", "arguments": "{}"}
    return [
        {"role": "user", "content": content},
        {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "function": function}]},
        {"role": "tool", "tool_call_id": call_id, "content": "yes"},
    ]


def test_a_conversation_is_compared_without_the_ids_of_its_calls() -> None:
    one, other, new = (
        read(Endpoint.CHAT, messages=conversation(*given)).arguments
        for given in [("a",), ("b",), ("a", "Snow?")]
    )

    assert one == other != new


def test_items_are_compared_without_the_ids_of_their_calls() -> None:
    one, other, new = (
        read(Endpoint.RESPONSES, input=[called(id_), output(id_) | {"output": said}]).arguments
        for id_, said in [("a", "yes"), ("b", "yes"), ("a", "no")]
    )

    assert one == other != new


def test_messages_with_more_than_text_are_compared_as_they_are() -> None:
    messages = conversation("a", [{"type": "image_url", "image_url": {"url": "data:"}}])

    assert read(Endpoint.CHAT, messages=messages).arguments is messages


@pytest.mark.parametrize(
    ("endpoint", "body", "is_user"),
    [
        (Endpoint.CHAT, {"messages": [{"role": "user", "content": "x"}]}, True),
        (Endpoint.CHAT, {"messages": [{"role": "user"}, {"role": "assistant"}]}, False),
        (Endpoint.CHAT, {"messages": [{"role": "tool"}]}, False),
        (Endpoint.CHAT, {"messages": []}, False),
        (Endpoint.RESPONSES, {"input": "x"}, True),
        (Endpoint.RESPONSES, {"input": [{"role": "user", "content": "x"}]}, True),
        (Endpoint.RESPONSES, {"input": [{"type": "function_call_output"}]}, False),
        (Endpoint.COMPLETIONS, {"prompt": "x"}, False),
    ],
)
def test_a_users_turn_is_one_that_a_user_had_last(
    endpoint: Endpoint, body: dict[str, Any], is_user: bool
) -> None:
    assert read(endpoint, **body).user_turn is is_user


SAID = {"role": "assistant", "content": "hm"}
ASKED = {"role": "user", "content": "x"}


@pytest.mark.parametrize(
    ("endpoint", "body", "is_fresh"),
    [
        (Endpoint.CHAT, {"messages": [{"role": "system", "content": "be kind"}, ASKED]}, True),
        (Endpoint.CHAT, {"messages": [ASKED, SAID, ASKED]}, False),
        (Endpoint.CHAT, {"messages": [ASKED, {"role": "tool"}, ASKED]}, False),
        (Endpoint.CHAT, {"messages": [ASKED, SAID]}, False),
        (Endpoint.RESPONSES, {"input": "x"}, True),
        (Endpoint.RESPONSES, {"input": "x", "previous_response_id": "r1"}, False),
        (Endpoint.RESPONSES, {"input": "x", "conversation": "c1"}, False),
        (Endpoint.RESPONSES, {"input": [ASKED]}, True),
        (Endpoint.RESPONSES, {"input": [ASKED, {"type": "function_call_output"}, ASKED]}, False),
    ],
)
def test_a_request_is_fresh_when_nothing_was_said_before(
    endpoint: Endpoint, body: dict[str, Any], is_fresh: bool
) -> None:
    assert read(endpoint, **body).fresh is is_fresh


def answer(call_id: str) -> dict[str, str]:
    return {"role": "tool", "tool_call_id": call_id, "content": f"result of {call_id}"}


def test_answers_after_the_models_last_message_are_new() -> None:
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": []},
        answer("old"),
        {"role": "assistant", "tool_calls": []},
        answer("a"),
        answer("b"),
        {"role": "user", "content": [{"type": "image_url"}]},
    ]

    assert read(Endpoint.CHAT, messages=messages).answers == [
        ToolAnswer("a", "result of a"),
        ToolAnswer("b", "result of b"),
    ]


def called(call_id: str) -> dict[str, str]:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}


def output(call_id: str) -> dict[str, str]:
    return {"type": "function_call_output", "call_id": call_id, "output": call_id.upper()}


REASONED = {"type": "reasoning", "summary": []}
SAID = {"type": "message", "role": "assistant", "content": []}


@pytest.mark.parametrize(
    ("given", "new"),
    [
        ([output("a"), output("b")], "ab"),
        ([called("a"), called("b"), output("a"), output("b")], "ab"),
        ([called("a"), output("a"), called("b"), output("b")], "ab"),
        ([called("o"), output("o"), REASONED, called("a"), output("a")], "a"),
        ([called("o"), output("o"), SAID, called("a"), output("a")], "a"),
        ([called("a"), output("a"), SAID], ""),
        ([called("a"), output("a"), {"role": "user", "content": "and?"}], "a"),
        ([called("a"), called("b"), output("b")], "b"),
    ],
)
def test_outputs_after_the_models_last_item_are_new(given: list[dict[str, Any]], new: str) -> None:
    answers = read(Endpoint.RESPONSES, input=given).answers

    assert "".join(one.id for one in answers) == new
    assert all(one.content == one.id.upper() for one in answers)


def test_a_long_history_of_calls_alone_is_not_read_to_its_beginning() -> None:
    given = [item for n in range(500) for item in (called(f"c{n}"), output(f"c{n}"))]

    answers = read(Endpoint.RESPONSES, input=given).answers

    assert [answers[0].id, answers[-1].id] == ["c468", "c499"]


def test_the_previous_response_is_named() -> None:
    assert read(Endpoint.RESPONSES, input="x", previous_response_id="resp-1").previous == "resp-1"


def test_an_iterator_is_never_advanced() -> None:
    def messages() -> Iterator[dict[str, str]]:
        raise AssertionError("advanced")
        yield {}

    for endpoint, field in [
        (Endpoint.CHAT, "messages"),
        (Endpoint.RESPONSES, "input"),
        (Endpoint.EMBEDDINGS, "input"),
        (Endpoint.COMPLETIONS, "prompt"),
    ]:
        assert read(endpoint, **{field: messages()}).answers in ((), [])


@pytest.mark.parametrize("body", [None, b"{}", "x", [1], 3])
def test_a_body_that_is_no_mapping_is_an_intent_without_a_name(body: object) -> None:
    intent = read_intent(Endpoint.CHAT, body, PLACE, stream=True)

    assert (intent.name, intent.operation, intent.stream) == ("", "chat", True)


@pytest.mark.parametrize("message", [None, "x", 3, object(), {"role": 3}, {"role": "tool"}])
def test_messages_of_no_sense_do_no_harm(message: object) -> None:
    read(Endpoint.CHAT, messages=[message])
    read(Endpoint.RESPONSES, input=[message])
