"""The library in a process of its own: whose tracer provider it uses, what a fork takes along."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.library.programs import CALLS, environment, run_program

ROOT = Path(__file__).parents[2]


def test_a_provider_that_is_set_after_us_gets_our_spans_and_gives_us_foreign_ones() -> None:
    told = run_program("""
import spanfuse.auto
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
host = listen()
ask()
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
with trace.get_tracer("theirs").start_as_current_span("x") as span:
    span.set_attribute(names.OPERATION, "chat")
ask()
tell(
    same=trace.get_tracer_provider() is provider,
    exported=[span.name for span in exporter.get_finished_spans()],
    judged=[span.scope for span in host.ended],
)
""")

    assert told == [{"same": True, "exported": ["x", "chat m"], "judged": ["spanfuse", "theirs", "spanfuse"]}]


def test_a_provider_that_was_set_before_us_is_used() -> None:
    told = run_program("""
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
import spanfuse.auto
host = listen()
ask()
exported, = exporter.get_finished_spans()
tell(same=exported.context.span_id == int.from_bytes(host.ended[0].span_id, "big"))
""")

    assert told == [{"same": True}]


def test_the_import_sets_no_provider_and_does_not_load_the_sdk() -> None:
    told = run_program("""
import spanfuse.auto
from opentelemetry import trace
tell(provider=type(trace.get_tracer_provider()).__name__, sdk="opentelemetry.sdk" in sys.modules)
""")

    assert told == [{"provider": "ProxyTracerProvider", "sdk": False}]


def test_auto_never_raises_and_says_why_it_is_off() -> None:
    told = run_program(
        """
import logging
heard = []
class Ear(logging.Handler):
    def emit(self, record):
        heard.append(record.getMessage())
logging.getLogger("spanfuse").addHandler(Ear())
import spanfuse.auto
tell(live=runtime.live() is not None, heard=heard)
""",
        SPANFUSE_DISABLED="perhaps",
    )

    assert told[0]["live"] is False
    assert "SPANFUSE_DISABLED='perhaps'" in told[0]["heard"][0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_the_child_of_a_fork_is_watched_and_obeys_what_stood() -> None:
    """Directives go along, locks and threads do not."""
    told = run_program("""
import os, spanfuse.auto
ask()
with spanfuse.run(run_id="stopped"): spanfuse.kill("stopped")
parent = runtime.live()
parent.board._lock.acquire()          # as another thread might have, at that moment
child = os.fork()
if child == 0:
    live = runtime.live()
    with spanfuse.run(run_id="fresh"):
        ask()
    try:
        with spanfuse.run(run_id="stopped"): ask()
        refused = False
    except spanfuse.BreakerOpen:
        refused = True
    tell(child=live is not parent, refused=refused, spans=spanfuse.status().host.spans,
         instance=live.settings.instance != parent.settings.instance)
    os._exit(0)
parent.board._lock.release()
os.waitpid(child, 0)
""")

    assert told == [{"child": True, "refused": True, "spans": 2, "instance": True}]


def test_nothing_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CALLS + "import spanfuse.auto\nask()"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment(),
    )

    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize(
    "theirs",
    [
        "from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor",
        "from openinference.instrumentation.openai import OpenAIInstrumentor",
    ],
)
def test_a_call_that_another_instrumentation_sees_as_well_is_judged_once(theirs: str) -> None:
    told = run_program(
        theirs
        + """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
OpenAIInstrumentor().instrument(tracer_provider=trace.get_tracer_provider())
import spanfuse.auto
from openai import OpenAI
from tests.library.providers.fake_openai import FakeOpenAI
host = listen()
words = [{"role": "user", "content": "hello"}]
with FakeOpenAI() as server, OpenAI(base_url=server.url, api_key="k") as client:
    client.chat.completions.create(model="m", messages=words)
    list(client.chat.completions.create(model="m", messages=words, stream=True))
    client.embeddings.create(model="e", input="hello")
tell(judged=[f"{span.scope}: {span.name}" for span in host.ended])
""",
        PYTHONPATH=str(ROOT),
    )

    assert told == [{"judged": ["spanfuse: chat m", "spanfuse: chat m", "spanfuse: embeddings e"]}]
