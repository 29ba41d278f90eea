"""The provider that stands in: made where there is none, gone when the application has its own."""

from __future__ import annotations

from typing import Any

from tests.library.programs import run_program

HEAD = """
import spanfuse.auto, spanfuse
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.waiting import until

@spanfuse.tool
def look() -> str:
    return "seen"

def named() -> str:
    return type(trace.get_tracer_provider()).__name__
"""


def said(program: str) -> Any:
    """What the program says at its end."""
    return run_program(HEAD + program)[-1]["said"]


def test_nothing_is_provided_before_the_first_call() -> None:
    assert said("tell(said=named())") == "ProxyTracerProvider"


def test_with_the_first_call_an_application_without_a_provider_gets_one() -> None:
    assert said("look(); until(lambda: named() == 'StandIn'); tell(said=named())") == "StandIn"


def test_the_application_may_set_its_own_afterwards_without_a_warning() -> None:
    program = """
import logging
logging.basicConfig(level=logging.WARNING)
look(); until(lambda: named() == 'StandIn')
early = trace.get_tracer("early")
seen = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(seen))
trace.set_tracer_provider(provider)
with early.start_as_current_span("from a tracer that was handed out before"):
    pass
look()
tell(said=sorted(span.name for span in seen.get_finished_spans()))
"""
    expected = ["execute_tool look", "from a tracer that was handed out before"]

    assert said(program) == expected


def test_spans_of_other_instrumentations_are_judged_where_the_application_has_no_provider() -> None:
    program = """
look(); until(lambda: named() == 'StandIn')
before = spanfuse.status().host.spans
with trace.get_tracer("some.sdk").start_as_current_span("chat gpt-4o") as span:
    span.set_attribute("gen_ai.operation.name", "chat")
    span.set_attribute("gen_ai.request.model", "gpt-4o")
tell(said=spanfuse.status().host.spans - before)
"""
    assert said(program) == 1


def test_uninstrument_takes_it_away() -> None:
    program = "look(); until(lambda: named() == 'StandIn'); spanfuse.uninstrument(); tell(said=named())"

    assert said(program) == "ProxyTracerProvider"
