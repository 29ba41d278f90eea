"""One call from begin to end: what is recorded, where it belongs, what never gets out."""

from __future__ import annotations

import asyncio
import threading

import pytest
from opentelemetry import baggage
from tests.library.making import MODEL, ask, chat, scope, tool

import spanfuse
from spanfuse import runtime
from spanfuse.calling import begin
from spanfuse.calls import wall
from spanfuse.errors import BreakerOpen
from spanfuse.provider import Outcome, ToolRequest
from spanfuse.testing import Session
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates
from spanfuse_processor.engine.reading.prints import unpack


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
    prints = unpack(span.attributes[names.ARGUMENTS], span.attributes[names.RESULT])
    assert prints is not None
    assert (len(prints.arguments), len(prints.result), prints.result_size) == (16, 16, 5)
    compared = (names.ARGUMENTS, names.RESULT)
    assert {key: value for key, value in span.attributes.items() if key not in compared} == {
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
    }


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
    assert first.attributes[names.RESULT] != second.attributes[names.RESULT]


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


def test_around_a_model_call_no_baggage_of_ours_goes_out(session: Session) -> None:
    with spanfuse.run(user="u"):
        call, inner = begin(chat()), begin(tool())
        with call.attached():
            to_the_provider = set(baggage.get_all())
            assert spanfuse.current_run() == call.scope
        with inner.attached():
            to_a_service = set(baggage.get_all())

    assert to_the_provider == set()
    assert to_a_service == {names.RUN, names.USER}


def test_a_price_that_is_not_known_yet_is_left_out(session: Session) -> None:
    call = begin(chat())
    call.succeed(Outcome(model="no-such-model", usage=Usage(1, 1)))

    assert names.COST_USD not in session.spans[0].attributes


def test_a_wall_clock_that_jumps_makes_no_negative_duration(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = begin(chat())
    monkeypatch.setattr(wall, "time_ns", lambda: 0)

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

    def test_a_fault_does_not_open_the_gate(self, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(type(session.live.lineage), "expects")

        with spanfuse.run() as run:
            begin(tool())
            session.trip(run.id)
            with pytest.raises(BreakerOpen):
                begin(tool())

    def test_a_result_that_cannot_be_fingerprinted_costs_the_digest_alone(self, session: Session) -> None:
        class Hostile:
            def __repr__(self) -> str:
                raise RuntimeError

            @property
            def __dict__(self) -> dict[str, object]:  # type: ignore[override]
                raise RuntimeError

        begin(tool()).succeed(Outcome(result={"x": Hostile()}))

        assert len(session.spans) == 1
