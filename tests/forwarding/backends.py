"""Destinations with a mind of their own, on real sockets: OTLP/gRPC and OTLP/HTTP.

Rule: a request is answered by what stands first in `moods`, and well when nothing does. Everything that was
accepted or refused is kept as it came.
"""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from google.rpc.error_details_pb2 import RetryInfo
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"
BOUND = 10.0  # seconds that anything here may take


@dataclass
class Mood:
    """How one request is answered.

    `status` is an HTTP status, or the number of a gRPC code; `wait` are the seconds that it asks for. `hold`
    keeps the sender waiting until it is set; with `dies` there is no answer at all.
    """

    status: int = 0
    wait: str = ""
    rejected: int = 0
    hold: threading.Event | None = None
    dies: bool = False


@dataclass
class Got:
    """A request, as it came."""

    body: bytes
    headers: Mapping[str, str]
    path: str = ""


@dataclass
class Backend:
    """What a destination got, and how it goes on. `taken` are the bodies that were answered well."""

    moods: list[Mood] = field(default_factory=list)
    always: Mood = field(default_factory=Mood)
    got: list[Got] = field(default_factory=list)
    taken: list[bytes] = field(default_factory=list)
    port: int = 0

    def mood(self, got: Got) -> Mood:
        """For the request at hand."""
        self.got.append(got)
        mood = self.moods.pop(0) if self.moods else self.always
        if mood.hold is not None:
            mood.hold.wait(BOUND)
        if not mood.status and not mood.dies:
            self.taken.append(got.body)
        return mood

    @property
    def endpoint(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"


def receipt(rejected: int) -> bytes:
    """An ExportTraceServiceResponse."""
    made = ExportTraceServiceResponse()
    if rejected:
        made.partial_success.rejected_spans = rejected
        made.partial_success.error_message = "too old"
    return made.SerializeToString()


@contextlib.contextmanager
def over_grpc(
    backend: Backend | None = None, credentials: grpc.ServerCredentials | None = None
) -> Iterator[Backend]:
    """A destination that speaks gRPC, on `backend.port` where that is set."""
    backend = backend or Backend()

    def export(payload: bytes, context: grpc.ServicerContext) -> bytes:
        headers = {key: str(value) for key, value in context.invocation_metadata() or ()}
        mood = backend.mood(Got(payload, headers))
        if mood.wait:
            info = RetryInfo()
            info.retry_delay.FromMilliseconds(int(float(mood.wait) * 1000))
            context.set_trailing_metadata((("google.rpc.retryinfo-bin", info.SerializeToString()),))
        if mood.dies:
            context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
        if mood.status:
            code = next(each for each in grpc.StatusCode if each.value[0] == mood.status)
            context.abort(code, "not now")
        return receipt(mood.rejected)

    pool = ThreadPoolExecutor(8)
    server = grpc.server(pool, options=[("grpc.so_reuseport", 0)])
    handler = grpc.unary_unary_rpc_method_handler(export)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Export": handler}),))
    address = f"127.0.0.1:{backend.port}"
    if credentials is None:
        backend.port = server.add_insecure_port(address)
    else:
        backend.port = server.add_secure_port(address, credentials)
    server.start()
    try:
        yield backend
    finally:
        server.stop(0).wait(BOUND)
        pool.shutdown()


@contextlib.contextmanager
def over_http(backend: Backend | None = None, tls: ssl.SSLContext | None = None) -> Iterator[Backend]:
    """A destination that speaks HTTP, on `backend.port` where that is set."""
    backend = backend or Backend()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # noqa: N802
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {key.lower(): value for key, value in self.headers.items()}
            mood = backend.mood(Got(body, headers, self.path))
            if mood.dies:
                self.close_connection = True
                return
            said = receipt(mood.rejected)
            self.send_response(mood.status or 200)
            self.send_header("content-length", str(len(said)))
            if mood.wait:
                self.send_header("retry-after", mood.wait)
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = Server(("127.0.0.1", backend.port), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    backend.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield backend
    finally:
        server.shutdown()
        thread.join(BOUND)
        server.hang_up()
        server.server_close()


class Server(ThreadingHTTPServer):
    """Hangs up on everybody when it ends, as a process does."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.open: list[Any] = []

    def process_request(self, request: Any, client_address: Any) -> None:
        """Notes who is connected."""
        self.open.append(request)
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever hangs up on us may."""

    def hang_up(self) -> None:
        """Ends every connection."""
        for each in self.open:
            with contextlib.suppress(OSError):
                each.shutdown(2)


Opened = Callable[..., contextlib.AbstractContextManager[Backend]]
PROTOCOLS: Mapping[str, Opened] = {"grpc": over_grpc, "http": over_http}
