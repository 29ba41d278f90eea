"""What frameworks wrap around arguments and results."""

from __future__ import annotations

import json

import pytest

from spanfuse_processor.engine.fingerprints.envelopes import arguments_in, result_in


def tool_message(call_id: str) -> str:
    kwargs = {"content": "rain in Paris", "type": "tool", "tool_call_id": call_id, "status": "success"}
    return json.dumps(
        {"output": {"lc": 1, "type": "constructor", "kwargs": kwargs}, "kwargs": {"color": "green"}}
    )


def test_langchains_arguments_come_out_of_their_metadata() -> None:
    first = json.dumps({"input_str": "{'city': 'Paris'}", "metadata": {"langgraph_step": 2}})
    second = json.dumps({"input_str": "{'city': 'Paris'}", "metadata": {"langgraph_step": 4}})

    assert arguments_in(first) == arguments_in(second) == "{'city': 'Paris'}"


def test_langchains_result_comes_out_of_its_message() -> None:
    assert result_in(tool_message("call_1")) == result_in(tool_message("call_2")) == "rain in Paris"
    assert result_in("content='rain' name='w' id='a7' tool_call_id='call_1'") == "content='rain'"


@pytest.mark.parametrize(
    "value",
    [
        "plain text",
        '{"q": 1}',
        '{"input_str"',
        '{"output": {"lc": 1}}',
        '{"output": {"lc"',
        "content=5",
        None,
        7,
        b"x",
        {},
    ],
)
def test_anything_else_stays_as_it_is(value: object) -> None:
    assert arguments_in(value) == value
    assert result_in(value) == value
