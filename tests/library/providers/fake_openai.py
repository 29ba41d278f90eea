"""A small OpenAI on loopback: the provider's wire format, in a thread, on a port of its own.

It answers from a script (`server.say(...)`, the last line repeats) and remembers what it was asked. A `Reply`
is written for whatever endpoint and manner (streamed or not) the request asks for.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from tests.library.providers.openai_wire import Asked, Json, Reply, writers_of

__all__ = ["Asked", "FakeOpenAI", "Reply", "Request"]

HOLD_TIMEOUT = 10.0


@dataclass
class Request:
    """What was asked."""

    path: str
    body: Json
    headers: dict[str, str]


class FakeOpenAI:
    """The server. Use it in a `with`."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._script: list[Reply] = [Reply()]
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def say(self, *replies: Reply) -> None:
        """What comes next; the last one repeats."""
        with self._lock:
            self._script = list(replies)

    def take(self, request: Request) -> Reply:
        """Remembers a request; returns the reply that is due."""
        with self._lock:
            self.requests.append(request)
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, fake: FakeOpenAI) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fake = fake

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        reply = self.server.fake.take(Request(self.path, body, dict(self.headers.items())))
        if reply.hold is not None:
            reply.hold.wait(HOLD_TIMEOUT)
        if reply.status != 200:
            self._json(reply.status, {"error": {"message": "no", "type": "x", "code": "no"}})
            return
        self._answer(body, reply)

    def _answer(self, body: Json, reply: Reply) -> None:
        whole, pieces = writers_of(self.path)
        if not body.get("stream"):
            self._json(200, whole(reply))
            return
        try:
            self._stream(pieces(reply, body), reply)
        except OSError:
            self.close_connection = True  # the client has gone

    def _json(self, status: int, value: Json) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("x-request-id", "req-1")
        if status != 200:
            self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, pieces: Iterator[Json], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(pieces):
            if reply.pause is not None and number == reply.pause_after:
                reply.pause.wait(HOLD_TIMEOUT)
            if reply.broken and number == reply.pause_after:
                self.close_connection = True
                return
            kind = f"event: {piece['type']}\n" if "type" in piece else ""
            self._chunk(f"{kind}data: {json.dumps(piece)}\n\n")
        if reply.failing:
            self._chunk(f"data: {json.dumps({'error': {'message': 'overloaded'}})}\n\n")
        self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Tests are quiet."""
