"""Switching on and off: once, whatever the order; nothing printed, nothing raised but SettingsError."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from tests.library.calls import ask
from tests.library.programs import run_program

import spanfuse
from spanfuse import guard, hooks, runtime
from spanfuse.host import HostState
from spanfuse.providers import PROVIDERS


class Adapter:
    """An adapter of a made-up SDK."""

    patched = 0

    def patch(self) -> None:
        type(self).patched += 1

    def unpatch(self) -> None:
        type(self).patched -= 1


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of an SDK that is not imported yet."""
    Adapter.patched = 0
    monkeypatch.setitem(PROVIDERS, "json.tool", f"{__name__}:Adapter")
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])
    loaded = sys.modules.pop("json.tool", None)
    yield "json.tool"
    spanfuse.uninstrument()
    if loaded is not None:
        sys.modules["json.tool"] = loaded


def test_instrument_twice_is_once() -> None:
    spanfuse.instrument()
    live = runtime.live()

    spanfuse.instrument(feature="other")

    assert runtime.live() is live


def test_status_says_who_judges_and_how_it_does() -> None:
    assert spanfuse.status().host is None

    spanfuse.instrument()
    ask()

    status = spanfuse.status()
    assert status.host is not None
    assert (status.host.state, status.host.spans) == (HostState.JUDGING, 1)


def test_a_bad_setting_is_the_developer_s_to_mend() -> None:
    with pytest.raises(spanfuse.SettingsError, match="endpont"):
        spanfuse.instrument(endpont="x")  # type: ignore[call-arg]
    assert runtime.live() is None


def test_disabled_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANFUSE_DISABLED", "1")

    spanfuse.instrument()

    assert runtime.live() is None


def test_after_shutdown_calls_go_on_unwatched() -> None:
    spanfuse.instrument()
    spanfuse.shutdown()
    spanfuse.shutdown()

    ask()

    assert spanfuse.status().host is None


def test_an_sdk_that_is_imported_later_is_patched_then(sdk: str) -> None:
    spanfuse.instrument()
    assert Adapter.patched == 0

    import json.tool  # noqa: F401

    assert Adapter.patched == 1
    assert sdk in spanfuse.status().sdks


def test_an_sdk_that_was_imported_before_is_patched_at_once(sdk: str) -> None:
    import json.tool  # noqa: F401

    spanfuse.instrument()

    assert Adapter.patched == 1


def test_uninstrument_leaves_the_sdk_as_it_was_and_instrument_takes_it_again(sdk: str) -> None:
    import json.tool  # noqa: F401

    spanfuse.instrument()
    spanfuse.uninstrument()
    assert (Adapter.patched, spanfuse.status().sdks) == (0, [])

    spanfuse.instrument()
    assert Adapter.patched == 1


def test_an_adapter_that_fails_takes_nobody_with_it(sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")
    monkeypatch.setitem(PROVIDERS, "json.tool", "no.such.module:Adapter")
    before = guard.FAULTS.count

    spanfuse.instrument()
    import json.tool  # noqa: F401

    assert guard.FAULTS.count == before + 1
    assert sdk not in spanfuse.status().sdks


def test_a_run_can_be_stopped_and_released_from_inside() -> None:
    spanfuse.instrument()

    with spanfuse.run() as run:
        assert spanfuse.kill(run.id, "enough")
        assert run.stopped
        assert not spanfuse.kill(run.id)
        with pytest.raises(spanfuse.BreakerOpen, match="enough"):
            ask()
        assert spanfuse.release(run.id)
        ask()


def test_kill_without_instrumentation_is_false() -> None:
    assert not spanfuse.kill("r1")


def test_threads_are_left_alone_where_the_application_has_instrumented_them() -> None:
    from opentelemetry.instrumentation.threading import ThreadingInstrumentor

    theirs = ThreadingInstrumentor()
    theirs.instrument()
    try:
        spanfuse.instrument()
        spanfuse.uninstrument()
        assert theirs.is_instrumented_by_opentelemetry
    finally:
        theirs.uninstrument()


def test_threads_are_left_as_they_were() -> None:
    import threading

    before = threading.Thread.start

    spanfuse.instrument()
    assert threading.Thread.start is not before
    spanfuse.uninstrument()

    assert threading.Thread.start is before


def test_otel_s_own_function_is_put_back() -> None:
    from opentelemetry import trace

    before = trace.set_tracer_provider
    hooks.notice_providers()
    hooks.notice_providers()
    hooks.stop_noticing()

    assert trace.set_tracer_provider is before


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


def test_without_a_provider_none_is_set_in_the_application_s_name() -> None:
    told = run_program("""
import spanfuse.auto
from opentelemetry import trace
ask()
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
    import subprocess

    from tests.library.programs import CALLS, environment

    done = subprocess.run(
        [sys.executable, "-c", CALLS + "import spanfuse.auto\nask()"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment(),
    )

    assert (done.stdout, done.stderr) == ("", "")
