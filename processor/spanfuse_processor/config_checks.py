"""What no field of the configuration can know by itself: whether they go together, and mean anything.

Rule 1: what is wrong is refused with a word on what to do, and with the fields to be changed; where these
stand is for whoever read them. Rule 2: nothing is opened, nobody is asked. Rule 3: what the service would
refuse when it starts is refused here, where it can be known from the configuration alone.
"""

from __future__ import annotations

import base64
import dataclasses
import ipaddress
import re
from collections.abc import Callable
from itertools import combinations
from typing import Final
from urllib.parse import SplitResult, urlsplit

from spanfuse_processor.config import Alerts, Config, Intake, Listen, Storage, Tls
from spanfuse_processor.config_forward import DEFAULT, Destination, Forward, Protocol

Field = tuple[str, str]
"""A field of a section."""

Refuse = Callable[..., object]
"""`refuse(problem, *fields)`: one of these fields is wrong. It may return."""

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
DOORS: Final = ("grpc_port", "http_port", "metrics_port")
SCHEMES: Final = ("memory", "sqlite", "redis", "rediss", "postgresql")
"""With which the URL of a store begins."""

ENCODED: Final = "whsec_"
"""Before a secret that is written in base64."""

_NEAR: Final = {"postgres": "postgresql", "postgresql+psycopg": "postgresql", "sqlite3": "sqlite"}
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HEADER: Final = re.compile(r"[A-Za-z0-9_.-]+")
_HOST: Final = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?")


def check(config: Config, refuse: Refuse) -> None:
    """Refuses what does not go together, or means nothing."""
    _check_listening(config.listen, config.tls, refuse)
    if "" in map(str.strip, config.auth.client_tokens):
        refuse("an empty token is none: leave it out, or set one", ("auth", "client_tokens"))
    _check_intake(config.intake, refuse)
    _check_store(config.store, refuse)
    _check_webhook(config.alerts, refuse)
    if config.alerts.alertmanager_token and config.alerts.alertmanager_token in config.auth.client_tokens:
        problem = "it is a client's token: whoever sends spans could order stops"
        refuse(problem, ("alerts", "alertmanager_token"), ("auth", "client_tokens"))
    _check_forward(config.forward, config.listen, refuse)


def _check_listening(listen: Listen, tls: Tls, refuse: Refuse) -> None:
    certified = bool(tls.cert_file and tls.key_file)
    if tls != Tls() and not certified:
        set_ones = [("tls", f.name) for f in dataclasses.fields(tls) if getattr(tls, f.name)]
        refuse("cert_file and key_file go together, client_ca_file with both", *set_ones)
    if not _is_host(listen.host):
        refuse(f"{listen.host!r} is no address or name of a host: write it without port", ("listen", "host"))
    elif listen.host not in LOOPBACK and not certified and not listen.insecure:
        problem = f"{listen.host} is beyond loopback: set tls.cert_file and tls.key_file, or listen.insecure"
        refuse(problem, ("listen", "host"))
    for one, other in combinations(DOORS, 2):
        if getattr(listen, one) == getattr(listen, other):
            problem = f"{one} and {other} are both {getattr(listen, one)}: one door, one port"
            refuse(problem, ("listen", one), ("listen", other))


def _is_host(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return bool(_HOST.fullmatch(text))
    return True


def _check_intake(intake: Intake, refuse: Refuse) -> None:
    if intake.max_waiting_bytes < intake.max_request_bytes:
        problem = (
            f"max_waiting_bytes ({intake.max_waiting_bytes}) has to hold one request of max_request_bytes "
            f"({intake.max_request_bytes})"
        )
        refuse(problem, ("intake", "max_waiting_bytes"), ("intake", "max_request_bytes"))


def _check_store(store: Storage, refuse: Refuse) -> None:
    if store.path and store.url:
        refuse("one of path and url, not both", ("store", "path"), ("store", "url"))
    for name in ("url", "ledger_url"):
        if problem := _no_store(getattr(store, name)):
            refuse(problem, ("store", name))


def _no_store(url: str) -> str:
    """What is wrong with the URL of a store, without its password."""
    scheme, colon, rest = url.partition(":")
    if not url:
        return ""
    if scheme not in SCHEMES or not colon:
        near = f": did you mean {_NEAR[scheme]}?" if scheme in _NEAR else ""
        shown = repr(scheme) if colon else "this"
        return f"no store is called {shown}{near or ';'} a URL begins with one of {', '.join(SCHEMES)}"
    if scheme == "sqlite":
        return "" if rest else "which file? write sqlite:PATH"
    if scheme != "memory" and not rest.startswith("//"):
        return f"write {scheme}://HOST..."
    return "" if scheme == "memory" or _split(url) else "no address of a server: look at its host and port"


def _check_webhook(alerts: Alerts, refuse: Refuse) -> None:
    if alerts.webhook_url and not _is_webhook(alerts.webhook_url):
        refuse("no address of a webhook: write http://... or https://...", ("alerts", "webhook_url"))
    if alerts.webhook_secret.startswith(ENCODED):
        try:
            key = base64.b64decode(alerts.webhook_secret.removeprefix(ENCODED), validate=True)
        except ValueError:
            key = b""
        if not key:
            refuse(f"what follows {ENCODED} has to be base64", ("alerts", "webhook_secret"))


def _check_forward(forward: Forward, listen: Listen, refuse: Refuse) -> None:
    if forward.headers and not forward.endpoint:
        refuse("headers without an endpoint go nowhere", ("forward", "headers"))
    for name, each in forward.everywhere().items():
        by_itself = name == DEFAULT and forward.endpoint
        where = ("forward",) if by_itself else ("forward", "destinations", name)
        if not _NAME.fullmatch(name):
            refuse(f"{name!r} is no name: write letters, digits, _ and -", where)
        if problem := _no_endpoint(each, listen):
            refuse(problem, (*where, "endpoint"))
        if each.ca_file and not each.endpoint.startswith("https:"):
            refuse("ca_file is for an https endpoint", (*where, "ca_file"))
        for header, text in each.headers.items():
            if not _can_be_sent(header.lower(), text):
                refuse(f"{header!r} is no header that can be sent", (*where, "headers"))


def _can_be_sent(header: str, text: str) -> bool:
    """Whether a header is text over HTTP and over gRPC, and does not say what OTLP itself says."""
    named = _HEADER.fullmatch(header) and not header.startswith(("content-", "grpc-"))
    return bool(named) and not header.endswith("-bin") and text.isascii() and text.isprintable()


def _no_endpoint(destination: Destination, listen: Listen) -> str:
    """What keeps spans from being sent there."""
    if not _is_webhook(destination.endpoint):
        return "no address of a destination: write http://HOST:PORT or https://HOST:PORT"
    parts = urlsplit(destination.endpoint)
    if parts.hostname in {*LOOPBACK, listen.host} and parts.port in (listen.grpc_port, listen.http_port):
        return "this is the service itself: what it receives would come back for ever"
    if destination.protocol is Protocol.GRPC and parts.path.strip("/"):
        return "over gRPC an endpoint has no path: leave it out, or set protocol: http"
    return ""


def _is_webhook(url: str) -> bool:
    """Whether something can be posted there: names and passwords before a host are not understood."""
    parts = _split(url)
    printable = url.isascii() and url.isprintable() and " " not in url
    known = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)
    return printable and known and parts is not None and parts.username is None


def _split(url: str) -> SplitResult | None:
    """The parts of a URL; None where host or port are none."""
    try:
        parts = urlsplit(url)
        return parts if parts.port is None or parts.port > 0 else None
    except ValueError:
        return None
