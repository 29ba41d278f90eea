"""A webhook on loopback, and calls that cost what a test wants, sent to a real processor."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.processes import ADMIN_TOKEN, Processor

CENTS_OF_INPUT = 4_000  # tokens of gpt-4o that cost a cent: 2.50 USD a million


@dataclass
class Hook:
    """What came to a webhook. `answers` are statuses to give, in order; then 200."""

    url: str = ""
    got: list[tuple[Mapping[str, str], bytes]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The bodies of one type, in the order of their arrival."""
        bodies = [json.loads(body) for _, body in self.got]
        return [body for body in bodies if body["type"] == kind]


@contextlib.contextmanager
def hook() -> Iterator[Hook]:
    """A webhook that listens."""
    told = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Keeps what comes."""
            body = self.rfile.read(int(self.headers["content-length"]))
            told.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(told.answers.pop(0) if told.answers else 200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}/budgets"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5.0)


def spend(at: Processor, cents: int, **resource: str) -> None:
    """Sends one call of a run of its own that cost so many cents."""
    now = time.time_ns()
    said: dict[str, str | int] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": cents * CENTS_OF_INPUT,
        "gen_ai.usage.output_tokens": 0,
    }
    span = {
        "traceId": secrets.token_hex(16),
        "spanId": secrets.token_hex(8),
        "name": "chat gpt-4o",
        "startTimeUnixNano": str(now - 1_000_000),
        "endTimeUnixNano": str(now),
        "attributes": [_attribute(*pair) for pair in said.items()],
    }
    attributes = [_attribute(*pair) for pair in {"service.name": "acceptance", **resource}.items()]
    spans = [{"scope": {"name": "acceptance"}, "spans": [span]}]
    body = json.dumps({"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": spans}]})
    asked = urllib.request.Request(
        f"{at.http}/v1/traces", body.encode(), {"content-type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(asked, timeout=5) as answer:
        assert answer.status == 200


def account(at: Processor, name: str) -> dict[str, Any]:
    """One account, as operators see it; empty when it has none."""
    rows = ask(at, "/v1/budgets")["budgets"]
    return next((row for row in rows if row["account"] == name), {})


def ask(at: Processor, path: str) -> dict[str, Any]:
    """What operators read there."""
    asked = urllib.request.Request(f"{at.http}{path}", headers={"authorization": f"Bearer {ADMIN_TOKEN}"})
    with urllib.request.urlopen(asked, timeout=5) as answer:
        read: dict[str, Any] = json.load(answer)
        return read


def metrics(at: Processor) -> str:
    """The page that Prometheus scrapes."""
    with urllib.request.urlopen(f"http://127.0.0.1:{at.metrics_port}/metrics", timeout=5) as answer:
        return str(answer.read().decode())


def _attribute(key: str, value: str | int) -> dict[str, Any]:
    kind = {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}
    return {"key": key, "value": kind}
