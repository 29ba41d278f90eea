"""Where the processor is, and what may be said in plaintext."""

from __future__ import annotations

import subprocess
from pathlib import Path

import grpc
import pytest
from tests.library.stub_processor import BOUND, stub_processor

from spanfuse.errors import SettingsError
from spanfuse.link.channel import Link, Target, parse_target
from spanfuse_processor.auth import Tokens

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@pytest.mark.parametrize(
    ("endpoint", "target"),
    [
        ("127.0.0.1:4317", Target("127.0.0.1:4317", secure=False, local=True)),
        ("localhost", Target("localhost:4317", secure=False, local=True)),
        ("http://[::1]:5000", Target("[::1]:5000", secure=False, local=True)),
        ("https://localhost:4317/", Target("localhost:4317", secure=True, local=True)),
        ("processor.example:4317", Target("processor.example:4317", secure=True, local=False)),
        ("https://10.0.0.7", Target("10.0.0.7:4317", secure=True, local=False)),
        ("unix:/run/spanfuse.sock", Target("unix:/run/spanfuse.sock", secure=False, local=True)),
    ],
)
def test_an_endpoint_says_where_and_how(endpoint: str, target: Target) -> None:
    assert parse_target(endpoint) == target


@pytest.mark.parametrize("endpoint", ["http://processor.example:4317", "http://10.0.0.7"])
def test_plaintext_beyond_loopback_needs_the_flag(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="plaintext beyond loopback"):
        parse_target(endpoint)

    assert not parse_target(endpoint, insecure=True).secure


def test_the_flag_makes_plaintext_the_default_but_does_not_forbid_tls() -> None:
    assert not parse_target("processor.example:4317", insecure=True).secure
    assert parse_target("https://processor.example:4317", insecure=True).secure


@pytest.mark.parametrize("endpoint", ["", "host:port", ":4317", "ftp://host:1", "host:99999", "http://"])
def test_what_is_no_address_is_refused_by_name(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="no address"):
        parse_target(endpoint)


def test_the_token_goes_with_every_call() -> None:
    with stub_processor(tokens=Tokens(clients=["right"])) as processor:
        link = Link(parse_target(processor.endpoint), token="right")

        assert link.unary(EXPORT)(b"", timeout=BOUND) == b""

        link.close()


def test_a_link_can_be_used_again_after_it_was_closed() -> None:
    with stub_processor() as processor:
        link = Link(parse_target(processor.endpoint))
        link.unary(EXPORT)(b"", timeout=BOUND)
        link.close()

        link.unary(EXPORT)(b"", timeout=BOUND)

        link.close()
        assert len(processor.requests) == 2


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A key and a certificate for localhost, signed by itself."""
    folder = tmp_path_factory.mktemp("tls")
    key, pem = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subject = ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    arguments = [*command, *subject, "-keyout", str(key), "-out", str(pem)]
    subprocess.run(arguments, check=True, capture_output=True, timeout=30)
    return key, pem


def test_tls_with_an_authority_of_our_own(certificate: tuple[Path, Path]) -> None:
    key, pem = certificate
    credentials = grpc.ssl_server_credentials([(key.read_bytes(), pem.read_bytes())])
    with stub_processor(credentials=credentials) as processor:
        link = Link(parse_target(f"https://localhost:{processor.port}"), ca_file=str(pem))

        assert link.unary(EXPORT)(b"", timeout=BOUND) == b""

        link.close()


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(certificate: tuple[Path, Path]) -> None:
    key, pem = certificate
    credentials = grpc.ssl_server_credentials([(key.read_bytes(), pem.read_bytes())])
    with stub_processor(credentials=credentials) as processor:
        link = Link(parse_target(f"https://localhost:{processor.port}"))

        with pytest.raises(grpc.RpcError) as caught:
            link.unary(EXPORT)(b"", timeout=BOUND)

        link.close()
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
