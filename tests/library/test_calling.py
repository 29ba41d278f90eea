"""One call from begin to end: what is recorded, where it belongs, what never gets out."""

from __future__ import annotations

import asyncio
import threading

import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags
from tests.library.calls import MODEL, ask, chat, scope, tool

import spanfuse
from spanfuse import active, runtime
from spanfuse.calling import begin
from spanfuse.errors import BreakerOpen
from spanfuse.provider import Outcome, ToolRequest
from spanfuse.testing import Session, spanfuse_session
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.policy import Policy, ToolRule
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates


class OnePrice:
    """A book in which everything costs 1 micro-dollar a token."""

    def rates(self, provider: str, model: str, day: int) -> Rates:
        return Rates(input=YOCTO_PER_MICRO, output=YOCTO_PER_MICRO)


def test_without_instrumentation_a_call_does_nothing() -> None:
    call = begin(chat())

    with call.attached(), call.waiting():
        assert call.ordered is None
    call.succeed(Outcome())
    call.fail(ValueError())
    assert runtime.live() is None


def test_a_model_call_is_recorded_as_the_conventions_have_it(session: Session) -> None:
    session.live.prices = OnePrice()
    with spanfuse.run(feature="f", user="u", tenant="t", session="s", agent="planner") as run:
        call = begin(chat({"messages": ["hi"]}, stream=True, user_turn=True, attributes={"server.port": 443}))
        call.succeed(
            Outcome(
                result="hello",
                usage=Usage(100, 20, cached_tokens=80),
                model="gpt-4o-mini-2024",
                response_id="resp_1",
                finish_reasons=("stop",),
            )
        )

    span = session.spans[0]
    assert span.name == f"chat {MODEL}"
    digests = {key: value for key, value in span.attributes.items() if "digest" in key}
    rest = {key: value for key, value in span.attributes.items() if key not in digests}
    assert rest == {
        "server.port": 443,
        names.OPERATION: "chat",
        names.PROVIDER: "openai",
        names.REQUEST_MODEL: MODEL,
        names.REQUEST_STREAM: True,
        names.RESPONSE_MODEL: "gpt-4o-mini-2024",
        names.RESPONSE_ID: "resp_1",
        names.FINISH_REASONS: ["stop"],
        names.INPUT_TOKENS: 100,
        names.OUTPUT_TOKENS: 20,
        names.CACHED_TOKENS: 80,
        names.COST_USD: 0.00012,
        names.AGENT: "planner",
        names.RUN: run.id,
        names.DEPTH: 0,
        names.AGENT_PATH: "planner",
        names.FEATURE: "f",
        names.USER: "u",
        names.TENANT: "t",
        names.SESSION: "s",
        names.TURN: "user",
        names.RESULT_SIZE: 5,
        names.RESULT_EMPTY: False,
    }
    assert all(len(str(digest)) == 16 for digest in digests.values())


def test_no_content_is_on_any_span(session: Session) -> None:
    ask(("c1", "search", {"query": "secret-query"}))
    ask(answers={"c1": "secret-answer"})
    call = begin(tool(arguments={"q": "secret-argument"}))
    call.fail(ValueError("secret-message"))

    assert "secret" not in repr(session.spans)


def test_a_failure_has_its_type_and_a_digest(session: Session) -> None:
    begin(tool()).fail(KeyError("k1"))
    begin(tool()).fail(asyncio.QueueFull("full"))

    first, second = session.spans
    assert (first.status, first.attributes[names.ERROR_TYPE]) == (2, "KeyError")
    assert second.attributes[names.ERROR_TYPE] == "asyncio.queues.QueueFull"
    assert first.attributes[names.ERROR_DIGEST] != second.attributes[names.ERROR_DIGEST]


def test_a_stream_that_broke_is_paid_for(session: Session) -> None:
    session.live.prices = OnePrice()

    begin(chat(stream=True)).fail(ConnectionError(), Outcome(usage=Usage(10, 3), complete=False))

    attributes = session.spans[0].attributes
    assert attributes[names.COST_USD] == 0.000013
    assert attributes[names.NOT_ENDED] is True


def test_a_call_ends_once(session: Session) -> None:
    call = begin(chat())

    threads = [threading.Thread(target=call.succeed, args=(Outcome(),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    call.fail(ValueError())

    assert len(session.spans) == 1


def test_a_price_that_is_not_known_yet_is_left_out(session: Session) -> None:
    call = begin(chat())
    call.succeed(Outcome(model="no-such-model", usage=Usage(1, 1)))

    assert names.COST_USD not in session.spans[0].attributes


def test_a_wall_clock_that_jumps_makes_no_negative_duration(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = begin(chat())
    monkeypatch.setattr(active, "time_ns", lambda: 0)

    call.succeed(Outcome())

    assert session.spans[0].end_ns >= session.spans[0].start_ns > 0


def test_a_start_is_told_to_the_host_with_the_ids_of_its_end(session: Session) -> None:
    call = begin(tool("search", {"q": 1}, effect="read"), scope("r1", feature="f").inside("a").inside("b"))
    call.succeed(Outcome(result=1))

    assert session.fake is not None
    started, ended = session.fake.started[0], session.spans[0]
    assert (started.trace_id, started.span_id) == (ended.trace_id, ended.span_id)
    assert (started.run_id, started.depth, started.agents) == ("r1", 1, ("a", "b"))
    assert (started.kind, started.name, started.effect) == (Kind.TOOL, "search", "read")
    assert (started.identity.feature, started.identity.service) == ("f", "test")


class TestWhereACallBelongs:
    """The current run, else the run that asked for it, else its trace, else a run of its own."""

    def test_to_the_current_run(self, session: Session) -> None:
        with spanfuse.run(run_id="mine"):
            ask()

        assert session.spans[0].attributes[names.RUN] == "mine"

    def test_a_plain_tool_loop_is_one_run_and_one_trace(self, session: Session) -> None:
        ask(("c1", "search", {"q": "a"}))
        ask(("c2", "search", {"q": "b"}), answers={"c1": "found a"})
        ask(answers={"c2": "found b"})

        assert len({span.attributes[names.RUN] for span in session.spans}) == 1
        assert len({span.trace_id for span in session.spans}) == 1

    def test_two_plain_loops_are_two_runs(self, session: Session) -> None:
        ask(("c1", "search", {}))
        ask(("d1", "search", {}))
        ask(answers={"c1": "x"})
        ask(answers={"d1": "x"})

        runs = [span.attributes[names.RUN] for span in session.spans if span.name.startswith("chat")]
        assert runs[0] == runs[2] != runs[1] == runs[3]

    def test_a_continued_response_is_the_same_run(self, session: Session) -> None:
        begin(chat()).succeed(Outcome(response_id="resp_1"))
        begin(chat(previous="resp_1")).succeed(Outcome())

        first, second = (span.attributes[names.RUN] for span in session.spans)
        assert first == second

    def test_to_the_trace_that_is_open(self, session: Session) -> None:
        around = NonRecordingSpan(SpanContext(0xABC, 1, is_remote=False, trace_flags=TraceFlags(1)))

        with trace.use_span(around):
            ask()
            ask()

        assert {span.attributes[names.RUN] for span in session.spans} == {f"{0xABC:032x}"}

    def test_else_to_a_run_of_its_own(self, session: Session) -> None:
        ask()
        ask()

        first, second = (span.attributes[names.RUN] for span in session.spans)
        assert first != second


class TestToolCallsReadFromMessages:
    """A plain loop's tool calls are recorded from what the model asked for and what it was answered."""

    def test_an_answer_makes_a_tool_record_before_the_request(self, session: Session) -> None:
        ask(("c1", "search", {"q": "a"}))
        ask(answers={"c1": "found"})

        _, derived, request = session.spans
        assert derived.name == "execute_tool search"
        assert derived.attributes[names.DERIVED] is True
        assert derived.attributes[names.TOOL_CALL_ID] == "c1"
        assert derived.attributes[names.RESULT_SIZE] == 5
        assert derived.end_ns <= request.end_ns

    def test_it_lasts_from_the_asking_to_the_answer(self, session: Session) -> None:
        ask(("c1", "search", {}))
        asking = session.spans[0]

        ask(answers={"c1": "found"})

        derived = session.spans[1]
        assert derived.start_ns >= asking.start_ns
        assert derived.end_ns >= derived.start_ns

    def test_an_answer_that_is_sent_again_is_told_once(self, session: Session) -> None:
        ask(("c1", "search", {}))
        ask(answers={"c1": "found"})
        ask(answers={"c1": "found"})

        assert session.calls("execute_tool") == ["search"]

    def test_an_answer_that_is_an_error_has_its_digest(self, session: Session) -> None:
        ask(("c1", "search", {}))
        ask(answers={"c1": "Error: no such flight"})

        assert names.ERROR_DIGEST in session.spans[1].attributes

    def test_its_digests_equal_those_of_the_decorated_tool(self, session: Session) -> None:
        @spanfuse.tool
        def search(q: str) -> str:
            return "found"

        ask(("c1", "search", {"q": "a"}))
        ask(answers={"c1": "found"})
        search(q="a")

        derived, decorated = session.spans[1].attributes, session.spans[3].attributes
        for name in (names.ARGUMENTS_DIGEST, names.RESULT_DIGEST):
            assert derived[name] == decorated[name]

    def test_policy_says_which_fields_are_noise(self) -> None:
        policy = Policy(tools={"search": ToolRule(effect="read", volatile=("nonce",))})
        with spanfuse_session(policy=policy, patch=False) as session:
            for number in (1, 2):
                ask((f"c{number}", "search", {"q": "a", "nonce": number}))
                ask(answers={f"c{number}": "found"})

        first, second = (span.attributes for span in session.spans if names.DERIVED in span.attributes)
        assert first[names.ARGUMENTS_DIGEST] == second[names.ARGUMENTS_DIGEST]
        assert first[names.EFFECT] == "read"

    def test_a_shell_that_sleeps_is_said_to_wait(self, session: Session) -> None:
        ask(("c1", "bash", {"command": "sleep 60"}), ("c2", "bash", {"command": "ls"}))
        ask(answers={"c1": "", "c2": ""})

        effects = [
            span.attributes.get(names.EFFECT) for span in session.spans if names.DERIVED in span.attributes
        ]
        assert effects == ["wait", None]

    def test_a_tool_that_keeps_failing_stops_a_program_that_names_nothing(self, judging: Session) -> None:
        """The main job, with nothing but model calls."""
        calls = 0
        with pytest.raises(BreakerOpen) as caught:
            ask(("c0", "search", {"q": "a", "attempt": 0}))
            for calls in range(1, 50):  # noqa: B007
                error = {f"c{calls - 1}": "Error: backend unavailable"}
                ask((f"c{calls}", "search", {"q": "a", "attempt": calls}), answers=error)

        assert caught.value.directive.key.level == "run"
        assert calls <= 8
        effects = judging.board.effects(caught.value.directive)
        assert effects.kill_latency is not None
        assert effects.kill_latency < 0.1


class TestFaultsOfOurs:
    """Whatever breaks inside, the application's call goes on."""

    @pytest.fixture(autouse=True)
    def _as_in_production(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPANFUSE_RERAISE", "0")

    @pytest.mark.parametrize(
        "part", ["gate", "tracing", "prints", "host", "lineage", "prices", "board", "inflight"]
    )
    def test_no_part_that_is_broken_reaches_the_application(self, session: Session, part: str) -> None:
        class Broken:
            def __getattr__(self, name: str) -> object:
                raise RuntimeError(f"{part} is broken")

        whole = getattr(session.live, part)
        setattr(session.live, part, Broken())
        call = begin(chat(user_turn=True))
        with call.attached(), call.waiting():
            assert call.ordered is None
        call.succeed(Outcome(usage=Usage(1, 1), tool_requests=[ToolRequest("c", "t", "{}")]))
        begin(tool()).fail(ValueError())
        setattr(session.live, part, whole)

    def test_a_result_that_cannot_be_fingerprinted_costs_the_digest_alone(self, session: Session) -> None:
        class Hostile:
            def __repr__(self) -> str:
                raise RuntimeError

            @property
            def __dict__(self) -> dict[str, object]:  # type: ignore[override]
                raise RuntimeError

        begin(tool()).succeed(Outcome(result={"x": Hostile()}))

        assert len(session.spans) == 1
