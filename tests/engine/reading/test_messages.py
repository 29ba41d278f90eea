"""Messages of foreign spans, as every emitter that was recorded writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.fingerprints.canonical import PARSED
from spanfuse_processor.engine.reading.messages import answer_in, hands_on, is_turn, task_in

Message = dict[str, Any]


def said(role: str, text: str) -> Message:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


CALLED: Message = {
    "role": "assistant",
    "parts": [{"type": "tool_call", "id": "call_1", "name": "search", "arguments": {"role": "user"}}],
}
GIVEN: Message = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "call_1", "response": '{"role": "user"}'}],
}
TALK = [said("user", "hi"), said("assistant", "hello"), said("user", "go on")]
HANDED_ON = {**GIVEN, "role": "user"}  # as emitters of Anthropic's API have it


class TestAnswer:
    def test_it_is_what_was_said(self) -> None:
        assert answer_in(json.dumps([said("assistant", "4"), said("assistant", "2")])) == "42"

    def test_calls_that_it_asks_for_belong_to_it_without_their_ids(self) -> None:
        again = json.loads(json.dumps(CALLED).replace("call_1", "call_2"))

        assert answer_in([CALLED]) == {"content": "", "tool_calls": [["search", {"role": "user"}]]}
        assert answer_in([CALLED]) == answer_in(json.dumps([again]))

    @pytest.mark.parametrize(
        "output",
        [
            [{"role": "assistant", "content": "4"}],
            [{"role": "assistant", "content": [{"type": "text", "text": "4"}]}],
            {"role": "assistant", "content": "4"},
            "4",
        ],
    )
    def test_older_forms_say_the_same(self, output: object) -> None:
        assert answer_in(output) == "4"
        assert answer_in(json.dumps(output) if not isinstance(output, str) else output) == "4"

    def test_calls_in_their_older_form(self) -> None:
        call = {"id": "c", "type": "function", "function": {"name": "search", "arguments": "{}"}}

        assert answer_in([{"role": "assistant", "parts": [], "tool_calls": [call]}]) == {
            "content": "",
            "tool_calls": [["search", "{}"]],
        }

    def test_what_is_too_long_to_be_parsed_or_was_cut_is_what_was_said(self) -> None:
        long = json.dumps([said("assistant", 'He said "go".\n' * PARSED)])

        answer = answer_in(long[: 2 * PARSED])

        assert isinstance(answer, str)
        assert answer.startswith('He said "go".\nHe said "go".\n')

    @pytest.mark.parametrize("output", ["just text", "", None, 7, [1, 2], "[1, 2]"])
    def test_what_is_no_message_is_what_it_is(self, output: object) -> None:
        assert answer_in(output) == output


class TestTask:
    def test_it_is_the_latest_message_of_a_user(self) -> None:
        given_ = [
            said("system", "be kind"),
            said("user", "one"),
            said("assistant", "ok"),
            said("user", "two"),
        ]

        assert task_in(json.dumps(given_)) == ("two", False)
        assert task_in(given_[:2]) == ("one", True)

    def test_without_a_user_it_is_the_latest_message(self) -> None:
        assert task_in([said("system", "be kind")]) == ("be kind", True)

    @pytest.mark.parametrize("given_", ["sum up", "", [], "[]", None])
    def test_what_is_no_message_is_what_it_is(self, given_: object) -> None:
        assert task_in(given_) == (given_, True)


class TestTurn:
    @pytest.mark.parametrize(
        ("messages", "turn"),
        [
            (TALK, True),
            ([said("system", "be kind"), *TALK], True),
            ([said("user", "hi"), CALLED, GIVEN, said("user", "now do that")], True),
            ([said("user", "hi"), said("model", "hello"), {"role": "user", "content": "go on"}], True),
            ([said("user", "hi")], False),
            ([said("system", "be kind"), said("user", "hi")], False),
            ([*TALK, said("assistant", "gladly")], False),
            ([*TALK, CALLED, GIVEN], False),
            ([*TALK, CALLED, HANDED_ON], False),
            ([*TALK, CALLED, {"role": "user", "content": "rain", "tool_call_id": "call_1"}], False),
            ([*TALK[:2], said("user", "Observation: 7 rows")], False),
            ([*TALK[:2], {**said("user", "looks fine to me"), "name": "reviewer"}], False),
            ([said("system", "be kind")], False),
            ([], False),
        ],
    )
    def test_a_user_s_turn_is_what_follows_an_answer(self, messages: list[Message], turn: bool) -> None:
        assert is_turn(messages) is turn
        assert is_turn(json.dumps(messages)) is turn
        assert is_turn(json.dumps(messages, separators=(",", ":"))) is turn

    def test_the_order_of_keys_does_not_matter(self) -> None:
        turned = [dict(reversed(message.items())) for message in TALK]

        assert is_turn(json.dumps(turned))

    def test_of_a_long_conversation_the_end_is_read(self) -> None:
        long = [said("user", "x" * PARSED), said("assistant", "ok"), said("user", "go on")]

        assert is_turn(json.dumps(long))
        assert not is_turn(json.dumps([*long, CALLED, GIVEN]))

    @pytest.mark.parametrize(
        "given_", ['[{"role": "user", "parts": [', "hi", "", None, 7, '[{"role": 7}]', "[1]"]
    )
    def test_what_cannot_be_read_is_no_turn(self, given_: object) -> None:
        assert not is_turn(given_)
        assert not hands_on(given_)

    @pytest.mark.parametrize(
        ("last", "handed"),
        [
            (GIVEN, True),
            (HANDED_ON, True),
            ({"role": "tool", "content": "rain"}, True),
            ({"role": "function", "name": "look", "content": "rain"}, True),
            ({"role": "user", "content": "rain", "tool_call_id": "call_1"}, True),
            (said("user", "Observation: 7 rows"), True),
            (said("user", "go on"), False),
            (said("assistant", "gladly"), False),
        ],
    )
    def test_what_a_tool_gave_may_come_last_in_any_name(self, last: Message, handed: bool) -> None:
        assert hands_on([*TALK, last]) is handed
        assert hands_on(json.dumps([*TALK, last])) is handed


parts = st.dictionaries(
    st.sampled_from(["type", "content", "text", "name", "arguments", "id"]), st.none() | st.text(max_size=4)
)
messages = st.dictionaries(
    st.sampled_from(["role", "parts", "content", "tool_calls"]),
    st.none() | st.sampled_from(["user", "assistant"]) | st.lists(parts | st.integers(), max_size=3),
)


@given(st.lists(messages, max_size=3) | st.text(max_size=20) | st.integers() | messages)
def test_no_messages_make_it_fail(given_: Any) -> None:
    for value in (given_, json.dumps(given_)):
        answer_in(value)
        assert len(task_in(value)) == 2
        assert is_turn(value) in (True, False)
        assert hands_on(value) in (True, False)
