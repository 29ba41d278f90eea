"""Responses of the OpenAI API, whole and in pieces, read into outcomes."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion
from tests.library.providers.openai_wire import Asked, Reply, writers_of

from spanfuse.provider import Outcome, ToolRequest
from spanfuse.providers.openai.endpoints import Endpoint
from spanfuse.providers.openai.response import read_outcome, read_usage
from spanfuse.providers.openai.stream import gatherer
from spanfuse_processor.engine.nouns import Details, Usage

USAGE = Usage(input_tokens=12, output_tokens=5, cached_tokens=4, reasoning_tokens=2)
CALLS = [Asked("search", {"q": "x"}, id="a"), Asked("open", {"url": "y"}, id="b")]
SAYS: dict[Endpoint, str] = {
    Endpoint.CHAT: "/chat/completions",
    Endpoint.RESPONSES: "/responses",
    Endpoint.COMPLETIONS: "/completions",
}


def whole(endpoint: Endpoint, reply: Reply) -> Outcome:
    return read_outcome(endpoint, writers_of(SAYS[endpoint])[0](reply))


def streamed(endpoint: Endpoint, reply: Reply, upto: int | None = None) -> Outcome:
    pieces = writers_of(SAYS[endpoint])[1](reply, {"stream_options": {"include_usage": True}})
    found = gatherer(endpoint)
    for piece in list(pieces)[:upto]:
        found.add(piece)
    outcome = found.outcome()
    outcome.pieces = 0  # which only streams have
    return outcome


@pytest.mark.parametrize("endpoint", SAYS)
def test_the_pieces_of_an_answer_are_counted(endpoint: Endpoint) -> None:
    found = gatherer(endpoint)
    for piece in writers_of(SAYS[endpoint])[1](Reply(text="one two three"), {}):
        found.add(piece)

    assert found.outcome().pieces >= 3  # some servers send letter by letter


@pytest.mark.parametrize("endpoint", SAYS)
@pytest.mark.parametrize("read", [whole, streamed])
def test_a_text(endpoint: Endpoint, read: Any) -> None:
    outcome = read(endpoint, Reply(text="Hello there"))

    assert outcome == Outcome(
        result="Hello there",
        usage=USAGE,
        model="gpt-4o-mini-2024-07-18",
        response_id="resp-1",
        finish_reasons=("stop",),
        tool_requests=outcome.tool_requests,
    )
    assert list(outcome.tool_requests) == []


@pytest.mark.parametrize("endpoint", [Endpoint.CHAT, Endpoint.RESPONSES])
@pytest.mark.parametrize("read", [whole, streamed])
def test_tool_calls_have_ids_in_the_requests_and_none_in_the_result(endpoint: Endpoint, read: Any) -> None:
    outcome = read(endpoint, Reply(asked=CALLS))

    assert outcome.tool_requests == [
        ToolRequest("a", "search", '{"q": "x"}'),
        ToolRequest("b", "open", '{"url": "y"}'),
    ]
    assert outcome.result == {
        "content": "",
        "tool_calls": [["search", '{"q": "x"}'], ["open", '{"url": "y"}']],
    }
    assert outcome.finish_reasons == ("tool_calls",)


@pytest.mark.parametrize("endpoint", SAYS)
@pytest.mark.parametrize("read", [whole, streamed])
def test_usage_that_is_not_reported_is_none(endpoint: Endpoint, read: Any) -> None:
    assert read(endpoint, Reply(usage=None)).usage is None


def test_a_stream_says_what_it_has_said_so_far() -> None:
    chat = streamed(Endpoint.CHAT, Reply(text="one two"), upto=2)
    responses = streamed(Endpoint.RESPONSES, Reply(text="one two"), upto=6)

    assert (chat.result, chat.usage, chat.response_id) == ("one ", None, "resp-1")
    assert (responses.result, responses.usage, responses.response_id) == ("one", None, "resp-1")


def test_a_stream_of_calls_knows_those_that_are_there() -> None:
    outcome = streamed(Endpoint.RESPONSES, Reply(asked=CALLS), upto=4)

    assert [call.id for call in outcome.tool_requests] == ["a"]


@pytest.mark.parametrize("endpoint", SAYS)
def test_a_stream_of_which_nothing_came_has_no_result(endpoint: Endpoint) -> None:
    assert streamed(endpoint, Reply(), upto=0) == Outcome(tool_requests=[])


@pytest.mark.parametrize(("upto", "finished"), [(3, False), (4, True)])
def test_a_chat_has_finished_with_its_finish_reason(upto: int, finished: bool) -> None:
    found = gatherer(Endpoint.CHAT)
    for piece in list(writers_of("/chat/completions")[1](Reply(), {}))[:upto]:
        found.add(piece)

    assert found.finished is finished


def test_several_choices_are_several_results() -> None:
    body = writers_of("/chat/completions")[0](Reply(text="a"))
    other = {"index": 1, "finish_reason": "length", "message": {"content": None, "refusal": "No."}}
    body["choices"].append(other)

    outcome = read_outcome(Endpoint.CHAT, body)

    assert outcome.result == ["a", "No."]
    assert outcome.finish_reasons == ("stop", "length")


def test_choices_of_a_stream_are_kept_apart() -> None:
    found = gatherer(Endpoint.CHAT)
    for index, word in [(0, "a"), (1, "x"), (0, "b"), (1, "y")]:
        found.add({"id": "r", "choices": [{"index": index, "delta": {"content": word}}]})

    assert found.outcome().result == ["ab", "xy"]


def test_a_legacy_function_call_is_a_request_without_an_id() -> None:
    message = {"content": None, "function_call": {"name": "f", "arguments": "{}"}}
    body = {"id": "r", "choices": [{"message": message, "finish_reason": "function_call"}]}

    assert read_outcome(Endpoint.CHAT, body).tool_requests == [ToolRequest("", "f", "{}")]


def test_a_streamed_legacy_function_call_is_gathered() -> None:
    found = gatherer(Endpoint.CHAT)
    for part in ({"name": "f", "arguments": ""}, {"arguments": '{"a"'}, {"arguments": ":1}"}):
        found.add({"id": "r", "choices": [{"index": 0, "delta": {"function_call": part}}]})

    assert found.outcome().tool_requests == [ToolRequest("", "f", '{"a":1}')]


def test_calls_that_a_server_does_not_number_are_told_apart_by_their_ids() -> None:
    found = gatherer(Endpoint.CHAT)
    for id_ in ("a", "b"):
        call = {"id": id_, "function": {"name": "f", "arguments": "{}"}}
        found.add({"id": "r", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})

    assert [call.id for call in found.outcome().tool_requests] == ["a", "b"]


def test_custom_tools_are_tools() -> None:
    chat = {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    item = {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "select 1"}

    by_chat = read_outcome(Endpoint.CHAT, {"choices": [{"message": {"tool_calls": [chat]}}]})
    by_item = read_outcome(Endpoint.RESPONSES, {"output": [item]})

    assert by_chat.tool_requests == by_item.tool_requests == [ToolRequest("a", "sql", "select 1")]
    assert by_chat.result == by_item.result


@pytest.mark.parametrize(
    ("status", "details", "reasons"),
    [
        ("completed", None, ("stop",)),
        ("incomplete", {"reason": "max_output_tokens"}, ("length",)),
        ("incomplete", {"reason": "content_filter"}, ("content_filter",)),
        ("incomplete", None, ("incomplete",)),
        ("failed", None, ("error",)),
        ("queued", None, ()),
    ],
)
def test_the_status_of_a_response_is_its_finish_reason(
    status: str, details: object, reasons: tuple[str, ...]
) -> None:
    outcome = read_outcome(Endpoint.RESPONSES, {"status": status, "incomplete_details": details})

    assert outcome.finish_reasons == reasons


def test_embeddings_have_usage_and_no_result() -> None:
    body = writers_of("/embeddings")[0](Reply())

    outcome = read_outcome(Endpoint.EMBEDDINGS, body)

    assert (outcome.result, outcome.usage) == (None, Usage(input_tokens=12))


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        (None, None),
        ({"prompt_tokens": 3, "completion_tokens": 1}, Usage(3, 1)),
        ({"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": None}, Usage(3, 1)),
        (
            {"input_tokens": 9, "output_tokens": 4, "input_tokens_details": {"cache_write_tokens": 2}},
            Usage(9, 4, cache_write_tokens=2),
        ),
        ({"prompt_tokens": None}, Usage()),
        (CompletionUsage(prompt_tokens=3, completion_tokens=1, total_tokens=4), Usage(3, 1)),
    ],
)
def test_usage_goes_by_the_names_of_either_api(reported: object, usage: Usage | None) -> None:
    assert read_usage(reported) == usage


def test_a_model_and_its_json_are_read_alike() -> None:
    body = writers_of("/chat/completions")[0](Reply(asked=CALLS))

    model = ChatCompletion.model_validate(body)

    assert read_outcome(Endpoint.CHAT, model) == read_outcome(Endpoint.CHAT, body)


@pytest.mark.parametrize("response", [None, "x", 3, {}, {"choices": None}, {"choices": [None]}, {"usage": 3}])
@pytest.mark.parametrize("endpoint", Endpoint)
def test_responses_of_no_sense_do_no_harm(endpoint: Endpoint, response: object) -> None:
    found = gatherer(endpoint)
    found.add(response)

    assert read_outcome(endpoint, response).response_id == ""
    assert found.outcome().response_id == ""


def test_what_is_heard_and_seen_is_told_apart() -> None:
    usage = read_usage(
        {
            "prompt_tokens": 100,
            "completion_tokens": 50,
            "prompt_tokens_details": {
                "cached_tokens": 30,
                "audio_tokens": 40,
                "image_tokens": 5,
                "cached_tokens_details": {"audio_tokens": 10},
            },
            "completion_tokens_details": {"audio_tokens": 20},
        }
    )

    assert usage == Usage(100, 50, 30, details=Details(0, 40, 10, 20, 5))


def test_without_any_there_are_no_details() -> None:
    usage = read_usage(
        {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"audio_tokens": 0}}
    )

    assert usage == Usage(5, 2)


def test_searches_of_the_provider_are_counted_and_opened_pages_are_not() -> None:
    items = [
        {"type": "web_search_call", "action": {"type": "search", "query": "x"}},
        {"type": "web_search_call", "action": {"type": "open_page"}},
        {"type": "web_search_call"},
        {"type": "message", "content": [{"type": "output_text", "text": "found"}]},
    ]
    said = {"output": items, "usage": {"input_tokens": 9, "output_tokens": 3}}

    assert read_outcome(Endpoint.RESPONSES, said).usage == Usage(9, 3, details=Details(searches=2))
    assert read_outcome(Endpoint.RESPONSES, {"output": items}).usage is None


@pytest.mark.parametrize("endpoint", SAYS)
def test_how_it_was_served_is_what_the_response_says(endpoint: Endpoint) -> None:
    assert read_outcome(endpoint, {"service_tier": "flex"}).service == "flex"


def test_a_stream_says_it_in_its_chunks() -> None:
    found = gatherer(Endpoint.CHAT)
    for tier in (None, "priority", None):
        found.add({"choices": [], "service_tier": tier})

    assert found.outcome().service == "priority"
