"""The scripted model: the same conversation always gets the same reply, and loops end by themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spanfuse.demo.scripts import Reply, reply_to, shortened
from spanfuse.demo.wire import said


def conversation(task: str, tools: set[str], result: str, answered: int) -> tuple[list[Any], Reply]:
    """A conversation with so many answered tool calls, and the model's next reply."""
    messages: list[Any] = [{"role": "system", "content": "x"}, {"role": "user", "content": task}]
    for _ in range(answered):
        reply = reply_to(messages, frozenset(tools))
        assert reply.tool is not None
        messages.append(said(reply))
        messages.append({"role": "tool", "tool_call_id": reply.tool.id, "content": result})
    return messages, reply_to(messages, frozenset(tools))


def test_the_same_conversation_gets_the_same_reply() -> None:
    first = conversation("Book me.", {"book_flight"}, "Error", 3)
    second = conversation("Book me.", {"book_flight"}, "Error", 3)
    assert first == second


def test_retries_differ_in_their_counter_and_their_request_id_only() -> None:
    _, third = conversation("Book me.", {"book_flight"}, "Error", 2)
    _, fourth = conversation("Book me.", {"book_flight"}, "Error", 3)
    assert third.tool is not None and fourth.tool is not None
    before, after = json.loads(third.tool.arguments), json.loads(fourth.tool.arguments)
    assert (before.pop("attempt"), after.pop("attempt")) == (3, 4)
    assert before.pop("request_id") != after.pop("request_id")
    assert before == after == {"flight": "LH 400"}


@pytest.mark.parametrize(
    ("tools", "result", "calls"),
    [
        ({"book_flight"}, "Error: the fare has changed", 200),
        ({"read_ticket", "read_ledger"}, "see ledger", 200),
        ({"read_invoice"}, "draft", 30),
        ({"job_status"}, '{"state": "done"}', 1),
    ],
)
def test_a_script_ends_by_itself(tools: set[str], result: str, calls: int) -> None:
    _, last = conversation("task", tools, result, calls)
    assert last.tool is None
    assert last.text


def test_the_chase_follows_what_the_last_result_names() -> None:
    tools = {"read_ticket", "read_ledger"}
    _, onward = conversation("How much?", tools, "The amount stands in ledger entry-7.", 1)
    _, back = conversation("How much?", tools, "The amount stands in ticket-7.", 1)
    assert onward.tool is not None and back.tool is not None
    assert (onward.tool.name, back.tool.name) == ("read_ledger", "read_ticket")


def test_research_asks_for_each_item_once_and_answers() -> None:
    messages, last = conversation("Find prices: tin, lead, zinc.", {"search"}, "1 EUR", 3)
    asked = [m["tool_calls"][0]["function"]["arguments"] for m in messages if m.get("tool_calls")]
    assert [json.loads(each)["query"] for each in asked] == ["price of tin", "price of lead", "price of zinc"]
    assert last.text == "I found prices for all 3 materials."


def test_without_tools_the_model_writes_prose() -> None:
    reply = reply_to([{"role": "user", "content": [{"type": "text", "text": "Write."}]}], frozenset())
    assert len(reply.text.split()) == 400


@pytest.mark.parametrize(("text", "words"), [("Write 70 words.", 70), ("Write.", 400)])
def test_prose_is_as_long_as_it_was_asked_for(text: str, words: int) -> None:
    assert len(reply_to([{"role": "user", "content": text}], frozenset()).text.split()) == words


def test_two_requests_get_two_texts() -> None:
    one, other = (reply_to([{"role": "user", "content": each}], frozenset()) for each in ("Tin.", "Ore."))
    assert one.text != other.text


def test_a_reply_is_cut_off_at_so_many_words_and_says_so() -> None:
    assert shortened(Reply("one two three"), 2) == Reply("one two", cut=True)
    assert shortened(Reply("one two"), 2) == Reply("one two")
    assert shortened(Reply("one two"), None) == Reply("one two")
