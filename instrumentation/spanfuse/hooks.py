"""What is put into other people's modules: wrappers of SDKs, the flow of runs into threads, an ear at OTel.

Rule 1: an SDK is patched when it is imported, now if it has been. Rule 2: an adapter that fails takes
nobody with it. Rule 3: what the application itself has put in place is left alone, also on the way out. It
does not know what the wrappers do.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, Final

from opentelemetry import trace

from spanfuse import runtime
from spanfuse.guard import fault, guarded
from spanfuse.provider import ProviderAdapter
from spanfuse.providers import PROVIDERS

_adapters: Final[dict[str, ProviderAdapter]] = {}
_hooked: Final[set[str]] = set()
_noticing: Final[dict[Callable[..., None], Callable[..., None]]] = {}  # ours -> what it stands before
_threading: Final[list[Any]] = []  # the instrumentor, where it was us who switched it on


def patch_sdks() -> None:
    """Patches the SDKs that are imported, and the others when they will be."""
    import wrapt

    for name in PROVIDERS:
        if name in sys.modules:
            _patch(name)
        elif name not in _hooked:
            _hooked.add(name)
            wrapt.register_post_import_hook(_imported(name), name)


def unpatch_sdks() -> None:
    """Leaves the SDKs as they were."""
    while _adapters:
        name, adapter = _adapters.popitem()
        try:
            adapter.unpatch()
        except Exception as error:
            fault(f"unpatching {name}", error)


def patched() -> list[str]:
    """The SDKs that are patched now."""
    return sorted(_adapters)


@guarded("threads", None)
def flow_into_threads() -> None:
    """Has the run, as the rest of OTel's context, follow into new threads and executors."""
    from opentelemetry.instrumentation.threading import ThreadingInstrumentor

    instrumentor = ThreadingInstrumentor()
    if not instrumentor.is_instrumented_by_opentelemetry:
        instrumentor.instrument(skip_dep_check=True)
        _threading.append(instrumentor)


@guarded("threads", None)
def stay_out_of_threads() -> None:
    """Takes it back, if it was us."""
    while _threading:
        instrumentor = _threading.pop()
        if instrumentor.is_instrumented_by_opentelemetry:
            instrumentor.uninstrument()


def notice_providers() -> None:
    """Has the application's tracer provider seen when it is set, also if none of our calls comes after it."""
    original = trace.set_tracer_provider
    if original in _noticing:
        return

    @functools.wraps(original)
    def set_tracer_provider(tracer_provider: trace.TracerProvider) -> None:
        original(tracer_provider)
        _adopt()

    _noticing[set_tracer_provider] = original
    trace.set_tracer_provider = set_tracer_provider


def stop_noticing() -> None:
    """Takes it back, unless somebody has replaced it since."""
    original = _noticing.pop(trace.set_tracer_provider, None)
    if original is not None:
        trace.set_tracer_provider = original
    # A thread may be importing it this moment; it puts nothing up once the library is off.
    step_back = getattr(sys.modules.get("spanfuse.standin"), "step_back", None)
    if step_back is not None:
        step_back()


@guarded("provider", None)
def _adopt() -> None:
    live = runtime.live()
    if live is not None:
        live.tracing.adopt()


def _imported(name: str) -> Any:
    def hook(_: object) -> None:
        _hooked.discard(name)
        if runtime.live() is not None:
            _patch(name)

    return hook


def _patch(name: str) -> None:
    if name in _adapters:
        return
    module, _, adapter_name = PROVIDERS[name].partition(":")
    try:
        adapter: ProviderAdapter = getattr(importlib.import_module(module), adapter_name)()
        adapter.patch()
    except Exception as error:
        fault(f"patching {name}", error)
        return
    _adapters[name] = adapter
