"""Both transports on real sockets, in a thread of their own, with a fake taker of spans."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import grpc
import uvicorn

from spanfuse_processor.asgi import Application
from spanfuse_processor.auth import Tokens
from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.receiver.decoded import Decoded
from spanfuse_processor.receiver.intake import MAX_WAITING, Intake
from spanfuse_processor.receiver.onward import Onward
from spanfuse_processor.receiver.otlp_grpc import SERVICE, GrpcReceiver, server_options
from spanfuse_processor.receiver.otlp_http import HttpReceiver

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
BOUND = 10.0  # seconds that anything here may take


@dataclass
class Taker:
    """Takes spans. While `error` is set, each request is answered with it; `errors` are used up first."""

    spans: list[RawSpan] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    error: Exception | None = None

    async def ingest(self, part: Decoded) -> None:
        """The intake's taker."""
        error = self.errors.pop(0) if self.errors else self.error
        if error is not None:
            raise error
        self.spans += part.spans

    @property
    def names(self) -> list[str]:
        """The names of the spans, in order of arrival."""
        return [span.name for span in self.spans]


@dataclass
class Answer:
    """An HTTP answer, read whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Running:
    """A running receiver and the means to talk to it."""

    taker: Taker
    grpc: Intake
    http: Intake
    faults: list[BaseException]
    grpc_port: int = 0
    http_port: int = 0

    def export(self, payload: bytes, service: str = SERVICE, **options: object) -> bytes:
        """One raw gRPC export; raises grpc.RpcError."""
        with grpc.insecure_channel(f"127.0.0.1:{self.grpc_port}") as channel:
            answer: bytes = channel.unary_unary(f"/{service}/Export")(payload, timeout=BOUND, **options)
        return answer

    def refused(self, payload: bytes, service: str = SERVICE, **options: object) -> grpc.Call:
        """A raw gRPC export that must fail: its error."""
        try:
            self.export(payload, service, **options)
        except grpc.RpcError as error:
            assert isinstance(error, grpc.Call)
            return error
        raise AssertionError("it was accepted")

    def post(self, body: bytes, headers: Mapping[str, str], path: str = "/v1/traces") -> Answer:
        """One HTTP request."""
        return self.ask("POST", path, body, headers)

    def ask(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = PROTOBUF) -> Answer:
        """One HTTP request on a connection of its own."""
        with contextlib.closing(self.connection()) as connection:
            return ask(connection, method, path, body, headers)

    def connection(self) -> http.client.HTTPConnection:
        """A connection of its own; the caller closes it."""
        return http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=BOUND)


def ask(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes, headers: Mapping[str, str]
) -> Answer:
    """One request on a connection that stays open."""
    connection.request(method, path, body, dict(headers))
    response = connection.getresponse()
    return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())


@contextlib.contextmanager
def serving(
    tokens: Tokens | None = None,
    max_request: int = 8 << 20,
    taker: Taker | None = None,
    max_waiting: int = MAX_WAITING,
    onward: Onward | None = None,
) -> Iterator[Running]:
    """A receiver on ports of its own, for the length of a block."""
    faults: list[BaseException] = []
    taker = taker or Taker()
    over_grpc, over_http = (
        Intake(taker.ingest, tokens or Tokens(), lambda _, error: faults.append(error), max_waiting, onward)
        for _ in range(2)
    )
    running = Running(taker, over_grpc, over_http, faults)
    ready, stop = threading.Event(), threading.Event()
    main = _serve(running, max_request, ready, stop)
    thread = threading.Thread(target=asyncio.run, args=(main,), name="receiver")
    thread.start()
    try:
        assert ready.wait(BOUND)
        yield running
    finally:
        stop.set()
        thread.join(BOUND)


async def _serve(running: Running, max_request: int, ready: threading.Event, stop: threading.Event) -> None:
    server = grpc.aio.server(options=server_options(max_request))
    server.add_generic_rpc_handlers((GrpcReceiver(running.grpc).handler(),))
    running.grpc_port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running.http_port = listener.getsockname()[1]
        web = _web_server(running, max_request)
        serving_http = asyncio.create_task(web.serve(sockets=[listener]))
        ready.set()
        await asyncio.to_thread(stop.wait)
        web.should_exit = True
        await serving_http
    await server.stop(grace=0)


def _web_server(running: Running, max_request: int) -> uvicorn.Server:
    routes = HttpReceiver(running.http, max_request).routes()
    application = Application(routes, lambda _, error: running.faults.append(error))
    return uvicorn.Server(uvicorn.Config(application, lifespan="off", log_config=None, ws="none"))
