"""A webhook on loopback that is told of budgets, and believes only what is signed.

Rule 1: signatures are checked as the Standard Webhooks convention says, from the bytes that came and with
nothing of the sender's code. Rule 2: what is not genuine is refused (401), and kept as such. It does not know
what is done about an alert.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

FRESH: Final = 300.0
"""Seconds that a signature may be old."""
_PREFIX: Final = "whsec_"


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing told of a budget. Times are seconds since the epoch.

    `at` is when it was heard, `raised` when it was noticed. `signed`: by a signature that is right; None: it
    did not come over a network.
    """

    at: float
    raised: float
    kind: str
    budget: str
    reaction: str
    message: str
    seconds_left: float | None
    signed: bool | None = None


class Hook:
    """The receiver. A context: it listens inside."""

    def __init__(self) -> None:
        self.secret = _PREFIX + base64.b64encode(secrets.token_bytes(24)).decode()
        self.alerts: list[Alert] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}/budgets"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, headers: Mapping[str, str], body: bytes, now: float) -> int:
        """Takes what came. Returns the status of the answer."""
        signed = is_genuine(headers, body, self.secret, now)
        try:
            self.alerts.append(_alert(json.loads(body), now, signed))
        except (ValueError, KeyError, TypeError):
            return 400
        return 204 if signed else 401

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        take = self.take

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                """One alert."""
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                fields = {name.lower(): value for name, value in self.headers.items()}
                self.send_response(take(fields, body, time.time()))
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        return Handler


def is_genuine(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> bool:
    """Whether the sender knows the secret, and sent this now.

    >>> is_genuine({"webhook-id": "1", "webhook-timestamp": "0", "webhook-signature": "v1,x"}, b"", "", 0.0)
    False
    """
    seconds = headers.get("webhook-timestamp", "")
    if not seconds.isdecimal() or abs(now - int(seconds)) > FRESH:
        return False
    text = f"{headers.get('webhook-id', '')}.{seconds}.".encode() + body
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    right = "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(each.encode(), right.encode()) for each in given)


def _alert(body: Mapping[str, Any], now: float, signed: bool) -> Alert:
    return Alert(
        at=now,
        raised=datetime.fromisoformat(body["timestamp"]).timestamp(),
        kind=body["type"].removeprefix("budget."),
        budget=body["budget"],
        reaction=body["reaction"],
        message=body["message"],
        seconds_left=body["seconds_left"],
        signed=signed,
    )
