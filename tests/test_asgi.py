"""The ASGI application: routes, limits, errors; without a server."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from spanfuse_processor.asgi import Application
from spanfuse_processor.web import Handler, Request, Response, Route


def saying(text: str) -> Handler:
    async def handler(request: Request) -> Response:
        return Response(200, text.encode(), "text/plain", {"x-query": request.query})

    return handler


async def echo(request: Request) -> Response:
    return Response(200, await request.read(10))


async def broken(request: Request) -> Response:
    raise RuntimeError("a bug")


ROUTES = [
    Route("GET", "/healthz", saying("well")),
    Route("GET", "/v1/runs", saying("runs")),
    Route("POST", "/v1/runs", saying("made")),
    Route("POST", "/echo", echo),
    Route("*", "/any", saying("any")),
    Route("GET", "/broken", broken),
    Route("GET", "/files/*", saying("file")),
    Route("GET", "/files/deep/*", saying("deep file")),
]


class Exchange:
    """One ASGI exchange: feeds messages in, keeps what comes out."""

    def __init__(self, *bodies: bytes, gone: bool = False) -> None:
        chunks = [{"type": "http.request", "body": body, "more_body": True} for body in bodies]
        end = {"type": "http.disconnect"} if gone else {"type": "http.request", "more_body": False}
        self.incoming: list[dict[str, Any]] = [*chunks, end]
        self.sent: list[dict[str, Any]] = []
        self.faults: list[str] = []

    async def receive(self) -> dict[str, Any]:
        return self.incoming.pop(0)

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    async def run(self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> Exchange:
        scope = {"type": "http", "method": method, "path": path, "query_string": b"a=1", "headers": headers}
        application = Application(ROUTES, lambda where, error: self.faults.append(f"{where}: {error}"))
        await application(scope, self.receive, self.send)
        return self

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return bytes(self.sent[1]["body"])


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/healthz", b"well"),
        ("GET", "/v1/runs", b"runs"),
        ("POST", "/v1/runs", b"made"),
        ("PATCH", "/any", b"any"),
        ("GET", "/files/a.txt", b"file"),
        ("GET", "/files/deep/a.txt", b"deep file"),
    ],
)
async def test_a_request_reaches_the_handler_of_its_method_and_path(
    method: str, path: str, body: bytes
) -> None:
    exchange = await Exchange().run(method, path)

    assert (exchange.status, exchange.body) == (200, body)
    assert exchange.headers["content-length"] == str(len(body))
    assert exchange.headers["x-query"] == "a=1"


async def test_head_is_answered_like_get_without_the_body() -> None:
    exchange = await Exchange().run("HEAD", "/healthz")

    assert (exchange.status, exchange.body) == (200, b"")
    assert exchange.headers["content-length"] == "4"


async def test_an_unknown_path_is_404_with_a_status_body() -> None:
    exchange = await Exchange().run("GET", "/nowhere")

    assert exchange.status == 404
    assert json.loads(exchange.body) == {"code": 5, "message": "nothing is served at /nowhere"}


async def test_a_wrong_method_is_405_and_says_which_are_allowed() -> None:
    exchange = await Exchange().run("DELETE", "/v1/runs")

    assert (exchange.status, exchange.headers["allow"]) == (405, "GET, HEAD, POST")
    assert json.loads(exchange.body)["code"] == 12


async def test_a_handler_that_raises_is_500_and_reported() -> None:
    exchange = await Exchange().run("GET", "/broken")

    assert exchange.status == 500
    assert exchange.faults == ["http: a bug"]
    assert b"bug" not in exchange.body


async def test_a_body_in_chunks_is_read_whole() -> None:
    exchange = await Exchange(b"abc", b"def").run("POST", "/echo")

    assert exchange.body == b"abcdef"


async def test_a_body_over_the_limit_is_413() -> None:
    exchange = await Exchange(b"12345678", b"901", b"never read").run("POST", "/echo")

    assert exchange.status == 413
    assert len(exchange.incoming) == 2


async def test_a_body_that_is_declared_too_long_is_not_read_at_all() -> None:
    exchange = await Exchange(b"x" * 11).run("POST", "/echo", [(b"Content-Length", b"11")])

    assert exchange.status == 413
    assert len(exchange.incoming) == 2


async def test_a_client_that_goes_away_is_not_answered() -> None:
    exchange = await Exchange(b"abc", gone=True).run("POST", "/echo")

    assert exchange.sent == []
    assert exchange.faults == []


async def test_a_header_that_comes_twice_is_joined() -> None:
    seen: list[str] = []

    async def handler(request: Request) -> Response:
        seen.append(request.headers["accept"])
        return Response(204)

    exchange = Exchange()
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b""}
    scope["headers"] = [(b"Accept", b"a"), (b"accept", b"b")]
    await Application([Route("GET", "/", handler)], lambda *_: None)(scope, exchange.receive, exchange.send)

    assert seen == ["a, b"]


async def test_the_servers_start_and_stop_are_acknowledged() -> None:
    exchange = Exchange()
    exchange.incoming = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]

    await Application([], lambda *_: None)({"type": "lifespan"}, exchange.receive, exchange.send)

    assert [each["type"] for each in exchange.sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


async def test_a_websocket_is_closed() -> None:
    exchange = Exchange()

    await Application([], lambda *_: None)({"type": "websocket"}, exchange.receive, exchange.send)

    assert exchange.sent[0]["type"] == "websocket.close"
