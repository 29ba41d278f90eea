"""Responses that arrive in pieces: watched while they are read, and ended however the reading ends.

Rule 1: before each chunk the board is asked; when it orders a stop, the response is closed and BreakerOpen
comes out of the iteration. Rule 2: a stream ends once: read to its end, failed, stopped, closed, or dropped
without a word; in the last two cases it is complete if the model had said all. Rule 3: the SDK's own stream
object stays what it is, only what it iterates over is replaced. Rule 4: nothing is ended inside the garbage
collector. It does not know which SDK streams, nor what is in a chunk.
"""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Iterator
from types import GeneratorType
from typing import Any, Generic, NoReturn, Protocol, Self, TypeVar

import wrapt

from spanfuse.calling import ActiveCall
from spanfuse.errors import BreakerOpen
from spanfuse.guard import fault
from spanfuse.provider import Outcome
from spanfuse.reaper import later, when_dropped
from spanfuse_processor.engine.verdicts import Directive

T = TypeVar("T")


class Gatherer(Protocol):
    """What an adapter knows of a stream: it takes the chunks in, and says what they came to."""

    @property
    def finished(self) -> bool:
        """Whether the model has said all, though more may be on the wire."""

    def add(self, chunk: object) -> None:
        """Takes one chunk in."""

    def outcome(self) -> Outcome:
        """What has been said so far."""


class StreamedCall:
    """The call behind a response that is still arriving: who reads, closes or drops it says so here.

    `response` is the HTTP response; when it is collected, the stream was dropped. Nothing here refers to it.
    """

    def __init__(self, active: ActiveCall, gatherer: Gatherer, response: object) -> None:
        self._active = active
        self._gatherer: Gatherer | None = gatherer
        self.reading = False
        self._source: weakref.ref[GeneratorType[Any, None, None]] | None = None
        self._call_off = when_dropped(response, self.closed)

    @property
    def active(self) -> ActiveCall:
        """The call."""
        return self._active

    @property
    def reading(self) -> bool:
        """Whether the next chunk is being waited for: who closes the response meanwhile is the SDK."""
        return self._reading

    @reading.setter
    def reading(self, reading: bool) -> None:
        self._reading = reading
        self._active.rests(not reading)

    @property
    def ordered(self) -> Directive | None:
        """The directive that stops this stream now; None also when it has ended."""
        return None if self._gatherer is None else self._active.ordered

    def comes_from(self, chunks: Iterator[Any]) -> None:
        """Tells which iterator of the SDK's the chunks come from."""
        if isinstance(chunks, GeneratorType):
            self._source = weakref.ref(chunks)

    def arrived(self, chunk: object) -> None:
        """A chunk goes to the application."""
        if self._gatherer is not None:
            try:
                self._gatherer.add(chunk)
            except Exception as error:
                fault("reading a stream", error)

    def ended(self) -> None:
        """The stream was read to its end."""
        outcome = self._gathered()
        if outcome is not None:
            self._active.succeed(outcome)

    def body_closed(self) -> None:
        """The response was closed: by the application, by the SDK at the end of all, or by the collector."""
        if self.reading:
            return  # whoever reads will say how it ended
        if self._collected():
            later(self.closed)
        else:
            self.closed()

    def closed(self) -> None:
        """The stream was closed or dropped; nobody reads it any more."""
        if self._gatherer is None:
            return
        complete = self._gatherer.finished
        outcome = self._gathered()
        if outcome is not None:
            outcome.complete = complete
            self._active.succeed(outcome)

    def failed(self, error: BaseException) -> None:
        """The iteration raised, or was stopped."""
        partial = self._gathered()
        if partial is not None:
            partial.complete = False
            self._active.fail(error, partial)

    def _collected(self) -> bool:
        """Whether the SDK's generator is being torn down: outside of a read, only the collector runs it."""
        if self._source is None:
            return False
        source = self._source()
        return source is None or source.gi_running

    def _gathered(self) -> Outcome | None:
        """What was said; None when the stream has ended before. Nothing of it is kept."""
        gatherer, self._gatherer = self._gatherer, None
        if gatherer is None:
            return None
        self._call_off()
        try:
            return gatherer.outcome()
        except Exception as error:
            fault("reading a stream", error)
            return Outcome()


class Chunks(Generic[T]):
    """What a sync stream iterates over, watched."""

    def __init__(self, chunks: Iterator[T], response: Any, call: StreamedCall) -> None:
        self._chunks = chunks
        self._response = response
        self._call = call
        call.comes_from(chunks)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        call = self._call
        directive = call.ordered
        if directive is not None:
            self._stop(BreakerOpen(directive))
        call.reading = True
        try:
            chunk = next(self._chunks)
        except StopIteration:
            call.ended()
            raise
        except BaseException as error:
            call.failed(error)
            raise
        finally:
            call.reading = False
        call.arrived(chunk)
        return chunk

    def close(self) -> None:
        """As a generator's: the SDK's own iterator is closed."""
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()

    def _stop(self, refusal: BreakerOpen) -> NoReturn:
        self._call.failed(refusal)
        try:
            self.close()
            self._response.close()
        except Exception as error:
            fault("closing a stream", error)
        raise refusal


class AsyncChunks(Generic[T]):
    """What an async stream iterates over, watched; a stop also cancels the wait for the next chunk."""

    def __init__(self, chunks: AsyncIterator[T], response: Any, call: StreamedCall) -> None:
        self._chunks = chunks
        self._response = response
        self._call = call

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        call = self._call
        directive = call.ordered
        if directive is not None:
            await self._stop(BreakerOpen(directive))
        call.reading = True
        try:
            async with call.active.waiting():
                chunk = await anext(self._chunks)
        except StopAsyncIteration:
            call.ended()
            raise
        except BreakerOpen as refusal:  # the wait was cancelled; not every version of an SDK closes up then
            await self._stop(refusal)
        except BaseException as error:
            call.failed(error)
            raise
        finally:
            call.reading = False
        call.arrived(chunk)
        return chunk

    async def aclose(self) -> None:
        """As an async generator's: the SDK's own iterator is closed."""
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()

    async def _stop(self, refusal: BreakerOpen) -> NoReturn:
        self._call.failed(refusal)
        try:
            await self.aclose()
            await self._response.aclose()
        except Exception as error:
            fault("closing a stream", error)
        raise refusal


def watch_body(response: Any, call: StreamedCall) -> None:
    """Sees to it that `call` hears when an httpx response is closed, by whomever.

    The body is wrapped and not the response's `close`: a response can be pickled, without its body.
    """
    response.stream = _Body(response.stream, call)


class _Body(wrapt.ObjectProxy):  # type: ignore[type-arg]  # generic for type checkers only
    """A response's body; httpx must take it for the one it was."""

    def __init__(self, body: object, call: StreamedCall) -> None:
        super().__init__(body)
        self._self_call = call

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.__wrapped__)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self.__wrapped__)

    def close(self) -> None:
        try:
            self.__wrapped__.close()
        finally:
            self._self_call.body_closed()

    async def aclose(self) -> None:
        try:
            await self.__wrapped__.aclose()
        finally:
            self._self_call.body_closed()
