"""The messages of foreign spans: whose turn it is, what an agent was asked, what it answered."""

from __future__ import annotations

import json

from tests.engine.genai import CHAT, read

from spanfuse_processor.engine import names
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.reading.prints import pack_arguments

PRINTS = Fingerprinter()


ASKED = {"role": "user", "parts": [{"type": "text", "content": "hi"}]}
ANSWERED = {"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}
TALK = json.dumps([ASKED, ANSWERED, ASKED])


class TestTurn:
    def test_it_is_told_by_who_spoke_last(self) -> None:
        turns = [
            read(CHAT | {names.INPUT_MESSAGES: messages}).user_turn
            for messages in (TALK, json.dumps([ASKED, ANSWERED]), json.dumps([ASKED]))
        ]

        assert turns == [True, False, False]

    def test_whether_a_request_is_fresh_messages_do_not_tell(self) -> None:
        assert not read(CHAT | {names.INPUT_MESSAGES: json.dumps([ASKED])}).fresh

    def test_what_was_stamped_goes_before(self) -> None:
        assert not read(CHAT | {names.INPUT_MESSAGES: TALK, names.TURN: "agent"}).user_turn
        assert read(CHAT | {names.INPUT_MESSAGES: TALK, names.TURN: "tool"}).handed

    def test_a_request_that_hands_on_what_a_tool_gave_is_nobody_s(self) -> None:
        note = json.dumps([ASKED, ANSWERED, {"role": "user", "content": "Observation: 7 rows"}])
        event = read(CHAT | {names.INPUT_MESSAGES: note})

        assert (event.user_turn, event.handed) == (False, True)
        assert not read(CHAT | {names.INPUT_MESSAGES: TALK}).handed

    def test_embeddings_are_nobody_s_turn(self) -> None:
        assert not read({names.OPERATION: "embeddings", names.INPUT_MESSAGES: TALK}).user_turn


class TestAgent:
    AGENT = {names.OPERATION: "invoke_agent", names.AGENT: "writer"}
    TASK = json.dumps([{"role": "user", "parts": [{"type": "text", "content": '{"topic": "rome"}'}]}])
    DONE = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "a poem"}]}])

    def test_what_it_was_asked_and_what_it_answered_are_fingerprinted(self) -> None:
        event = read(self.AGENT | {names.INPUT_MESSAGES: self.TASK, names.OUTPUT_MESSAGES: self.DONE})

        assert event.prints is not None
        assert event.prints.arguments == PRINTS.arguments({"topic": "rome"}).raw
        assert event.prints.result == PRINTS.result("a poem").raw

    def test_what_our_library_stamped_goes_before(self) -> None:
        stamped = {names.ARGUMENTS: pack_arguments(Fingerprints("a" * 16, "a" * 16))}

        event = read(self.AGENT | stamped | {names.INPUT_MESSAGES: self.TASK})

        assert event.prints == Fingerprints("a" * 16, "a" * 16)

    def test_names_alone_are_no_evidence(self) -> None:
        assert read(self.AGENT).prints is None
