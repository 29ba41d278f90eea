"""How operators' commands reach the admin endpoint: URL, token, one request, a clear error.

Rule 1: the token comes from the argument, the environment or the configuration, else from the file that the
service left for its own user. Rule 2: every failure is one `AdminError` that says what to do.
"""

from __future__ import annotations

import argparse
import getpass
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from spanfuse_processor import admin_token
from spanfuse_processor.config import Config
from spanfuse_processor.config_checks import LOOPBACK
from spanfuse_processor.config_loading import ConfigError, admin_token_path, admin_url, load_config

TIMEOUT = 10.0  # seconds
_NO_EFFECT = {404, 409}  # no refusals: the answer says what there was to act on


class AdminError(Exception):
    """The service could not be asked, or refused."""


class NothingThere(AdminError):
    """The service knows nothing that goes by this name."""


class Unreachable(AdminError):
    """No service answers, or there is no token to ask it with."""


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    """`--config`, `--url`, `--token`, `--ca-file`."""
    parser.add_argument("--config", help="the service's configuration file (ports, token)")
    parser.add_argument(
        "--url", help="the admin endpoint (default SPANFUSE_ADMIN_URL or http://127.0.0.1:4318)"
    )
    parser.add_argument(
        "--token", help="the operator's token (default SPANFUSE_ADMIN_TOKEN or the service's file)"
    )
    parser.add_argument("--ca-file", help="PEM file of the authority that signed the service's certificate")


def settings(arguments: argparse.Namespace) -> Config:
    """The configuration of the service that is meant. A port that `--url` or the environment names on this
    machine is its HTTP port: what the service has left here is found by it.

    Raises:
        AdminError: the configuration is bad.
    """
    try:
        config = load_config(arguments.config)
    except ConfigError as error:
        raise AdminError(str(error)) from None
    port = _port_here(arguments.url or admin_url(config))
    return replace(config, listen=replace(config.listen, http_port=port)) if port else config


def _port_here(url: str) -> int | None:
    try:
        parts = urlsplit(url)
        return parts.port if parts.hostname in LOOPBACK else None
    except ValueError as error:
        raise AdminError(f"{url} is no address of a service: {error}") from None


def post(arguments: argparse.Namespace, path: str, body: dict[str, str]) -> dict[str, Any]:
    """Sends one order. Returns the answer's object.

    Raises:
        AdminError: unreachable, no token, refused or of no effect; the message says which.
    """
    return _ask(arguments, path, json.dumps(body).encode())


def get(arguments: argparse.Namespace, path: str) -> dict[str, Any]:
    """Asks for what is there. Returns the answer's object.

    Raises:
        AdminError: unreachable, no token, or refused; the message says which.
    """
    return _ask(arguments, path)


def _ask(arguments: argparse.Namespace, path: str, body: bytes | None = None) -> dict[str, Any]:
    """One request: a POST when there is a body, else a GET."""
    url, token = _where(arguments)
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {token}",
        "X-Spanfuse-Operator": _who(),
    }
    request = urllib.request.Request(url + path, body, headers)
    context = ssl.create_default_context(cafile=arguments.ca_file) if url.startswith("https") else None
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT, context=context) as answer:
            return dict(json.loads(answer.read() or b"{}"))
    except urllib.error.HTTPError as error:
        kind = NothingThere if error.code == 404 else AdminError
        raise kind(_refusal(error)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise Unreachable(f"no service answers at {url}: {reason}") from None


def _where(arguments: argparse.Namespace) -> tuple[str, str]:
    config = settings(arguments)
    url = (arguments.url or admin_url(config)).rstrip("/")
    token = arguments.token or config.auth.admin_token or admin_token.find(admin_token_path(config))
    if not token:
        raise Unreachable(
            "no operator token: set SPANFUSE_ADMIN_TOKEN, or run as the user of the service "
            f"(looked in {admin_token_path(config)})"
        )
    return url, token


def _who() -> str:
    """Who gives the order, for the audit: the user of this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user id without a name
        return "operator"


def _refusal(error: urllib.error.HTTPError) -> str:
    try:
        detail = json.loads(error.read() or b"{}").get("message", "")
    except (ValueError, AttributeError):
        detail = ""
    if detail and error.code in _NO_EFFECT:
        return str(detail)
    return f"refused with {error.code}: {detail or error.reason}"
