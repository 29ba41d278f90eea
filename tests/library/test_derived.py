"""Programs that name nothing: which run their calls belong to, and tool calls read from their messages."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags
from tests.library.making import ask, chat

import spanfuse
from spanfuse.calling import begin
from spanfuse.errors import BreakerOpen
from spanfuse.provider import Outcome
from spanfuse.testing import Session, spanfuse_session
from spanfuse_processor.engine import names
from spanfuse_processor.engine.policy import Policy, ToolRule
from spanfuse_processor.engine.reading.prints import unpack


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
        prints = unpack(None, derived.attributes[names.RESULT])
        assert prints is not None and prints.result_size == 5
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

        prints = unpack(None, session.spans[1].attributes[names.RESULT])
        assert prints is not None and prints.error

    def test_its_digests_equal_those_of_the_decorated_tool(self, session: Session) -> None:
        @spanfuse.tool
        def search(q: str) -> str:
            return "found"

        ask(("c1", "search", {"q": "a"}))
        ask(answers={"c1": "found"})
        search(q="a")

        derived, decorated = session.spans[1].attributes, session.spans[3].attributes
        for name in (names.ARGUMENTS, names.RESULT):
            assert derived[name] == decorated[name]

    def test_policy_says_which_fields_are_noise(self) -> None:
        policy = Policy(tools={"search": ToolRule(effect="read", volatile=("nonce",))})
        with spanfuse_session(policy=policy, patch=False) as session:
            for number in (1, 2):
                ask((f"c{number}", "search", {"q": "a", "nonce": number}))
                ask(answers={f"c{number}": "found"})

        first, second = (span.attributes for span in session.spans if names.DERIVED in span.attributes)
        assert first[names.ARGUMENTS] == second[names.ARGUMENTS]
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
