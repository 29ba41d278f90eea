"""What an agent keeps: which tool calls count, and what the model is told of them."""

from __future__ import annotations

from typing import Any

import pytest

import spanfuse
from spanfuse.demo.scenarios import HEALTHY, LOOPING, STREAMING
from spanfuse.demo.task import Task
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Directive

STOP = Directive("run/r/stop", 1, BreakerKey(Level.RUN, "r"), reason="LOOP", message="enough")


def test_a_result_is_handed_to_the_model() -> None:
    task = Task(HEALTHY)
    task.use("call_1", "search", '{"query": "price of tin"}')
    assert task.calls == 1
    assert task.messages[-1]["tool_call_id"] == "call_1"
    assert '"hits": 1' in task.messages[-1]["content"]


def test_a_tool_that_fails_was_called_and_the_model_hears_of_it() -> None:
    task = Task(LOOPING)
    task.use("call_1", "book_flight", '{"flight": "LH 400", "attempt": 1, "request_id": "7"}')
    assert task.calls == 1
    assert task.messages[-1]["content"].startswith("Error: the fare of LH 400 has changed")


def test_a_stop_goes_through_and_is_no_call() -> None:
    task = Task(HEALTHY)

    def refuse(**_: Any) -> None:
        raise spanfuse.BreakerOpen(STOP)

    task.tools["search"] = refuse
    with pytest.raises(spanfuse.BreakerOpen):
        task.use("call_1", "search", '{"query": "price of tin"}')
    assert task.calls == 0
    assert len(task.messages) == 1


def test_a_request_offers_tools_only_where_there_are_some() -> None:
    assert Task(HEALTHY).request()["parallel_tool_calls"] is False
    assert "tools" not in Task(STREAMING).request()


def test_a_model_may_be_chosen_over_the_scenarios_own() -> None:
    assert Task(HEALTHY, "small").request()["model"] == "small"
    assert Task(HEALTHY).request()["model"] == HEALTHY.model
