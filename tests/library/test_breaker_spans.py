"""What the breaker did is a span of the application's own trace, where it has a provider."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from tests.library.making import tool
from tests.waiting import until

from spanfuse import runtime
from spanfuse.assembly import assemble
from spanfuse.board import Board
from spanfuse.calling import begin
from spanfuse.errors import BreakerOpen
from spanfuse.running import run
from spanfuse.settings import Settings
from spanfuse_processor.engine import Policy
from spanfuse_processor.engine.budget import Budget, Measure
from spanfuse_processor.engine.names import BREAKER_SPAN, SCOPE
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Mode

Made = Callable[..., "Application"]


class Application:
    """The library at work, with a tracer provider of the application's own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, provider: Any = None, **policy: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.threads: list[str] = []
        self.provider = provider or TracerProvider(shutdown_on_exit=False)
        if provider is None:
            self.provider.add_span_processor(Noticing(self.exporter, self.threads))
        monkeypatch.setattr(trace, "get_tracer_provider", lambda: self.provider)
        self.live = assemble(Settings(policy=Policy(**policy), service="test"), Board())
        runtime.install(self.live)
        self.live.start()

    def loop(self, calls: int = 8) -> None:
        with run(name="job", run_id="r"):
            for _ in range(calls):
                try:
                    begin(tool("search", {"q": 1})).fail(ValueError("no such thing"))
                except BreakerOpen:
                    return

    def told(self, kind: str) -> list[ReadableSpan]:
        """The spans of one kind."""
        name = f"{BREAKER_SPAN}.kind"
        return [span for span in self.spans(BREAKER_SPAN) if (span.attributes or {})[name] == kind]

    def spans(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name.startswith(name)]

    def wait_for(self, kind: str) -> ReadableSpan:
        until(lambda: self.told(kind))
        return self.told(kind)[0]


class Noticing(SimpleSpanProcessor):
    """Notes on which threads spans about the breaker end."""

    def __init__(self, exporter: InMemorySpanExporter, threads: list[str]) -> None:
        super().__init__(exporter)
        self._threads = threads

    def on_end(self, span: ReadableSpan) -> None:
        if span.name == BREAKER_SPAN:
            self._threads.append(threading.current_thread().name)
        super().on_end(span)


@pytest.fixture
def application(monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    made = []

    def make(**policy: Any) -> Application:
        made.append(Application(monkeypatch, **policy))
        return made[-1]

    yield make
    runtime.install(None)
    for each in made:
        each.live.host.stop()


def test_a_trip_stands_in_the_trace_below_the_call_that_showed_it(application: Made) -> None:
    app = application()
    app.loop()
    said = app.wait_for("trip")

    calls = app.spans("execute_tool")
    (offending,) = [span for span in calls if said.parent and span.context.span_id == said.parent.span_id]
    assert said.context.trace_id == offending.context.trace_id
    assert said.start_time == offending.end_time
    assert said.end_time is not None and said.end_time >= said.start_time
    assert said.status.status_code is StatusCode.ERROR
    assert said.instrumentation_scope is not None and said.instrumentation_scope.name == SCOPE
    linked = {link.context.span_id for link in said.links}
    assert linked and linked <= {span.context.span_id for span in calls} - {offending.context.span_id}


def test_it_says_what_was_seen_on_itself_and_in_its_event(application: Made) -> None:
    app = application()
    app.loop()
    said = app.wait_for("trip")

    attributes = dict(said.attributes or {})
    figures = {name.removeprefix(f"{BREAKER_SPAN}.") for name in attributes}
    assert {
        "kind",
        "detector",
        "rule",
        "reason",
        "action",
        "mode",
        "severity",
        "observed",
        "limit",
    } <= figures
    assert {"message", "cleared_by", "run", "cost_usd", "directive", "revision", "issuer"} <= figures
    assert attributes[f"{BREAKER_SPAN}.run"] == "r"
    assert attributes[f"{BREAKER_SPAN}.issuer"] == "embedded"
    (event,) = said.events
    assert event.name == f"{BREAKER_SPAN}.trip"
    assert dict(event.attributes or {}) == attributes


def test_it_is_made_on_no_thread_of_the_application_and_is_not_judged(application: Made) -> None:
    app = application()
    app.loop()
    app.wait_for("trip")

    assert set(app.threads) == {"spanfuse-timer"}
    assert app.live.host.stats().spans == len(app.spans("execute_tool")) + len(app.spans("invoke_workflow"))


def test_what_was_only_due_is_no_error(application: Made) -> None:
    app = application(mode=Mode.SHADOW)
    app.loop()

    assert app.wait_for("withheld").status.status_code is StatusCode.UNSET
    assert not app.told("trip")


def test_a_release_stands_beside_the_stop_that_it_ends_and_its_order_in_the_trace(application: Made) -> None:
    app = application()
    app.loop()
    trip = app.wait_for("trip")
    assert app.live.host.release(BreakerKey(Level.RUN, "r"))

    release, order = app.wait_for("release"), app.wait_for("order")
    assert release.parent is not None and trip.parent is not None
    assert release.parent.span_id == trip.parent.span_id
    assert order.context.trace_id == release.context.trace_id == trip.context.trace_id
    assert (order.attributes or {})[f"{BREAKER_SPAN}.action"] == "release"


def test_a_budget_is_told_below_the_call_that_brought_it(application: Made) -> None:
    app = application(budgets=(Budget("calls", 2, Measure.CALLS),))
    app.loop(3)
    said = app.wait_for("budget")

    calls = {span.context.span_id: span.context.trace_id for span in app.spans("execute_tool")}
    assert said.parent is not None
    assert calls[said.parent.span_id] == said.context.trace_id
    assert (said.attributes or {})[f"{BREAKER_SPAN}.budget"] == "calls"


def test_without_a_provider_nothing_is_shown_and_nothing_waits(
    application: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = application(provider=trace.ProxyTracerProvider())
    app.loop()
    until(lambda: not app.live.host._chronicle._waiting)

    assert not app.live.board.empty
    assert not app.exporter.get_finished_spans()


def test_a_provider_that_fails_costs_the_span_and_nothing_else(
    application: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")
    app = application()
    tracer = app.live.tracing.adopt()
    start = tracer.start_span

    def failing(name: str, *more: Any, **other: Any) -> Any:
        if name == BREAKER_SPAN:
            raise RuntimeError("no room")
        return start(name, *more, **other)

    monkeypatch.setattr(tracer, "start_span", failing)
    app.loop()
    until(lambda: not app.live.host._chronicle._waiting)

    assert app.live.board.standing([BreakerKey(Level.RUN, "r")]) is not None
    assert app.live.host.stats().faults == 0
