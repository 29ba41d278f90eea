"""The GenAI conventions as they are written, as they were, and as emitters get them wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.genai import CHAT, TOOL, raw, read
from tests.engine.making import span, trace

from spanfuse_processor.engine import names
from spanfuse_processor.engine.dialects.otel_genai import OtelGenai
from spanfuse_processor.engine.events import UNNAMED_ERROR, RawSpan
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints, Identity, Kind, Usage
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result

PRINTS = Fingerprinter()


class TestKind:
    @pytest.mark.parametrize(
        ("operation", "kind"),
        [
            ("chat", Kind.MODEL),
            ("text_completion", Kind.MODEL),
            ("generate_content", Kind.MODEL),
            ("embeddings", Kind.EMBEDDINGS),
            ("execute_tool", Kind.TOOL),
            ("invoke_agent", Kind.AGENT),
            ("invoke_workflow", Kind.WORKFLOW),
            ("retrieval", Kind.OTHER),
            ("create_agent", Kind.OTHER),
            ("execute_event_loop_cycle", Kind.OTHER),
        ],
    )
    def test_the_operation_says_it(self, operation: str, kind: Kind) -> None:
        assert read({names.OPERATION: operation}).kind is kind

    @pytest.mark.parametrize(
        ("attributes", "kind"),
        [
            ({"llm.request.type": "chat"}, Kind.MODEL),
            ({"llm.request.type": "completion"}, Kind.MODEL),
            ({"llm.request.type": "embedding"}, Kind.EMBEDDINGS),
            ({"traceloop.span.kind": "tool", "traceloop.entity.name": "search"}, Kind.TOOL),
            ({"traceloop.span.kind": "agent"}, Kind.AGENT),
            ({"traceloop.span.kind": "workflow"}, Kind.WORKFLOW),
            ({names.TOOL: "search"}, Kind.TOOL),
            ({names.REQUEST_MODEL: "gpt-4o", names.INPUT_TOKENS: 5}, Kind.MODEL),
            ({names.RUN: "r1"}, Kind.OTHER),
        ],
    )
    def test_without_an_operation_what_it_carries_does(
        self, attributes: dict[str, object], kind: Kind
    ) -> None:
        assert read(attributes).kind is kind

    @pytest.mark.parametrize(
        ("name", "kind", "called"),
        [
            ("execute_tool search", Kind.TOOL, "search"),
            ("invoke_agent planner", Kind.AGENT, "planner"),
            ("chat gpt-4o", Kind.MODEL, "gpt-4o"),
        ],
    )
    def test_or_its_name_does(self, name: str, kind: Kind, called: str) -> None:
        attributes = {names.REQUEST_MODEL: "gpt-4o"} if kind is Kind.MODEL else {}

        event = read(attributes, name)

        assert (event.kind, event.name) == (kind, called)

    def test_a_full_span_that_lost_its_oldest_attributes_is_a_model_call_by_its_usage(self) -> None:
        event = read({names.INPUT_TOKENS: 900, names.OUTPUT_TOKENS: 9}, "openai.chat", dropped_attributes=120)

        assert (event.kind, event.usage) == (Kind.MODEL, Usage(900, 9))

    @pytest.mark.parametrize(
        "span_",
        [
            raw({}, "GET /"),
            raw({"http.method": "GET"}, "chat room"),
            raw({"openinference.span.kind": "LLM", "llm.token_count.prompt": 5}, "ChatCompletion"),
            raw({"gen_ai.system": "openai"}, "Function: {name}"),
        ],
    )
    def test_a_span_without_any_of_these_names_is_not_read(self, span_: RawSpan) -> None:
        assert OtelGenai().read(span_) is None

    def test_nameless_wrappers_that_call_themselves_agents_are_none(self) -> None:
        openlit = "openlit.instrumentation.openai_agents"

        assert read({names.OPERATION: "invoke_agent"}, "invoke_agent", scope=openlit).kind is Kind.OTHER
        assert read({names.OPERATION: "invoke_agent"}, "invoke_agent p", scope=openlit).kind is Kind.AGENT


class TestModel:
    def test_the_model_that_was_asked_and_the_one_that_answered(self) -> None:
        event = read(CHAT | {names.RESPONSE_MODEL: "gpt-4o-2024-08-06", names.RESPONSE_ID: "resp_1"})

        assert (event.name, event.model, event.response_id) == ("gpt-4o", "gpt-4o-2024-08-06", "resp_1")

    @pytest.mark.parametrize(
        ("said", "provider"),
        [
            ({names.PROVIDER: "openai"}, "openai"),
            ({"gen_ai.system": "OpenAI"}, "openai"),
            ({"gen_ai.system": "openai.chat"}, "openai"),
            ({"gen_ai.system": "strands-agents"}, ""),
            ({names.PROVIDER: "aws.bedrock", "gen_ai.system": "x"}, "aws.bedrock"),
            ({}, ""),
        ],
    )
    def test_the_provider_is_a_provider(self, said: dict[str, object], provider: str) -> None:
        assert read(CHAT | said).provider == provider

    def test_an_answer_that_was_cut_and_what_its_run_may_cost(self) -> None:
        event = read(CHAT | {names.FINISH_REASONS: '["max_tokens"]', names.BUDGET_USD: "2.5"})

        assert (event.cut, event.budget) == (True, 2_500_000)
        assert (read(CHAT).cut, read(CHAT).budget) == (False, None)

    def test_an_answer_that_asks_for_tools(self) -> None:
        assert read(CHAT | {names.FINISH_REASONS: ["tool_calls"]}).asks
        assert not read(CHAT | {names.FINISH_REASONS: ["stop"]}).asks

    def test_messages_are_fingerprinted_and_dropped(self) -> None:
        first = read(CHAT | {names.INPUT_MESSAGES: "[hello]", names.OUTPUT_MESSAGES: "[hi]"})
        again = read(CHAT | {names.INPUT_MESSAGES: b"[hello]", names.OUTPUT_MESSAGES: "[hi]"})

        assert first.prints is not None
        assert first.prints == again.prints
        assert first.prints.arguments and first.prints.result

    def test_without_messages_nothing_is_known_of_the_content(self) -> None:
        assert read(CHAT | {names.INPUT_TOKENS: 5}).prints is None


class TestTool:
    @pytest.mark.parametrize(
        ("arguments", "result"),
        [
            (names.TOOL_ARGUMENTS, names.TOOL_RESULT),
            ("gen_ai.tool.args", names.TOOL_RESULT),
            ("tool_arguments", "tool_response"),
            ("traceloop.entity.input", "traceloop.entity.output"),
        ],
    )
    def test_content_is_fingerprinted_under_every_spelling(self, arguments: str, result: str) -> None:
        event = read(TOOL | {arguments: '{"q": "x"}', result: "found"})

        assert event.prints == PRINTS.fingerprints({"q": "x"}, "found")

    @pytest.mark.parametrize("arguments", [{"q": "x"}, b'{"q": "x"}', '{"q": "x"}'])
    def test_content_of_any_type_is_the_same_content(self, arguments: object) -> None:
        event = read(TOOL | {names.TOOL_ARGUMENTS: arguments})

        assert event.prints is not None
        assert event.prints.arguments == PRINTS.arguments({"q": "x"})[0]

    def test_what_policy_says_is_noise_is_left_out(self) -> None:
        dialect = OtelGenai(PRINTS, {"search": ToolRule(volatile=("session",))})

        events = [
            dialect.read(raw(TOOL | {names.TOOL_ARGUMENTS: {"q": "x", "session": session}}))
            for session in (1, 2)
        ]

        assert events[0] is not None and events[1] is not None
        assert events[0].prints == events[1].prints

    def test_what_policy_says_passes_by_itself_is_transient(self) -> None:
        dialect = OtelGenai(PRINTS, {"search": ToolRule(transient=("IndexBusy",))})

        event = dialect.read(raw(TOOL | {names.ERROR_TYPE: "mine.IndexBusy"}, status_message="denied"))

        assert event is not None and event.prints is not None
        assert event.prints.error_class is ErrorClass.TRANSIENT

    def test_a_failure_without_content_is_known_by_its_error(self) -> None:
        event = read(TOOL | {names.ERROR_TYPE: "ToolError"}, status=2, status_message="no such flight")

        assert event.error == "ToolError"
        assert event.prints is not None
        assert event.prints.error == PRINTS.error("ToolError", "no such flight")
        assert (event.prints.arguments, event.prints.result) == ("", "")

    def test_a_failure_without_a_name_is_a_failure(self) -> None:
        assert read(TOOL, status=2).error == UNNAMED_ERROR

    def test_names_alone_are_no_evidence(self) -> None:
        assert read(TOOL).prints is None

    def test_the_call_id_by_both_spellings(self) -> None:
        assert read(TOOL | {names.TOOL_CALL_ID: "call_1"}).tool_call_id == "call_1"
        assert read(TOOL | {"gen_ai.tool.call_id": "call_1"}).tool_call_id == "call_1"

    def test_the_effect_is_said_or_guessed(self) -> None:
        assert read(TOOL | {names.EFFECT: "send"}).effect == "send"
        assert read(TOOL).effect == "read"
        assert (
            read({**TOOL, names.TOOL: "bash", names.TOOL_ARGUMENTS: '{"command": "sleep 9"}'}).effect
            == "wait"
        )


class TestOurOwn:
    MADE = Fingerprints("a" * 16, "b" * 16, "c" * 16, "c" * 16, result_size=40)
    STAMPED = TOOL | {
        names.RUN: "run-1",
        names.DEPTH: 1,
        names.AGENT_PATH: "main/helper",
        names.AGENT: "helper",
        names.ARGUMENTS: pack_arguments(MADE),
        names.RESULT: pack_result(MADE),
        names.REPEATABLE: True,
        names.TURN: "user",
        names.FEATURE: "chat",
    }

    def test_what_was_stamped_is_read(self) -> None:
        event = read(self.STAMPED)

        assert (event.run_id, event.depth, event.agents, event.agent) == (
            "run-1",
            1,
            ("main", "helper"),
            "helper",
        )
        assert event.prints is not None
        assert (event.prints.arguments, event.prints.arguments_masked) == ("a" * 16, "b" * 16)
        assert (event.prints.result, event.prints.result_masked) == ("c" * 16, "c" * 16)
        assert (event.repeatable, event.user_turn, event.identity.feature) == (True, True, "chat")

    def test_stamped_digests_go_before_content(self) -> None:
        event = read(self.STAMPED | {names.TOOL_ARGUMENTS: "{}", names.TOOL_RESULT: "x"})

        assert event.prints is not None
        assert event.prints.arguments == "a" * 16

    def test_a_stamped_run_is_joined_to_nothing(self) -> None:
        links = ((trace(9), span(1)),)

        assert read(self.STAMPED | {names.CONVERSATION: "c1"}, links=links).joins == ()

    def test_a_depth_that_is_no_number_is_no_depth(self) -> None:
        assert read(self.STAMPED | {names.DEPTH: "deep"}).depth == -1


class TestJoins:
    def test_the_one_span_of_another_trace_that_it_links_to_is_what_it_follows(self) -> None:
        here, there, elsewhere = (trace(1), span(5)), (trace(9), span(1)), (trace(8), span(1))

        assert read(CHAT, links=(here, there)).link == trace(9) + span(1)
        assert read(CHAT, links=(here,)).link == b""
        assert read(CHAT, links=(there, elsewhere)).link == b""

    def test_conversations_sessions_and_links_tie_foreign_spans_together(self) -> None:
        links = ((trace(9), span(1)), (trace(1), span(5)))

        joins = read(CHAT | {names.CONVERSATION: "c1", names.SESSION: "s1"}, links=links).joins

        assert joins == ("conversation:c1", "session:s1", trace(9).hex())

    def test_a_conversation_and_a_session_of_one_name_are_two_things(self) -> None:
        assert read(CHAT | {names.CONVERSATION: "1"}).joins != read(CHAT | {names.SESSION: "1"}).joins

    def test_empty_ids_join_nothing(self) -> None:
        assert read(CHAT | {names.CONVERSATION: "", names.SESSION: None}).joins == ()


def test_identity_comes_from_resource_and_span() -> None:
    event = read(CHAT | {names.USER: "u1"}, resource={names.SERVICE_NAME: "support"})

    assert event.identity == Identity(service="support", user="u1")


anything = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.lists(st.text())
)
KEYS = [value for key, value in vars(names).items() if key.isupper()] + ["gen_ai.system", "llm.request.type"]


@given(st.dictionaries(st.sampled_from(KEYS), anything), st.text(max_size=20))
def test_no_value_raises(attributes: dict[str, object], name: str) -> None:
    event = OtelGenai().read(raw(attributes, name))

    assert event is None or isinstance(event.name, str)
