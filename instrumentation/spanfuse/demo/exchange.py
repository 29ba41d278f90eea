"""One request and its reply on the wire, whole or streamed, charged to one run.

Rule 1: what was asked for is charged, wanted or not; only a stream that the client closes ends the bill.
Rule 2: latency is waiting, never work. It does not know routes, models or keys.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from spanfuse.demo import wire
from spanfuse.demo.scripts import Reply
from spanfuse.demo.usage import Asked, Tally, answers, measure, reply_tokens
from spanfuse.demo.wire import Json

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


async def answer(send: Send, body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
    """One whole answer as JSON."""
    await send(_start(status, "application/json", headers))
    await send({"type": "http.response.body", "body": _encode(body)})


class Exchange:
    """One request and its reply, charged to one run and noted in the log."""

    def __init__(self, request: Json, head: Json, reply: Reply, tally: Tally, asked: Asked) -> None:
        self._head, self._reply, self._tally, self._asked = head, reply, tally, asked
        self._wants_usage = (request.get("stream_options") or {}).get("include_usage", False)
        self._prompt = measure(request["messages"], request.get("tools") or ())
        tally.add(self._prompt, answers(request["messages"]))
        asked.input_tokens, asked.cached_tokens = self._prompt.tokens, self._prompt.cached

    async def whole(self, send: Send, pause: float) -> None:
        """Answers at once after `pause`. The reply is charged even if nobody waits for it."""
        self._produced()
        await asyncio.sleep(pause)
        used = wire.usage(self._prompt.tokens, self._prompt.cached, reply_tokens(self._reply))
        await answer(send, wire.completion(self._head, self._reply, used))

    async def stream(self, receive: Receive, send: Send, pause: float, gap: float) -> None:
        """Streams the reply as server-sent events, until the client closes."""
        gone = asyncio.ensure_future(_until_closed(receive))
        sent = 0
        try:
            await asyncio.sleep(pause)
            await send(_start(200, "text/event-stream; charset=utf-8"))
            for chunk, tokens in wire.chunks(self._head, self._reply):
                sent += tokens
                await self._event(send, chunk)
                if (await asyncio.wait({gone}, timeout=gap))[0]:
                    self._tally.output_tokens += sent
                    self._asked.output_tokens = sent
                    return
            self._produced()
            await self._end_stream(send)
        finally:
            gone.cancel()

    def _produced(self) -> None:
        self._tally.produced(self._reply)
        self._asked.output_tokens = reply_tokens(self._reply)

    async def _end_stream(self, send: Send) -> None:
        if self._wants_usage:
            used = wire.usage(self._prompt.tokens, self._prompt.cached, reply_tokens(self._reply))
            await send(_event(wire.usage_chunk(self._head, used)))
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})

    async def _event(self, send: Send, chunk: Json) -> None:
        await send(_event({**chunk, "usage": None} if self._wants_usage else chunk))


async def _until_closed(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _start(status: int, content_type: str, headers: Mapping[str, str] | None = None) -> Json:
    pairs = {"content-type": content_type, **(headers or {})}
    encoded = [(name.encode(), value.encode()) for name, value in pairs.items()]
    return {"type": "http.response.start", "status": status, "headers": encoded}


def _event(chunk: Json) -> Json:
    body = b"data: " + _encode(chunk) + b"\n\n"
    return {"type": "http.response.body", "body": body, "more_body": True}


def _encode(body: Json) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
