"""Fakes of what streams: a call that remembers its end, a gatherer of words, a response and its body."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator

from spanfuse.calls.unwatched import ActiveCall
from spanfuse.context import RunScope
from spanfuse.provider import Outcome
from spanfuse.streaming import Chunks, StreamedCall, watch_body
from spanfuse_processor.engine.nouns import NOBODY, BreakerKey, Level
from spanfuse_processor.engine.verdicts import Directive

STOP = Directive("d", 1, BreakerKey(Level.RUN, "r"), reason="LOOP")


class Call(ActiveCall):
    """A call that remembers how it ended, and is stopped when the test says so."""

    __slots__ = ("ends", "order", "rest", "threads")

    def __init__(self) -> None:
        super().__init__(RunScope("r", NOBODY))
        self.order: Directive | None = None
        self.ends: list[Outcome | BaseException] = []
        self.threads: list[str] = []
        self.rest: list[bool] = []

    def rests(self, resting: bool) -> None:
        self.rest.append(resting)

    @property
    def ordered(self) -> Directive | None:
        return self.order

    def succeed(self, outcome: Outcome) -> None:
        self.threads.append(threading.current_thread().name)
        self.ends.append(outcome)

    def fail(self, error: BaseException, partial: Outcome | None = None) -> None:
        self.ends.append(error)
        assert partial is not None and not partial.complete


class Words:
    """Gathers words; the model has said all with a full stop."""

    def __init__(self) -> None:
        self.words: list[str] = []

    @property
    def finished(self) -> bool:
        return self.words[-1:] == ["."]

    def add(self, chunk: object) -> None:
        self.words.append(str(chunk))

    def outcome(self) -> Outcome:
        return Outcome(result=" ".join(self.words))


class Body:
    """A body of an HTTP response, sync and async."""

    def __init__(self) -> None:
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        yield b"one"

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"one"

    def close(self) -> None:
        self.closed += 1

    async def aclose(self) -> None:
        self.closed += 1


class Response:
    """An HTTP response as httpx has it: closing it closes its body, once."""

    def __init__(self) -> None:
        self.stream = Body()
        self.closed = False

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.stream.close()

    async def aclose(self) -> None:
        if not self.closed:
            self.closed = True
            await self.stream.aclose()


class Stream:
    """A stream of the SDK's kind: a generator that refers to it and closes the response in the end."""

    def __init__(self, call: Call, words: tuple[object, ...]) -> None:
        self.response = Response()
        self.words = words
        self.call = StreamedCall(call, Words(), self.response)
        watch_body(self.response, self.call)
        self.chunks = Chunks(self._read(), self.response, self.call)

    def _read(self) -> Iterator[object]:
        try:
            for word in self.words:
                if isinstance(word, Exception):
                    raise word
                yield word
        finally:
            self.response.close()


def said(call: Call) -> tuple[object, bool]:
    """The result of the call's one good end, and whether it is complete."""
    (end,) = call.ends
    assert isinstance(end, Outcome)
    return end.result, end.complete
