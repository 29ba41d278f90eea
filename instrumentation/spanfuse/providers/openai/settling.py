"""What came back from the SDK, and who ends the call: the response itself, or whoever goes on to read it.

Rule 1: nothing is consumed: a body is read from memory when the SDK has read it, and left alone otherwise.
Rule 2: a raw response that streams is watched from the moment it is parsed; what is only read line by line
ends when it is closed. It imports the SDK, as the adapter does that is imported when the SDK is.
"""

from __future__ import annotations

import functools
import inspect
import json
import weakref
from collections.abc import Callable
from typing import Any

from openai import AsyncStream, BaseModel, Stream

from spanfuse.calling import ActiveCall
from spanfuse.provider import Outcome
from spanfuse.providers.openai.endpoints import Endpoint
from spanfuse.providers.openai.response import read_outcome
from spanfuse.providers.openai.stream import gatherer
from spanfuse.streaming import AsyncChunks, Chunks, StreamedCall, watch_body


def settle(endpoint: Endpoint, stream: bool, active: ActiveCall, response: Any) -> None:
    """Ends the call, or hands it to its stream."""
    shape = _shape(response.__class__)
    if shape == "parsed":
        active.succeed(read_outcome(endpoint, response))
    elif shape == "stream":
        _settle_stream(endpoint, active, response)
    elif hasattr(response, "http_response"):
        _settle_raw(endpoint, stream, active, response)
    else:
        active.succeed(_read_body(endpoint, response))


@functools.lru_cache(maxsize=64)
def _shape(cls: type) -> str:
    """What kind of response a class is. To ask of each response takes longer than to read it."""
    if issubclass(cls, (BaseModel, dict)):
        return "parsed"
    return "stream" if issubclass(cls, (Stream, AsyncStream)) else "other"


def _settle_stream(endpoint: Endpoint, active: ActiveCall, stream: Any) -> None:
    call = StreamedCall(active, gatherer(endpoint), stream.response)
    watch_body(stream.response, call)
    _watch(call, stream)


def _watch(call: StreamedCall, stream: object) -> None:
    """Watches a stream of the SDK's, once."""
    if isinstance(stream, Stream):
        if not isinstance(stream._iterator, Chunks):
            stream._iterator = Chunks(stream._iterator, stream.response, call)
    elif isinstance(stream, AsyncStream) and not isinstance(stream._iterator, AsyncChunks):
        stream._iterator = AsyncChunks(stream._iterator, stream.response, call)


def _settle_raw(endpoint: Endpoint, stream: bool, active: ActiveCall, raw: Any) -> None:
    """`with_raw_response`, whose body has been read unless it streams, and `with_streaming_response`."""
    http = raw.http_response
    if stream:
        call = StreamedCall(active, gatherer(endpoint), http)
        watch_body(http, call)
        raw.parse = _before_return(raw.parse, functools.partial(_watch, call))
    elif http.is_closed:
        active.succeed(_read_body(endpoint, http))
    else:
        call = StreamedCall(active, BodyGatherer(endpoint, http), http)
        raw.close = _before_return(raw.close, lambda _: call.closed())


def _before_return(method: Callable[..., Any], take: Callable[[Any], None]) -> Callable[..., Any]:
    """A method, sync or async, with `take` shown what it returns."""
    if inspect.iscoroutinefunction(method):

        @functools.wraps(method)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            returned = await method(*args, **kwargs)
            take(returned)
            return returned

        return awaited

    @functools.wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        returned = method(*args, **kwargs)
        take(returned)
        return returned

    return called


class BodyGatherer:
    """Stands in for chunks where a body is read by the application, if at all: looks at it in the end."""

    def __init__(self, endpoint: Endpoint, http: Any) -> None:
        self._endpoint = endpoint
        self._http = weakref.ref(http)

    @property
    def finished(self) -> bool:
        """Whether the application has read the body."""
        return _body_of(self._http()) is not None

    def add(self, chunk: object) -> None:
        """There are no chunks."""

    def outcome(self) -> Outcome:
        """What the body says."""
        return _read_body(self._endpoint, self._http())


def _read_body(endpoint: Endpoint, http: object) -> Outcome:
    """The outcome of an HTTP response whose body is in memory; an empty one when it is not, or is no JSON."""
    body = _body_of(http)
    try:
        return read_outcome(endpoint, json.loads(body)) if body else Outcome()
    except ValueError:
        return Outcome()


def _body_of(http: Any) -> bytes | None:
    """The body, if it has been read."""
    try:
        body = http.content
    except Exception:  # httpx and httpx2 have a class of their own for "not read"
        return None
    return body if isinstance(body, bytes) else None
