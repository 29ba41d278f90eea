"""Switching on and off: once, whatever the order; nothing printed, nothing raised but SettingsError."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest
from tests.library.making import ask
from tests.waiting import until

import spanfuse
from spanfuse import guard, hooks, runtime
from spanfuse.host import HostState
from spanfuse.providers import PROVIDERS
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action, Directive


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


def test_after_shutdown_no_call_is_held_back_any_more() -> None:
    spanfuse.instrument()
    live = runtime.live()
    assert live is not None
    pace = (("calls_per_second", 0.001),)
    everything = BreakerKey(Level.EVERYTHING, "")
    live.board.post(Directive("slow", 1, everything, Action.THROTTLE, params=pace))
    ask()
    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: live.throttle.waiting)

    spanfuse.shutdown()

    thread.join(5)
    assert not thread.is_alive()


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
