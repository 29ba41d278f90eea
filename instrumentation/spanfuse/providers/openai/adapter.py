"""The adapter of OpenAI's SDK (1.60 to 3.x): two methods that every request passes.

Rule 1: patched is the one method below all resources, helpers and raw variants, above the SDK's own
retries: a call is a call however often it is tried; how often that was is counted. Rule 2: a request that
runs no model passes untouched. Rule 3: what cannot be read is gated all the same, without a name. It does
not know how calls are judged.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, Final

from spanfuse.guard import fault
from spanfuse.patching import Patches
from spanfuse.provider import Intent
from spanfuse.providers.openai.endpoints import Endpoint, endpoint_of, place_of
from spanfuse.providers.openai.request import bare_intent, read_intent
from spanfuse.providers.openai.sending import Sending, body_of
from spanfuse.providers.openai.settling import settle
from spanfuse.wrapping import call, call_async

_MODULE: Final = "openai._base_client"

_current: Final[ContextVar[Intent | None]] = ContextVar("spanfuse_openai_call", default=None)
"""The call whose request is being tried."""

_under_way: Final[set[int]] = set()
"""Requests being made, by the id of their options: a client's own `request` may call its parent's."""


class OpenAIAdapter:
    """Patches the SDK."""

    def __init__(self) -> None:
        self._patches: Patches | None = None

    def patch(self) -> None:
        """Puts the wrappers in place. The SDK is imported by now."""
        if self._patches is None:
            self._patches = Patches()
            self._patches.place(_MODULE, "SyncAPIClient", "request", _request)
            self._patches.place(_MODULE, "AsyncAPIClient", "request", _request_async)
            self._patches.place(_MODULE, "BaseClient", "_calculate_retry_timeout", _resend)

    def unpatch(self) -> None:
        """Takes the wrappers out again."""
        if self._patches is not None:
            self._patches.remove()
            self._patches = None


def _request(wrapped: Callable[..., Any], client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    options: Any = args[1] if len(args) > 1 else kwargs.get("options")
    endpoint = _endpoint(options)
    if endpoint is None:
        return wrapped(*args, **kwargs)
    intent = _intent(endpoint, client, options, stream=bool(kwargs.get("stream")))
    intent.request = sending = Sending(endpoint, client, wrapped, args, kwargs, _under_way)
    outer = _current.set(intent)
    try:
        return call(intent, sending.perform, partial(settle, endpoint, intent.stream))
    finally:
        _current.reset(outer)
        sending.close()


async def _request_async(
    wrapped: Callable[..., Any], client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    options: Any = args[1] if len(args) > 1 else kwargs.get("options")
    endpoint = _endpoint(options)
    if endpoint is None:
        return await wrapped(*args, **kwargs)
    intent = _intent(endpoint, client, options, stream=bool(kwargs.get("stream")))
    intent.request = sending = Sending(endpoint, client, wrapped, args, kwargs, _under_way)
    outer = _current.set(intent)
    try:
        return await call_async(intent, sending.perform, partial(settle, endpoint, intent.stream))
    finally:
        _current.reset(outer)
        sending.close()


def _resend(wrapped: Callable[..., Any], client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The SDK is about to wait and try again; it asks for how long, once for each time."""
    intent = _current.get()
    if intent is not None:
        intent.resends += 1
    return wrapped(*args, **kwargs)


def _endpoint(options: Any) -> Endpoint | None:
    """The endpoint of a request that runs a model and is not under way already; else None."""
    url = getattr(options, "url", None)
    endpoint = endpoint_of(url) if isinstance(url, str) else None
    if endpoint is None or options.method.lower() != "post" or id(options) in _under_way:
        return None
    return endpoint


def _intent(endpoint: Endpoint, client: object, options: Any, *, stream: bool) -> Intent:
    try:
        return read_intent(endpoint, body_of(options), place_of(client), stream=stream)
    except Exception as error:
        fault("reading a request", error)
        return bare_intent(endpoint, stream=stream)
