"""The ASGI application that serves a table of routes.

Rule 1: a handler sees a `web.Request` and gives a `web.Response`; it never sees the server. Rule 2: a handler
that raises is answered with 500 and reported; nothing ends the server. Rule 3: a body is read only as far as
the handler's limit. Errors of this file have the body `{"code", "message"}` of a google.rpc.Status.
This file does not know what is served.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

from spanfuse_processor.web import BodyTooLarge, Handler, Request, Response, Route

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
OnFault = Callable[[str, BaseException], None]

# google.rpc codes
NOT_FOUND: Final = 5
RESOURCE_EXHAUSTED: Final = 8
UNIMPLEMENTED: Final = 12
INTERNAL: Final = 13


class ClientGone(Exception):
    """The client went away before its body was complete; there is nobody to answer."""


class Application:
    """Serves routes over ASGI 3. HEAD is answered like GET, without the body."""

    def __init__(self, routes: Iterable[Route], on_fault: OnFault) -> None:
        self._exact: dict[str, dict[str, Handler]] = {}
        self._prefixes: dict[str, dict[str, Handler]] = {}
        self._on_fault = on_fault
        for route in routes:
            table = self._prefixes if route.path.endswith("*") else self._exact
            table.setdefault(route.path.removesuffix("*"), {})[route.method] = route.handler

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One connection's worth of ASGI: a request, the server's life, or a refused upgrade."""
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1003})

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        request = _request(scope, receive)
        try:
            response = await self._handler(request)(request)
        except ClientGone:
            return
        except BodyTooLarge:
            response = failure(413, RESOURCE_EXHAUSTED, "the body is too large")
        except Exception as error:
            self._on_fault("http", error)
            response = failure(500, INTERNAL, "a fault of the processor")
        await _answer(response, send, with_body=request.method != "HEAD")

    def _handler(self, request: Request) -> Handler:
        methods = self._methods(request.path)
        if methods is None:
            return _always(failure(404, NOT_FOUND, f"nothing is served at {request.path[:200]}"))
        asked = "GET" if request.method == "HEAD" and "HEAD" not in methods else request.method
        handler = methods.get(asked) or methods.get("*")
        return handler or _always(_not_allowed(request.method, methods))

    def _methods(self, path: str) -> dict[str, Handler] | None:
        exact = self._exact.get(path)
        if exact is not None:
            return exact
        matching = [prefix for prefix in self._prefixes if path.startswith(prefix)]
        return self._prefixes[max(matching, key=len)] if matching else None


def failure(status: int, code: int, message: str, **headers: str) -> Response:
    """An error with the JSON body of a google.rpc.Status."""
    body = json.dumps({"code": code, "message": message}).encode()
    return Response(status, body, headers=headers)


def _not_allowed(method: str, methods: Iterable[str]) -> Response:
    allow = ", ".join(sorted({*methods, "HEAD"} if "GET" in methods else methods))
    return failure(405, UNIMPLEMENTED, f"{method[:20]} is not allowed, only {allow}", allow=allow)


def _always(response: Response) -> Handler:
    async def handler(_: Request) -> Response:
        return response

    return handler


def _request(scope: Message, receive: Receive) -> Request:
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    query = scope["query_string"].decode("latin-1")
    read = _reader(headers.get("content-length", ""), receive)
    return Request(scope["method"], scope["path"], query, headers, read)


def _reader(declared: str, receive: Receive) -> Callable[[int], Awaitable[bytes]]:
    """A function that reads the body once; what is declared too long is not read at all."""

    async def read(limit: int) -> bytes:
        if declared.isdecimal() and int(declared) > limit:
            raise BodyTooLarge
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            body += message.get("body", b"")
            if len(body) > limit:
                raise BodyTooLarge
            more = message.get("more_body", False)
        return bytes(body)

    return read


async def _answer(response: Response, send: Send, *, with_body: bool) -> None:
    headers = {
        "content-type": response.content_type,
        "content-length": str(len(response.body)),
        **response.headers,
    }
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": raw})
    await send({"type": "http.response.body", "body": response.body if with_body else b""})


async def _live(receive: Receive, send: Send) -> None:
    """The server's start and stop: nothing of ours depends on either."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
