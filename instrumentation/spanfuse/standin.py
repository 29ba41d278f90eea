"""A tracer provider for an application that has none: spans of other instrumentations exist, and are judged.

Rule 1: it only stands in: the application may set its own at any time, and that one is used from then on,
also by tracers that were handed out before. Rule 2: it exports nothing. Rule 3: it is made with the first
call, when an application has normally set its own. Our own spans do without it. It needs the SDK, which is
imported here and in `foreign.py` only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, Tracer

from spanfuse import runtime
from spanfuse.foreign import watch


class StandIn(TracerProvider):
    """The SDK's provider, whose tracers follow the application's as soon as there is one."""

    stands_in = True

    def get_tracer(self, *names: Any, **more: Any) -> Tracer:
        """A tracer that asks, at each span, who provides now."""
        return _Following(self, super().get_tracer(*names, **more), names, more)


class _Following(Tracer):
    """Starts spans with the stand-in's tracer, or with the application's once it has a provider."""

    def __init__(self, standin: StandIn, own: Tracer, names: Any, more: Any) -> None:
        self._provider: trace.TracerProvider = standin
        self._tracer = own
        self._names, self._more = names, more

    def start_span(self, *what: Any, **more: Any) -> Span:
        """As the API says."""
        return self._now().start_span(*what, **more)

    @contextmanager
    def start_as_current_span(self, *what: Any, **more: Any) -> Iterator[Span]:  # type: ignore[override]
        """As the API says."""
        with self._now().start_as_current_span(*what, **more) as span:
            yield span

    def _now(self) -> Tracer:
        provider = trace.get_tracer_provider()
        if provider is not self._provider:
            self._provider = provider
            self._tracer = provider.get_tracer(*self._names, **self._more)
        return self._tracer


def stand_in(resource: Mapping[str, Any]) -> None:
    """Puts a provider where the application has none; its own, set later, takes the place in silence."""
    provider = StandIn(resource=Resource.create(dict(resource)), shutdown_on_exit=False)
    watch(provider)
    # Not `set_tracer_provider`: it works once, and that once is the application's.
    with trace._TRACER_PROVIDER_SET_ONCE._lock:
        if trace._TRACER_PROVIDER is None and runtime.live() is not None:  # else switched off meanwhile
            trace._TRACER_PROVIDER = provider


def step_back() -> None:
    """Takes it away again, if it still stands there."""
    with trace._TRACER_PROVIDER_SET_ONCE._lock:
        if isinstance(trace._TRACER_PROVIDER, StandIn):
            trace._TRACER_PROVIDER = None
