"""The demo's provider: a server that speaks the chat completions API, in a process of its own.

    python -m spanfuse.demo.provider_server [--port N] [--pace FACTOR] [--capacity N]

It prints its port as one line of JSON, then serves until it is told to end.
Rule 1: what a run has used is counted here, by the `user` of its requests, and told at GET /stats; GET /log
has the latest requests one by one. Nobody has to take an agent's word for it. Rule 2: one event loop and no
lock. It does not know who judges the runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
import time
import zlib
from collections import deque
from dataclasses import asdict, dataclass

import uvicorn

from spanfuse.demo import wire
from spanfuse.demo.exchange import Exchange, Receive, Send, answer
from spanfuse.demo.scripts import reply_to, shortened
from spanfuse.demo.usage import Asked, Tally
from spanfuse.demo.wire import ApiError, Json

MODELS = {"gpt-4o-mini": 0.025, "gpt-4o": 0.1, "gpt-4.1": 1.5}
"""The models on offer and how long each takes to answer, seconds."""

CHUNK = 0.005
"""Seconds between the chunks of a stream."""

LOGGED = 10_000
"""Requests that the log goes back."""

_MAX_BODY = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the provider treats its clients: `pace` 0 answers at once, 1 as MODELS say."""

    pace: float = 1.0
    capacity: int = 1_000  # requests at a time; above it 429


class Provider:
    """The ASGI application. One event loop, no lock."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._started = int(time.time())
        self._tallies: dict[str, Tally] = {}
        self._log: deque[Asked] = deque(maxlen=LOGGED)
        self._open = 0
        self._served = 0

    async def __call__(self, scope: Json, receive: Receive, send: Send) -> None:
        """One HTTP request."""
        assert scope["type"] == "http"  # lifespan and websockets are switched off in `serve`
        self._open += 1
        try:
            await self._route(scope, receive, send)
        except ApiError as refusal:
            await answer(send, refusal.body, refusal.status, refusal.headers)
        finally:
            self._open -= 1

    async def _route(self, scope: Json, receive: Receive, send: Send) -> None:
        method, path = scope["method"], scope["path"]
        if (method, path) == ("GET", "/stats"):
            runs = {name: asdict(tally) for name, tally in self._tallies.items()}
            return await answer(send, {"runs": runs})
        if (method, path) == ("GET", "/log"):
            return await answer(send, {"requests": [asdict(each) for each in self._log]})
        self._authorise(scope)
        if (method, path) == ("POST", "/v1/chat/completions"):
            return await self._chat(receive, send)
        if method == "GET" and path == "/v1/models":
            return await answer(send, wire.models(list(MODELS), self._started))
        if method == "GET" and path.startswith("/v1/models/"):
            name = _known_model(path.removeprefix("/v1/models/"))
            return await answer(send, wire.model(name, self._started))
        raise ApiError(404, f"Invalid URL ({method} {path})")

    def _authorise(self, scope: Json) -> None:
        if not dict(scope["headers"]).get(b"authorization", b"").startswith(b"Bearer sk-"):
            raise ApiError(401, "Incorrect API key provided.", code="invalid_api_key")
        if self._open > self._behaviour.capacity:
            retry = {"retry-after": "1"}
            raise ApiError(429, "Rate limit reached.", "requests", "rate_limit_exceeded", retry)

    async def _chat(self, receive: Receive, send: Send) -> None:
        request = wire.parse(await _body(receive))
        name = _known_model(str(request.get("model", "")))
        messages, user = request["messages"], str(request.get("user", ""))
        asked = Asked(time.time(), user, name, wire.most_output(request))
        self._served += 1
        self._log.append(asked)
        exchange = Exchange(
            request,
            head={"id": f"chatcmpl-{self._served:08x}", "created": int(asked.at), "model": name},
            reply=shortened(reply_to(messages, wire.offered(request)), asked.most),
            tally=self._tallies.setdefault(user, Tally()),
            asked=asked,
        )
        pause = _latency(name, user, len(messages)) * self._behaviour.pace
        if request.get("stream"):
            await exchange.stream(receive, send, pause, CHUNK * self._behaviour.pace)
        else:
            await exchange.whole(send, pause)


def _known_model(name: str) -> str:
    if name not in MODELS:
        text = f"The model `{name}` does not exist or you do not have access to it."
        raise ApiError(404, text, code="model_not_found")
    return name


def _latency(model: str, user: str, messages: int) -> float:
    """The model's latency, a quarter more or less: which, follows from the request."""
    spread = zlib.crc32(f"{user} {messages}".encode()) / 2**32
    return MODELS[model] * (0.75 + spread / 2)


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MAX_BODY:
            raise ApiError(413, "The request is too large.")
        if not message.get("more_body"):
            return bytes(body)


async def serve(behaviour: Behaviour, port: int) -> None:
    """Serves on loopback until a signal comes."""
    config = uvicorn.Config(
        Provider(behaviour),
        lifespan="off",
        ws="none",
        http="httptools",
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    with socket.create_server(("127.0.0.1", port), backlog=512) as listening:
        sys.stdout.write(json.dumps({"event": "ready", "port": listening.getsockname()[1]}) + "\n")
        sys.stdout.flush()
        await uvicorn.Server(config).serve(sockets=[listening])


def main() -> None:
    """Reads the arguments and serves."""
    parser = argparse.ArgumentParser(prog="python -m spanfuse.demo.provider_server")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--pace", type=float, default=1.0, help="latency: 0 none, 1 as usual")
    parser.add_argument("--capacity", type=int, default=1_000, help="requests at a time, then 429")
    arguments = parser.parse_args()
    asyncio.run(serve(Behaviour(arguments.pace, arguments.capacity), arguments.port))


if __name__ == "__main__":
    main()
