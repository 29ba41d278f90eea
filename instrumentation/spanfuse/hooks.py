"""What is put into other people's modules: the wrappers of SDKs, and the flow of runs into threads.

Rule 1: an SDK is patched when it is imported, now if it has been. Rule 2: an adapter that fails takes
nobody with it. Rule 3: what the application itself has put in place is left alone, also on the way out. It
does not know what the wrappers do.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Final

from spanfuse import runtime
from spanfuse.guard import fault, guarded
from spanfuse.provider import ProviderAdapter
from spanfuse.providers import PROVIDERS

_adapters: Final[dict[str, ProviderAdapter]] = {}
_hooked: Final[set[str]] = set()
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


@guarded("threads")
def flow_into_threads() -> None:
    """Has the run, as the rest of OTel's context, follow into new threads and executors."""
    from opentelemetry.instrumentation.threading import ThreadingInstrumentor

    instrumentor = ThreadingInstrumentor()
    if not instrumentor.is_instrumented_by_opentelemetry:
        instrumentor.instrument(skip_dep_check=True)
        _threading.append(instrumentor)


@guarded("threads")
def stay_out_of_threads() -> None:
    """Takes it back, if it was us."""
    while _threading:
        instrumentor = _threading.pop()
        if instrumentor.is_instrumented_by_opentelemetry:
            instrumentor.uninstrument()


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
