"""What a request to the OpenAI API gives up, endpoint by endpoint, and what it keeps."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spanfuse.providers.openai.endpoints import Endpoint
from spanfuse.providers.openai.sparing import REMOVED, spared
from spanfuse_processor.engine.reach import Degrading

CHAT, RESPONSES = Endpoint.CHAT, Endpoint.RESPONSES
COMPLETIONS, EMBEDDINGS = Endpoint.COMPLETIONS, Endpoint.EMBEDDINGS
CHEAPER = Degrading(models=(("gpt-4o", "gpt-4o-mini"),))
SHORT = Degrading(output_tokens=100)
COLD = Degrading(temperature=0.2)
NO_WEB = Degrading(tools=("web*", "fetch"))


def function(name: str) -> dict[str, Any]:
    """A tool as chat completions have it."""
    return {"type": "function", "function": {"name": name, "parameters": {}}}


def chosen(name: str) -> dict[str, Any]:
    """That tool and no other."""
    return {"type": "function", "function": {"name": name}}


def plain(name: str) -> dict[str, Any]:
    """A tool as responses have it."""
    return {"type": "function", "name": name, "parameters": {}}


@pytest.mark.parametrize("endpoint", [CHAT, RESPONSES, COMPLETIONS])
def test_another_model_is_asked(endpoint: Endpoint) -> None:
    assert spared(endpoint, {"model": "gpt-4o"}, CHEAPER) == {"model": "gpt-4o-mini"}


@pytest.mark.parametrize(
    "body", [{"model": "gpt-4.1"}, {"model": "gpt-4o-mini"}, {"model": None}, {}, {"model": 7}]
)
def test_a_model_that_is_not_named_stays(body: dict[str, Any]) -> None:
    assert spared(CHAT, body, CHEAPER) == {}


def test_a_model_stays_that_the_url_names() -> None:
    assert spared(CHAT, {"model": "gpt-4o"}, CHEAPER, fixed=True) == {}


def test_embeddings_give_nothing_up_for_vectors_of_two_models_do_not_compare() -> None:
    everything = Degrading((("*", "cheap"),), ("*",), 1, 0.0)

    assert spared(EMBEDDINGS, {"model": "text-embedding-3-large", "input": "x"}, everything) == {}


@pytest.mark.parametrize(
    ("endpoint", "said", "changes"),
    [
        (CHAT, {"max_completion_tokens": 500}, {"max_completion_tokens": 100}),
        (CHAT, {"max_tokens": 500}, {"max_tokens": 100}),
        (CHAT, {}, {"max_completion_tokens": 100}),
        (CHAT, {"max_tokens": None}, {"max_completion_tokens": 100}),
        (CHAT, {"max_completion_tokens": 100}, {}),
        (CHAT, {"max_tokens": 7}, {}),
        (RESPONSES, {"max_output_tokens": 500}, {"max_output_tokens": 100}),
        (RESPONSES, {}, {"max_output_tokens": 100}),
        (RESPONSES, {"max_output_tokens": 20}, {}),
        (COMPLETIONS, {"max_tokens": 500}, {"max_tokens": 100}),
        (COMPLETIONS, {}, {}),
    ],
)
def test_an_answer_is_no_longer_than_is_asked_and_never_longer_than_before(
    endpoint: Endpoint, said: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert spared(endpoint, {"model": "m", **said}, SHORT) == changes


def test_a_limit_has_the_name_that_the_provider_knows() -> None:
    assert spared(CHAT, {"model": "m"}, SHORT, "groq") == {"max_tokens": 100}


def test_no_limit_is_lower_than_the_endpoint_takes() -> None:
    few = Degrading(output_tokens=3)

    assert spared(RESPONSES, {"model": "m"}, few) == {"max_output_tokens": 16}
    assert spared(CHAT, {"model": "m"}, few) == {"max_completion_tokens": 3}


@pytest.mark.parametrize(
    ("endpoint", "body"),
    [
        (CHAT, {"response_format": {"type": "json_schema", "json_schema": {}}}),
        (CHAT, {"response_format": {"type": "json_object"}}),
        (RESPONSES, {"text": {"format": {"type": "json_schema", "name": "x"}}}),
    ],
)
def test_json_is_not_cut_off(endpoint: Endpoint, body: dict[str, Any]) -> None:
    assert spared(endpoint, {"model": "m", **body}, SHORT) == {}


def test_text_that_says_it_is_text_is() -> None:
    assert spared(CHAT, {"model": "m", "response_format": {"type": "text"}}, SHORT)
    assert spared(RESPONSES, {"model": "m", "text": {"format": {"type": "text"}}}, SHORT)


@pytest.mark.parametrize(
    ("said", "changes"),
    [({"temperature": 0.9}, {"temperature": 0.2}), ({}, {"temperature": 0.2}), ({"temperature": 0.1}, {})],
)
def test_a_temperature_is_lowered_and_never_raised(said: dict[str, Any], changes: dict[str, Any]) -> None:
    for model in ("gpt-4o", "gpt-5-chat-latest", "some-model"):
        assert spared(CHAT, {"model": model, **said}, COLD) == changes


def test_where_none_is_said_a_limit_above_what_holds_then_changes_nothing() -> None:
    assert spared(CHAT, {"model": "gpt-4o"}, Degrading(temperature=1.5)) == {}


@pytest.mark.parametrize("model", ["o3", "o4-mini-2025-04-16", "gpt-5", "openai/gpt-5-mini", "ft:o4-mini:x"])
def test_a_model_that_thinks_gets_no_temperature(model: str) -> None:
    assert spared(CHAT, {"model": model}, COLD) == {}
    assert spared(CHAT, {"model": model, "temperature": 1}, COLD) == {}


def test_a_request_without_a_model_gets_no_temperature_either() -> None:
    assert spared(RESPONSES, {"prompt": {"id": "p"}}, COLD) == {}


def test_another_model_is_asked_as_it_wants_to_be_asked() -> None:
    thinking = Degrading(models=(("gpt-4o", "gpt-5-nano"),), output_tokens=300)
    talking = Degrading(models=(("o3", "gpt-4o-mini"),))

    assert spared(CHAT, {"model": "gpt-4o", "temperature": 0.3, "max_tokens": 900}, thinking) == {
        "model": "gpt-5-nano",
        "temperature": REMOVED,
        "max_tokens": REMOVED,
        "max_completion_tokens": 300,
    }
    assert spared(CHAT, {"model": "o3", "reasoning_effort": "high"}, talking) == {
        "model": "gpt-4o-mini",
        "reasoning_effort": REMOVED,
    }
    assert spared(RESPONSES, {"model": "o3", "reasoning": {"effort": "low"}}, talking) == {
        "model": "gpt-4o-mini",
        "reasoning": REMOVED,
    }


@pytest.mark.parametrize(("endpoint", "made"), [(CHAT, function), (RESPONSES, plain)])
def test_tools_that_are_meant_are_not_offered(endpoint: Endpoint, made: Any) -> None:
    tools = [made("web_search"), made("lookup"), made("fetch")]

    assert spared(endpoint, {"model": "m", "tools": tools}, NO_WEB) == {"tools": [made("lookup")]}


def test_the_provider_s_own_tools_go_by_their_type_and_others_by_their_name() -> None:
    tools = [{"type": "web_search_preview"}, {"type": "mcp", "server_label": "fetch"}, {"type": "image"}]

    changes = spared(RESPONSES, {"model": "m", "tools": tools}, NO_WEB)

    assert changes == {"tools": [{"type": "image"}]}
    assert spared(CHAT, {"model": "m", "tools": [function("x")]}, Degrading(tools=("function",))) == {}


def test_custom_tools_have_names_too() -> None:
    chat, responses = {"type": "custom", "custom": {"name": "fetch"}}, {"type": "custom", "name": "fetch"}

    assert spared(CHAT, {"tools": [chat, function("x")]}, NO_WEB) == {"tools": [function("x")]}
    assert spared(RESPONSES, {"tools": [responses, plain("x")]}, NO_WEB) == {"tools": [plain("x")]}


def test_where_no_tool_is_left_nothing_is_said_of_tools() -> None:
    body = {"tools": [function("fetch")], "tool_choice": "required", "parallel_tool_calls": False}

    assert spared(CHAT, body, NO_WEB) == {
        "tools": REMOVED,
        "tool_choice": REMOVED,
        "parallel_tool_calls": REMOVED,
    }
    assert spared(CHAT, {"functions": [{"name": "fetch"}], "function_call": {"name": "fetch"}}, NO_WEB) == {
        "functions": REMOVED,
        "function_call": REMOVED,
    }


def test_tools_that_are_not_meant_stay_as_they_are() -> None:
    body = {
        "tools": [function("lookup")],
        "tool_choice": {"type": "function", "function": {"name": "lookup"}},
    }

    assert spared(CHAT, body, NO_WEB) == {}


ALLOWED = {"mode": "required", "tools": [plain("fetch"), plain("lookup")]}


@pytest.mark.parametrize(
    ("endpoint", "choice", "mended"),
    [
        (CHAT, "required", "required"),
        (CHAT, chosen("fetch"), "auto"),
        (CHAT, chosen("x"), chosen("x")),
        (RESPONSES, {"type": "function", "name": "fetch"}, "auto"),
        (RESPONSES, {"type": "web_search_preview"}, "auto"),
        (RESPONSES, {"type": "allowed_tools", **ALLOWED},
         {"type": "allowed_tools", "mode": "required", "tools": [plain("lookup")]}),
        (CHAT, {"type": "allowed_tools", "allowed_tools": ALLOWED},
         {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [plain("lookup")]}}),
        (RESPONSES, {"type": "allowed_tools", "mode": "auto", "tools": [plain("fetch")]}, "none"),
        (CHAT, {"type": "allowed_tools", "allowed_tools": {"tools": [plain("fetch")]}}, "none"),
    ],
)  # fmt: skip
def test_a_choice_among_tools_names_tools_that_are_there(
    endpoint: Endpoint, choice: Any, mended: Any
) -> None:
    made = function if endpoint is CHAT else plain
    body = {"model": "m", "tools": [made("fetch"), made("lookup"), made("x")], "tool_choice": choice}

    changes = spared(endpoint, body, NO_WEB)

    assert changes == {"tools": [made("lookup"), made("x")], "tool_choice": mended}


_values: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5_000)
    | st.floats(0, 2)
    | st.sampled_from(["gpt-4o", "fetch"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "name", "function", "tools", "format"]), inner, max_size=3)
    ),
    max_leaves=8,
)
_bodies = st.dictionaries(
    st.sampled_from(
        ["model", "max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "tools",
         "tool_choice", "functions", "function_call", "text", "response_format", "top_p", "reasoning"]
    ),
    _values,
)  # fmt: skip
_wishes = st.builds(
    Degrading,
    models=st.sampled_from([(), (("gpt-*", "gpt-4o-mini"),), (("*", "o3"),)]),
    tools=st.sampled_from([(), ("fetch",), ("*",)]),
    output_tokens=st.integers(0, 1_000),
    temperature=st.none() | st.floats(0.0, 2.0),
)


@given(st.sampled_from(Endpoint), _bodies, _wishes)
@example(Endpoint.CHAT, {"tools": [{"type": []}]}, Degrading(tools=("fetch",)))
def test_whatever_is_asked_is_read_without_error_and_left_as_it_was(
    endpoint: Endpoint, body: dict[str, Any], wish: Degrading
) -> None:
    before = deepcopy(body)

    changes = spared(endpoint, body, wish)

    assert repr(body) == repr(before)
    for name in ("max_tokens", "max_completion_tokens", "max_output_tokens", "temperature"):
        said, now = body.get(name), changes.get(name)
        if isinstance(said, int | float) and not isinstance(said, bool) and isinstance(now, int | float):
            assert now < said
