"""Content of foreign spans: fingerprinted as at the call, and nothing made up."""

from __future__ import annotations

import json

from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.nouns import ErrorClass
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.reading.content import Content

MAKE = Fingerprinter(b"secret")
CONTENT = Content(MAKE, {"book": ToolRule(volatile=("ref",), transient=("SeatHeld",))})


def messages(*texts: str, role: str = "user") -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for text in texts])


class TestTool:
    def test_it_is_what_our_library_makes_of_the_same_call(self) -> None:
        prints = CONTENT.of_tool("search", '{"q": "x"}', '["a"]', "", "")

        assert prints == MAKE.fingerprints({"q": "x"}, ["a"])

    def test_what_policy_says_of_the_tool_holds(self) -> None:
        one = CONTENT.of_tool("book", '{"seat": 3, "ref": "a"}', "SeatHeld: denied", "ToolError", "")
        other = CONTENT.of_tool("book", '{"seat": 3, "ref": "b"}', "denied", "ToolError", "")

        assert one is not None and other is not None
        assert one.arguments == other.arguments
        assert (one.error_class, other.error_class) == (ErrorClass.TRANSIENT, ErrorClass.DENIED)

    def test_of_a_failure_alone_the_error_is_known(self) -> None:
        prints = CONTENT.of_tool("search", None, None, "ToolError", "HTTP 503")

        assert prints is not None
        assert (prints.arguments, prints.result) == ("", "")
        assert prints.error_class is ErrorClass.TRANSIENT

    def test_where_nothing_is_known_there_are_none(self) -> None:
        assert CONTENT.of_tool("search", None, None, "", "") is None
        assert CONTENT.of_model(None, None, "", "") is None
        assert CONTENT.of_agent(None, None, "", "") is None


class TestModel:
    def test_an_answer_is_compared_as_our_library_does(self) -> None:
        prints = CONTENT.of_model(messages("hi"), messages("hello", role="assistant"), "", "")

        assert prints is not None
        assert prints.result == MAKE.result("hello").raw
        assert prints.result_sketch == MAKE.result("hello").sketch != 0
        assert (prints.sketch, prints.scope) == (0, "")

    def test_an_answer_about_an_error_is_no_error(self) -> None:
        prints = CONTENT.of_model(
            None, messages("Error: is what you should print.", role="assistant"), "", ""
        )

        assert prints is not None
        assert (prints.error, prints.error_class) == ("", ErrorClass.NONE)

    def test_a_failure_is_told_by_what_stands_in_the_answer_s_place(self) -> None:
        prints = CONTENT.of_model(None, messages("429", role="assistant"), "ApiError", "")

        assert prints is not None
        assert prints.error_class is ErrorClass.TRANSIENT


class TestAgent:
    def test_equal_tasks_are_equal_and_like_tasks_alike(self) -> None:
        one, same, other = (
            CONTENT.of_agent(messages(json.dumps({"task": task})), None, "", "")
            for task in ("sum up part 1 of the report", "sum up part 1 of the report", "write a poem")
        )

        assert one is not None and other is not None
        assert one == same
        assert one.arguments == MAKE.arguments({"task": "sum up part 1 of the report"}).raw
        assert one.arguments != other.arguments
        assert one.sketch

    def test_after_other_messages_only_the_masked_form_is_the_task_s(self) -> None:
        alone = CONTENT.of_agent(messages("go on"), None, "", "")
        later = CONTENT.of_agent(messages("do it", "go on"), None, "", "")

        assert alone is not None and later is not None
        assert alone.arguments != later.arguments
        assert alone.arguments_masked == later.arguments_masked

    def test_what_it_answered_is_its_result(self) -> None:
        prints = CONTENT.of_agent(None, messages("done", role="assistant"), "", "")

        assert prints is not None
        assert (prints.arguments, prints.result) == ("", MAKE.result("done").raw)

    def test_a_task_without_words_is_told_by_its_messages(self) -> None:
        image = json.dumps([{"role": "user", "parts": [{"type": "blob", "content": None}]}])
        prints = CONTENT.of_agent(image, None, "", "")

        assert prints is not None
        assert prints.arguments == prints.arguments_masked == MAKE.content(image)
