"""The process that makes the page and serves it: asks the service for rows when somebody scrapes.

Rule 1: it ends when the service does, however that ends: then the socket between them is closed. Rule 2: one
page at a time is made, and whoever is slow to ask or to listen holds nobody up. Rule 3: nothing is said of a
scraper that went away; one that asks for a page that cannot be had hears so (503). It knows no engine.
"""

from __future__ import annotations

import gzip
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client.core import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry

from spanfuse_processor.telemetry.exposition.families import families
from spanfuse_processor.telemetry.exposition.slices import ASK, END, FAILED, HEAD, unpacked
from spanfuse_processor.telemetry.metrics import metric
from spanfuse_processor.telemetry.tally import Row, single

PATIENCE: Final = 10.0
"""Seconds that the service may take to answer, and a scraper to ask and to listen."""


class NoAnswer(Exception):
    """The service does not say how it is."""


class Asking:
    """Asks at the other end of a socket. When that is closed, `gone` is called, on a thread of its own."""

    def __init__(self, control: socket.socket, gone: Callable[[], object]) -> None:
        self._control = control
        self._gone = gone
        self._asked = self._answered = 0
        self._answer: list[Row] | None = None
        self._bell = threading.Condition()
        threading.Thread(target=self._listen, name="spanfuse-rows", daemon=True).start()

    def rows(self) -> list[Row]:
        """All rows. One at a time asks.

        Raises:
            NoAnswer: the service has failed to answer, or takes too long.
        """
        with self._bell:
            self._asked += 1
            number = self._asked
            self._control.sendall(ASK)
            if not self._bell.wait_for(lambda: self._answered >= number, PATIENCE):
                raise NoAnswer("the service does not answer")
            if self._answer is None:
                raise NoAnswer("the service could not answer")
            return self._answer

    def _listen(self) -> None:
        try:
            with self._control.makefile("rb") as answers:
                rows: list[Row] = []
                while head := answers.read(HEAD.size):
                    if head in (END, FAILED):
                        self._done(rows if head == END else None)
                        rows = []
                    else:
                        rows += unpacked(answers.read(*HEAD.unpack(head)))
        except (OSError, ValueError, EOFError):  # cut off in the middle
            pass
        finally:
            self._gone()

    def _done(self, rows: list[Row] | None) -> None:
        with self._bell:
            self._answered += 1
            self._answer = rows
            self._bell.notify_all()


class Page(Collector):
    """The families of what is asked for, and two of the page's own."""

    def __init__(self, read: Callable[[], list[Row]]) -> None:
        self._read = read
        self.took = 0.0  # seconds that the page before took

    def collect(self) -> Iterator[Family]:
        """All families."""
        own = [single(metric("exposition_seconds").name, self.took), single(metric("series").name, 0)]
        made = families([*self._read(), *own])
        series = sum(len(family.samples) for family in made)
        last = next(family for family in made if family.name == metric("series").name)
        last.samples[:] = [last.samples[0]._replace(value=series)]
        return iter(made)


def application(read: Callable[[], list[Row]]) -> Callable[..., Iterable[bytes]]:
    """The page as a WSGI application; one request at a time is worked on."""
    page, registry, turn = Page(read), CollectorRegistry(), threading.Lock()
    registry.register(page)

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        write, kind = choose_encoder(environ.get("HTTP_ACCEPT", ""))
        with turn:
            began = time.perf_counter()
            try:
                body = write(registry)
            except NoAnswer as error:
                start_response("503 Service Unavailable", [("Content-Type", "text/plain; charset=utf-8")])
                return [f"{error}\n".encode()]
            page.took = time.perf_counter() - began
        fields = [("Content-Type", kind)]
        if "gzip" in environ.get("HTTP_ACCEPT_ENCODING", ""):
            body = gzip.compress(body, compresslevel=1)  # a higher one takes a fifth of the time of a page
            fields.append(("Content-Encoding", "gzip"))
        start_response("200 OK", fields)
        return [body]

    return answer


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is said of requests."""


class Server(ThreadingMixIn, WSGIServer):
    """Serves an application on a socket that listens, over TLS where there is a certificate."""

    daemon_threads = True

    def __init__(
        self, listening: socket.socket, serve: Callable[..., Any], tls: ssl.SSLContext | None
    ) -> None:
        address = listening.getsockname()
        super().__init__(address, _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self._tls = tls
        self.server_name, self.server_port = str(address[0]), int(address[1])
        self.setup_environ()
        self.set_app(serve)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Serves one request, on its own thread: greeting a slow client over TLS holds nobody up."""
        if self._tls is None:
            super().finish_request(request, client_address)
            return
        request.settimeout(PATIENCE)
        with self._tls.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A scraper went away."""


def context(cert_file: str, key_file: str) -> ssl.SSLContext | None:
    """TLS by these files; None: there are none."""
    if not cert_file:
        return None
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.load_cert_chain(cert_file, key_file)
    return made


def main(listening: int, control: int, cert_file: str, key_file: str) -> None:
    """Serves on the first of two sockets that were inherited, asks on the second; until that is closed."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it may be sent to all processes
    asking = Asking(socket.socket(fileno=control), lambda: os._exit(0))
    Server(
        socket.socket(fileno=listening), application(asking.rows), context(cert_file, key_file)
    ).serve_forever()
