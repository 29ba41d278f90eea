"""Spans of other instrumentations: those that speak of GenAI calls reach the host, once each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Tracer
from tests.library.making import ask

import spanfuse
from spanfuse.calling import begin
from spanfuse.foreign import kind_of, watch
from spanfuse.provider import Intent, Outcome
from spanfuse.testing import Session
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind


@pytest.fixture
def provider(session: Session, monkeypatch: pytest.MonkeyPatch) -> Iterator[TracerProvider]:
    """The application's provider, which is set after the library was switched on."""
    application = TracerProvider()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: application)
    session.live.tracing.adopt()
    yield application
    application.shutdown()


@pytest.fixture
def tracer(provider: TracerProvider) -> Tracer:
    return provider.get_tracer("some.instrumentation")


def test_a_genai_span_of_another_instrumentation_is_handed_over(session: Session, tracer: Tracer) -> None:
    with tracer.start_as_current_span("chat claude") as span:
        span.set_attribute(names.OPERATION, "chat")
        span.set_attribute(names.FINISH_REASONS, ["stop"])

    handed = session.spans[0]
    assert handed.name == "chat claude"
    assert handed.scope == "some.instrumentation"
    assert handed.span_id == span.get_span_context().span_id.to_bytes(8, "big")
    assert handed.attributes[names.OPERATION] == "chat"


def test_spans_that_speak_of_nothing_of_ours_are_not(session: Session, tracer: Tracer) -> None:
    with tracer.start_as_current_span("GET /") as span:
        span.set_attribute("http.request.method", "GET")

    assert session.spans == []


def test_our_own_spans_are_not_handed_over_twice(session: Session, provider: TracerProvider) -> None:
    ask()

    assert len(session.spans) == 1


def test_a_span_that_tells_of_our_call_from_outside_is_passed_over(session: Session, tracer: Tracer) -> None:
    with tracer.start_as_current_span("chat") as span:
        span.set_attribute(names.OPERATION, "chat")
        ask()

    assert [one.scope for one in session.spans] == ["spanfuse"]


def test_a_span_that_tells_of_our_call_from_inside_is_passed_over(session: Session, tracer: Tracer) -> None:
    call = begin(Intent(Kind.MODEL, "chat", "m"))
    with call.attached(), tracer.start_as_current_span("llm") as span:
        span.set_attribute("openinference.span.kind", "LLM")
    call.succeed(Outcome())

    assert [one.scope for one in session.spans] == ["spanfuse"]


def test_an_agent_of_a_framework_around_our_call_is_kept(session: Session, tracer: Tracer) -> None:
    with tracer.start_as_current_span("invoke_agent x") as span:
        span.set_attribute(names.OPERATION, "invoke_agent")
        ask()

    model, agent = session.spans
    assert agent.name == "invoke_agent x"
    assert model.attributes[names.RUN] == agent.trace_id.hex()


def test_a_span_that_begins_in_a_run_is_stamped_with_it(session: Session, tracer: Tracer) -> None:
    with spanfuse.run(run_id="r1"), tracer.start_as_current_span("chat") as span:
        span.set_attribute(names.OPERATION, "chat")

    assert session.spans[0].attributes[names.RUN] == "r1"


def test_a_provider_is_watched_once_however_often_it_is_seen(
    session: Session, provider: TracerProvider, tracer: Tracer
) -> None:
    watch(provider)
    watch(provider)

    with tracer.start_as_current_span("chat") as span:
        span.set_attribute(names.OPERATION, "chat")

    assert len(session.spans) == 1


def test_an_unsampled_application_is_judged_by_our_own_records(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    off = TracerProvider(sampler=ALWAYS_OFF)
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: off)

    ask(("c1", "search", {}))
    ask(answers={"c1": "x"})

    assert [span.name.split()[0] for span in session.spans] == ["chat", "execute_tool", "chat"]


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({names.OPERATION: "execute_tool"}, Kind.TOOL),
        ({"openinference.span.kind": "EMBEDDING"}, Kind.EMBEDDINGS),
        ({"traceloop.span.kind": "agent"}, Kind.AGENT),
        ({"llm.request.type": "completion"}, Kind.MODEL),
        ({"gen_ai.system": "x"}, Kind.OTHER),
    ],
)
def test_the_kind_is_read_from_each_vocabulary(attributes: dict[str, str], kind: Kind) -> None:
    assert kind_of(attributes) is kind


class TestUsageThatWeCouldOnlyGuess:
    """A stream of ours did not say what it used; the other instrumentation was told."""

    def test_is_told_as_ours_when_the_other_span_ends_after_ours(
        self, session: Session, tracer: Tracer
    ) -> None:
        with tracer.start_as_current_span("chat") as span:
            span.set_attribute(names.OPERATION, "chat")
            begin(Intent(Kind.MODEL, "chat", "m", arguments="hi", stream=True)).succeed(
                Outcome(result="hello")
            )
            span.set_attribute(names.INPUT_TOKENS, 7)
            span.set_attribute(names.INPUT_MESSAGES, "a secret")

        ours, told = session.spans
        assert ours.attributes[names.ESTIMATED] is True
        assert "a secret" not in told.attributes.values()
        assert (told.trace_id, told.span_id) == (ours.trace_id, ours.span_id)
        assert (told.attributes[names.INPUT_TOKENS], names.ESTIMATED in told.attributes) == (7, False)

    def test_and_when_it_ended_before(self, session: Session, tracer: Tracer) -> None:
        call = begin(Intent(Kind.MODEL, "chat", "m", arguments="hi", stream=True))
        with call.attached(), tracer.start_as_current_span("chat") as span:
            span.set_attribute(names.OPERATION, "chat")
            span.set_attribute(names.INPUT_TOKENS, 7)
        call.succeed(Outcome(result="hello"))

        ours, told = session.spans
        assert told.span_id == ours.span_id
        assert told.attributes[names.INPUT_TOKENS] == 7

    def test_is_not_where_we_know_it_ourselves(self, session: Session, tracer: Tracer) -> None:
        with tracer.start_as_current_span("chat") as span:
            span.set_attribute(names.OPERATION, "chat")
            ask()
            span.set_attribute(names.INPUT_TOKENS, 7)

        assert len(session.spans) == 1
