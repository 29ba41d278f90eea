"""The way to the processor: where it is, and the one gRPC channel that leads there.

Rule 1: plaintext on loopback only, or where the developer said so. Rule 2: grpc is imported when the channel
is first needed, by the thread that needs it. Rule 3: a channel belongs to one process: the child of a fork
neither uses nor ends its parent's. It does not know what is said over it.
"""

from __future__ import annotations

import functools
import ipaddress
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakSet

from spanfuse.errors import SettingsError
from spanfuse.telemetry import library_version

if TYPE_CHECKING:
    import grpc

DEFAULT_PORT = 4317


@dataclass(frozen=True, slots=True)
class Target:
    """Where the processor listens: an address as gRPC takes it, over TLS or not, in this machine or not."""

    address: str
    secure: bool
    local: bool


def parse_target(endpoint: str, insecure: bool = False) -> Target:
    """Reads `host:port`, `http://host:port`, `https://host:port` or `unix:path`.

    Without a scheme: plaintext on loopback, TLS elsewhere unless `insecure`.

    Raises:
        SettingsError: not an address, or plaintext beyond loopback without `insecure`.
    """
    if endpoint.startswith("unix:"):
        return Target(endpoint, secure=False, local=True)
    scheme, host, port = _split(endpoint)
    local = _is_loopback(host)
    secure = scheme == "https" or (not scheme and not local and not insecure)
    if not secure and not local and not insecure:
        raise SettingsError(
            f"endpoint {endpoint!r} is plaintext beyond loopback: use https://, or allow it with insecure"
        )
    shown = f"[{host}]" if ":" in host else host
    return Target(f"{shown}:{port}", secure, local)


def _split(endpoint: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(endpoint if "://" in endpoint else f"//{endpoint}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SettingsError(f"endpoint {endpoint!r} is no address: {error}") from None
    if not host or parts.scheme not in ("", "http", "https"):
        raise SettingsError(f"endpoint {endpoint!r} is no address: use host:port or http(s)://host:port")
    return parts.scheme, host, port or DEFAULT_PORT


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class Link:
    """One channel to the processor, opened on first use. Threads may share it."""

    def __init__(self, target: Target, token: str = "", ca_file: str = "") -> None:
        self.target = target
        self._token = token
        self._ca_file = ca_file
        self._channel: grpc.Channel | None = None
        self._lock = threading.Lock()
        _links.add(self)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes with every call: the token."""
        return (("authorization", f"Bearer {self._token}"),) if self._token else ()

    def unary(self, method: str) -> Callable[..., bytes]:
        """A unary method, bytes in and bytes out; `timeout=` in seconds. Errors are `grpc.RpcError`."""
        return self._with_metadata(self._open().unary_unary(method, None, None))

    def stream(self, method: str) -> Callable[..., Any]:
        """A method that answers with a stream of bytes: an iterator, which any thread may `cancel()`."""
        return self._with_metadata(self._open().unary_stream(method, None, None))

    def close(self) -> None:
        """Ends whatever is under way. A later use opens a new channel."""
        with self._lock:
            channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()

    def leave_to_parent(self) -> None:
        """In the child of a fork: the channel stays as it is, for even to drop it may hang there."""
        self._lock = threading.Lock()
        _parents.append(self._channel)
        self._channel = None

    def _with_metadata(self, call: Any) -> Callable[..., Any]:
        return functools.partial(call, metadata=self.metadata)

    def _open(self) -> grpc.Channel:
        with self._lock:
            if self._channel is None:
                self._channel = self._connect()
            return self._channel

    def _connect(self) -> grpc.Channel:
        import grpc

        if not self.target.secure:
            return grpc.insecure_channel(self.target.address, options=_options(self.target))
        roots = Path(self._ca_file).read_bytes() if self._ca_file else None
        credentials = grpc.ssl_channel_credentials(root_certificates=roots)
        return grpc.secure_channel(self.target.address, credentials, options=_options(self.target))


def _options(target: Target) -> list[tuple[str, str | int]]:
    """Loss is noticed soon and a return sooner; proxies are for what is far away."""
    return [
        # The processor allows a ping each 10 s.
        ("grpc.keepalive_time_ms", 12_000),
        ("grpc.keepalive_timeout_ms", 5_000),
        # How long one attempt to connect may take, then the pauses between attempts: TCP's answer on a
        # closed port is immediate, so this is how soon after its return a processor is found again.
        ("grpc.min_reconnect_backoff_ms", 2_000),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1_000),
        ("grpc.use_local_subchannel_pool", 1),  # nothing shared with other channels of the application
        ("grpc.service_config_disable_resolution", 1),  # no DNS TXT look-up for each connect
        ("grpc.enable_retries", 0),  # what is tried again is decided here, where it is counted
        ("grpc.enable_http_proxy", 0 if target.local else 1),
        ("grpc.primary_user_agent", f"spanfuse/{library_version()}"),
        # The thread that reads a stream waits for it itself: one hand-over between threads less.
        ("SingleThreadedUnaryStream", 1),
    ]


_links: WeakSet[Link] = WeakSet()
_parents: list[object] = []
"""Channels of the processes that this one was forked from."""


def _after_fork() -> None:
    for link in list(_links):
        link.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
