"""Over either protocol, on real sockets: the same bytes arrive, and answers are understood."""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from tests.forwarding.backends import PROTOCOLS, Backend, Mood, over_grpc, over_http
from tests.processes import free_port

from spanfuse_processor.config_forward import Compression, Destination, Protocol
from spanfuse_processor.forwarding.answer import Outcome
from spanfuse_processor.forwarding.over_grpc import OverGrpc
from spanfuse_processor.forwarding.over_http import OverHttp
from spanfuse_processor.forwarding.sender import Sender
from spanfuse_processor.parcel import Parcel

both = pytest.mark.parametrize("protocol", ["grpc", "http"])
BUSY = {"grpc": 14, "http": 503}
BAD = {"grpc": 3, "http": 400}


@contextlib.contextmanager
def sending(protocol: str, endpoint: str, **settings: object) -> Iterator[Sender]:
    """A sender to there."""
    where = Destination(endpoint, Protocol(protocol), **settings)  # type: ignore[arg-type]
    made: Sender = OverGrpc(where, lambda parcel: parcel.body) if protocol == "grpc" else at(where)
    try:
        yield made
    finally:
        made.close()


def at(where: Destination, wall: float = 0.0) -> OverHttp:
    return OverHttp(where, lambda: wall)


@both
def test_the_same_bytes_arrive(protocol: str) -> None:
    body = bytes(range(256)) * 100
    with PROTOCOLS[protocol]() as backend, sending(protocol, backend.endpoint) as sender:
        answer = sender.send(Parcel(body), 5.0)

    assert answer.outcome is Outcome.TAKEN
    assert backend.taken == [body]


@both
def test_headers_go_along(protocol: str) -> None:
    headers = {"Authorization": "Bearer t", "x-scope-orgid": "7"}
    with PROTOCOLS[protocol]() as backend, sending(protocol, backend.endpoint, headers=headers) as sender:
        sender.send(Parcel(b""), 5.0)

    got = backend.got[0].headers
    assert (got["authorization"], got["x-scope-orgid"]) == ("Bearer t", "7")


@both
def test_a_busy_destination_says_when_to_come_again(protocol: str) -> None:
    backend = Backend([Mood(BUSY[protocol], wait="3")])
    with PROTOCOLS[protocol](backend), sending(protocol, backend.endpoint) as sender:
        answer = sender.send(Parcel(b"x"), 5.0)

    assert (answer.outcome, answer.wait) == (Outcome.AGAIN, 3.0)


@both
def test_bad_data_is_refused_for_good(protocol: str) -> None:
    backend = Backend([Mood(BAD[protocol])])
    with PROTOCOLS[protocol](backend), sending(protocol, backend.endpoint) as sender:
        assert sender.send(Parcel(b"x"), 5.0).outcome is Outcome.NEVER
        assert sender.send(Parcel(b"y"), 5.0).outcome is Outcome.TAKEN


@both
def test_a_partial_success_is_read(protocol: str) -> None:
    backend = Backend([Mood(rejected=2)])
    with PROTOCOLS[protocol](backend), sending(protocol, backend.endpoint) as sender:
        answer = sender.send(Parcel(b"x"), 5.0)

    assert (answer.outcome, answer.rejected, answer.words) == (Outcome.TAKEN, 2, "too old")


@both
def test_one_that_hangs_is_given_up_in_time(protocol: str) -> None:
    hold = threading.Event()
    backend = Backend([Mood(hold=hold)])
    with PROTOCOLS[protocol](backend), sending(protocol, backend.endpoint) as sender:
        answer = sender.send(Parcel(b"x"), 0.1)
        hold.set()

        assert answer.outcome is Outcome.AGAIN
        assert sender.send(Parcel(b"y"), 5.0).outcome is Outcome.TAKEN


@both
def test_one_that_is_not_there_may_be_there_later(protocol: str) -> None:
    port = free_port()
    with sending(protocol, f"http://127.0.0.1:{port}") as sender:
        assert sender.send(Parcel(b"x"), 1.0).outcome is Outcome.AGAIN


def test_one_that_hangs_up_without_a_word_is_asked_again() -> None:
    backend = Backend([Mood(), Mood(dies=True), Mood(dies=True)])
    with over_http(backend), sending("http", backend.endpoint) as sender:
        outcomes = [sender.send(Parcel(body), 5.0).outcome for body in (b"a", b"b", b"c")]

    assert outcomes == [Outcome.TAKEN, Outcome.AGAIN, Outcome.TAKEN]
    assert [each.body for each in backend.got] == [b"a", b"b", b"b", b"c"]


def test_a_connection_that_was_closed_meanwhile_costs_nothing() -> None:
    backend = Backend()
    with sending("http", f"http://127.0.0.1:{(port := free_port())}") as sender:
        backend.port = port
        for body in (b"a", b"b"):
            with over_http(backend):
                assert sender.send(Parcel(body), 5.0).outcome is Outcome.TAKEN

    assert backend.taken == [b"a", b"b"]


def test_over_http_a_body_keeps_its_type_and_its_encoding() -> None:
    packed = gzip.compress(b'{"resourceSpans": []}')
    with over_http() as backend, sending("http", backend.endpoint) as sender:
        sender.send(Parcel(packed, "application/json; charset=utf-8", "gzip"), 5.0)

    got = backend.got[0]
    assert (got.body, got.path) == (packed, "/v1/traces")
    assert got.headers["content-type"] == "application/json; charset=utf-8"
    assert got.headers["content-encoding"] == "gzip"


def test_over_http_what_came_over_grpc_is_protobuf_and_packed_where_that_is_wanted() -> None:
    with over_http() as backend:
        for compression in Compression:
            with sending("http", backend.endpoint, compression=compression) as sender:
                sender.send(Parcel(b"spans"), 5.0)
                sender.send(Parcel(b"as it came", "application/x-protobuf"), 5.0)

    plain, came, packed, came_again = backend.got
    assert (plain.body, plain.headers["content-type"]) == (b"spans", "application/x-protobuf")
    assert "content-encoding" not in plain.headers
    assert (gzip.decompress(packed.body), packed.headers["content-encoding"]) == (b"spans", "gzip")
    assert came.body == came_again.body == b"as it came"
    assert "content-encoding" not in came_again.headers


def test_over_grpc_bytes_are_packed_where_that_is_wanted() -> None:
    body, seen = b"x" * 1_000_000, []
    with over_grpc() as backend:
        for compression in (Compression.GZIP, Compression.NONE):
            with (
                counted(backend.port) as (port, passed),
                sending("grpc", f"http://127.0.0.1:{port}", compression=compression) as sender,
            ):
                sender.send(Parcel(body), 5.0)
            seen.append(sum(passed))

    assert backend.taken == [body, body]
    assert seen[0] < 50_000 < len(body) < seen[1]


@contextlib.contextmanager
def counted(port: int) -> Iterator[tuple[int, list[int]]]:
    """Another port for that one, and how many bytes were sent to it, piece by piece."""
    passed: list[int] = []

    def pump(source: socket.socket, sink: socket.socket, sizes: list[int]) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(65_536):
                sizes.append(len(piece))
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with listener.accept()[0] as near, socket.create_connection(("127.0.0.1", port)) as far:
            back = threading.Thread(target=pump, args=(far, near, []))
            back.start()
            pump(near, far, passed)
            back.join(5.0)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1], passed
        thread.join(5.0)


@pytest.mark.parametrize(
    ("path", "asked"),
    [("", "/v1/traces"), ("/", "/v1/traces"), ("/otlp/", "/otlp/v1/traces"), ("/v1/traces", "/v1/traces")],
)
def test_over_http_an_endpoint_is_what_comes_before_the_path(path: str, asked: str) -> None:
    with over_http() as backend, sending("http", f"{backend.endpoint}{path}") as sender:
        sender.send(Parcel(b"x"), 5.0)

    assert backend.got[0].path == asked


def test_over_http_a_redirect_is_not_followed() -> None:
    backend = Backend([Mood(307)])
    with over_http(backend), sending("http", backend.endpoint) as sender:
        assert sender.send(Parcel(b"x"), 5.0).outcome is Outcome.NEVER

    assert len(backend.got) == 1


@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_refusal_that_comes_before_all_is_read_is_one(hangs_up: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        refusing = threading.Thread(target=refuse_early, args=(listener, hangs_up))
        refusing.start()
        endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with sending("http", endpoint) as sender:
            outcome = sender.send(Parcel(bytes(20_000_000)), 5.0).outcome
        refusing.join(5.0)

    assert outcome is Outcome.NEVER


def refuse_early(listener: socket.socket, hangs_up: bool) -> None:
    """Says that it is too large after the head; hangs up, or takes the body without looking."""
    connection, _ = listener.accept()
    with connection:
        connection.recv(1024)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        while not hangs_up and connection.recv(65_536):
            continue


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    folder = tmp_path_factory.mktemp("pem")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2"]
    command += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return certificate, key


@contextlib.contextmanager
def secure(protocol: str, certificate: Path, key: Path) -> Iterator[str]:
    """A destination with TLS: its endpoint."""
    if protocol == "grpc":
        credentials = grpc.ssl_server_credentials([(key.read_bytes(), certificate.read_bytes())])
        opened = over_grpc(credentials=credentials)
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        opened = over_http(tls=context)
    with opened as backend:
        yield backend.endpoint.replace("http:", "https:")


@both
def test_over_tls_a_destination_shows_a_certificate_that_is_checked(
    protocol: str, pair: tuple[Path, Path]
) -> None:
    with secure(protocol, *pair) as endpoint:
        with sending(protocol, endpoint, ca_file=str(pair[0])) as sender:
            trusted = sender.send(Parcel(b"x"), 5.0).outcome
        with sending(protocol, endpoint) as sender:
            unknown = sender.send(Parcel(b"x"), 5.0).outcome

    assert (trusted, unknown) == (Outcome.TAKEN, Outcome.AGAIN)


@both
def test_a_file_of_authorities_that_is_not_there_is_an_error(protocol: str) -> None:
    with (
        pytest.raises(OSError, match="No such file"),
        sending(protocol, "https://127.0.0.1:1", ca_file="/no/such.pem"),
    ):
        pass
