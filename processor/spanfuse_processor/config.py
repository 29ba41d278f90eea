"""What an operator may set: frozen sections with their defaults, as one YAML file names them.

Rule 1: data only; files and the environment are read by `config_loading.py`. Rule 2: `policy` is the
engine's `Policy`, nothing in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spanfuse_processor.engine.policy import Policy


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the service listens. Plaintext beyond loopback needs `insecure: true`, or TLS."""

    host: str = "127.0.0.1"
    grpc_port: int = 4317
    http_port: int = 4318
    metrics_port: int = 9464
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files. With `client_ca_file` clients must show a certificate (gRPC)."""

    cert_file: str = ""
    key_file: str = ""
    client_ca_file: str = ""


@dataclass(frozen=True, slots=True)
class Auth:
    """Bearer tokens. No client tokens: clients need none. No admin token: one is made and left in a file."""

    client_tokens: tuple[str, ...] = ()
    admin_token: str = ""
    admin_token_file: str = ""


@dataclass(frozen=True, slots=True)
class Intake:
    """Limits of what is taken in, in bytes: one request after decompression, all that wait to be judged."""

    max_request_bytes: int = 64 * 1024 * 1024
    max_waiting_bytes: int = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Control:
    """The control channel: seconds between bookmarks, directives kept for resuming clients."""

    bookmark_seconds: float = 10.0
    retained: int = 1024


@dataclass(frozen=True, slots=True)
class Log:
    """Structured lines on stderr: level, and `text` or `json`."""

    level: str = "info"
    format: str = "text"


@dataclass(frozen=True, slots=True)
class Config:
    """Everything an operator may set. `fingerprint_key` keys the digests of foreign content."""

    listen: Listen = Listen()
    tls: Tls = Tls()
    auth: Auth = Auth()
    intake: Intake = Intake()
    control: Control = Control()
    log: Log = Log()
    fingerprint_key: str = ""
    policy: Policy = field(default_factory=Policy)
