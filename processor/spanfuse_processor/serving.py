"""The doors of the service: two gRPC services on one port, HTTP, metrics; TLS; the signals that end it.

Rule 1: a door that cannot be opened is a StartError that names the address and the setting; nothing is half
open. Rule 2: a port belongs to one processor: a second one says so instead of taking half of the spans.
It knows what to serve, never what it means.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import uvicorn

from spanfuse_processor import admin_token
from spanfuse_processor.asgi import Application
from spanfuse_processor.config import Config
from spanfuse_processor.receiver.otlp_grpc import server_options
from spanfuse_processor.telemetry.exposition.page import OnFault, Page, Rows

GRACE = 2.0  # seconds that calls in progress get when the service stops
BACKLOG = 64  # scrapers that may wait


class StartError(Exception):
    """The service cannot start; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What is served where."""

    grpc: tuple[grpc.GenericRpcHandler[Any, Any], ...]
    http: Application
    metrics: Rows
    on_fault: OnFault


class Serving:
    """Opens the doors, waits for the signal, closes them. `hang_up` is called at SIGHUP."""

    def __init__(self, config: Config, doors: Doors, hang_up: Callable[[], None]) -> None:
        self._config = config
        self._doors = doors
        self._hang_up = hang_up
        self._stopping = asyncio.Event()
        self._grpc: grpc.aio.Server | None = None
        self._http: _Http | None = None
        self._http_task: asyncio.Task[None] | None = None
        self._page: Page | None = None

    async def start(self) -> None:
        """Opens every door; raises StartError and closes again when one cannot be opened."""
        try:
            await self._open_grpc()
            self._open_metrics()
            await self._open_http()
        except BaseException:
            await self.stop()
            raise
        if threading.current_thread() is threading.main_thread():  # else the signals are somebody else's
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.ask_to_stop)
            loop.add_signal_handler(signal.SIGHUP, self._hang_up)

    def ask_to_stop(self) -> None:
        """Has `until_told_to_stop` return. On the loop's own thread."""
        self._stopping.set()

    async def until_told_to_stop(self) -> None:
        """Returns after SIGTERM, SIGINT or `ask_to_stop`, or when the HTTP server ended by itself."""
        assert self._http_task is not None
        told = asyncio.create_task(self._stopping.wait())
        await asyncio.wait({told, self._http_task}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()

    async def stop(self) -> None:
        """Closes the doors: no new calls, those in progress get a moment."""
        if self._http is not None and self._http_task is not None:
            self._http.should_exit = True
            await asyncio.wait({self._http_task}, timeout=GRACE + 1)
        if self._grpc is not None:
            await self._grpc.stop(GRACE)
        if self._page is not None:
            await self._page.stop()

    def addresses(self) -> dict[str, str]:
        """Where the service listens."""
        listen = self._config.listen
        return {
            "grpc": f"{listen.host}:{listen.grpc_port}",
            "http": f"{listen.host}:{listen.http_port}",
            "metrics": f"{listen.host}:{listen.metrics_port}",
        }

    async def _open_grpc(self) -> None:
        address = self.addresses()["grpc"]
        options = [*server_options(self._config.intake.max_request_bytes), ("grpc.so_reuseport", 0)]
        _socket(self._config.listen.host, self._config.listen.grpc_port, "listen.grpc_port").close()
        self._grpc = grpc.aio.server(options=options)
        self._grpc.add_generic_rpc_handlers(self._doors.grpc)
        try:
            if self._config.tls.cert_file:
                self._grpc.add_secure_port(address, self._credentials())
            else:
                self._grpc.add_insecure_port(address)
        except RuntimeError:
            raise _taken(address, "listen.grpc_port") from None
        await self._grpc.start()

    def _credentials(self) -> grpc.ServerCredentials:
        tls = self._config.tls
        pair = (_pem(tls.key_file, "tls.key_file"), _pem(tls.cert_file, "tls.cert_file"))
        authority = _pem(tls.client_ca_file, "tls.client_ca_file") if tls.client_ca_file else None
        return grpc.ssl_server_credentials([pair], authority, authority is not None)

    def _open_metrics(self) -> None:
        listen, tls, doors = self._config.listen, self._config.tls, self._doors
        opened = _socket(listen.host, listen.metrics_port, "listen.metrics_port")
        opened.listen(BACKLOG)
        self._page = Page(opened, doors.metrics, doors.on_fault, (tls.cert_file, tls.key_file))
        self._page.start()

    async def _open_http(self) -> None:
        listen, tls = self._config.listen, self._config.tls
        opened = _socket(listen.host, listen.http_port, "listen.http_port")
        config = uvicorn.Config(
            self._doors.http,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            server_header=False,
            date_header=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=int(GRACE),
            ssl_certfile=tls.cert_file or None,
            ssl_keyfile=tls.key_file or None,
        )
        self._http = _Http(config)
        self._http_task = asyncio.create_task(self._http.serve([opened]))
        while not self._http.started and not self._http_task.done():
            await asyncio.sleep(0.005)
        if self._http_task.done():
            raise StartError(f"HTTP cannot be served: {self._http_task.exception()}")


class _Http(uvicorn.Server):
    """Uvicorn inside our loop: the signals are ours."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves the process's signal handlers alone."""
        yield


def leave_token(path: Path, token: str) -> None:
    """Leaves the operator's token where commands find it, once the doors are open.

    Raises:
        StartError: it cannot be written there.
    """
    try:
        admin_token.publish(path, token)
    except OSError as error:
        raise StartError(
            f"the operator's token cannot be left at {path}: {error.strerror or error}; set "
            "SPANFUSE_ADMIN_TOKEN, or SPANFUSE_ADMIN_TOKEN_FILE to a path that can be written"
        ) from None


def _socket(host: str, port: int, setting: str) -> socket.socket:
    """The port, bound; whoever cannot have it hears so in our words."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except OSError:
        opened.close()
        raise _taken(f"{host}:{port}", setting) from None
    return opened


def _taken(address: str, setting: str) -> StartError:
    return StartError(f"{address} is taken or not ours: end what listens there, or change {setting}")


def _pem(path: str, setting: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise StartError(f"{setting} {path} cannot be read: {error.strerror}") from None
