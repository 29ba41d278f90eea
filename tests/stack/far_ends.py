"""What arrives at the far ends of the stack: Jaeger, Postgres, Prometheus, and a webhook behind Alertmanager.

Rule 1: each is asked as its users ask it: by its own API, as the role that Grafana has. Rule 2: what is heard
is noted with the time at which it came. It asserts nothing.
"""

from __future__ import annotations

import json
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import psycopg

_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str, **query: str) -> Any:
    """The JSON that a GET is answered with."""
    full = f"{url}?{urllib.parse.urlencode(query)}" if query else url
    with _direct.open(full, timeout=10.0) as answer:
        return json.loads(answer.read())


@dataclass(frozen=True, slots=True)
class Span:
    """A span as Jaeger tells of it. Times are seconds since the epoch."""

    trace_id: str
    span_id: str
    parent: str
    name: str
    service: str
    began: float
    seconds: float
    tags: Mapping[str, object]
    events: tuple[str, ...]
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Jaeger:
    """Jaeger's query API."""

    address: str

    def trace(self, trace_id: str) -> list[Span]:
        """The spans of a trace; empty: Jaeger knows none."""
        try:
            found = get(f"{self.address}/api/traces/{trace_id}")["data"] or []
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return []
            raise
        return [_span(each, trace) for trace in found for each in trace["spans"]]

    def traces(self, service: str, **query: str) -> list[list[Span]]:
        """The latest traces with a span of a service."""
        found = get(f"{self.address}/api/traces", service=service, limit="100", lookback="1h", **query)
        return [[_span(each, trace) for each in trace["spans"]] for trace in found["data"] or ()]

    def services(self) -> list[str]:
        """Who has sent spans."""
        return get(f"{self.address}/api/services")["data"] or []


def _span(span: Mapping[str, Any], trace: Mapping[str, Any]) -> Span:
    parents = [each["spanID"] for each in span["references"] if each["refType"] == "CHILD_OF"]
    logs = [field["value"] for log in span["logs"] for field in log["fields"] if field["key"] == "event"]
    return Span(
        trace_id=span["traceID"],
        span_id=span["spanID"],
        parent=parents[0] if parents else "",
        name=span["operationName"],
        service=trace["processes"][span["processID"]]["serviceName"],
        began=span["startTime"] / 1e6,
        seconds=span["duration"] / 1e6,
        tags={each["key"]: each["value"] for each in span["tags"]},
        events=tuple(logs),
        links=tuple(each["spanID"] for each in span["references"] if each["refType"] != "CHILD_OF"),
    )


@dataclass(frozen=True, slots=True)
class Prometheus:
    """Prometheus's query API."""

    address: str

    def query(self, expression: str) -> dict[str, float]:
        """The values of an instant vector, by their labels as text."""
        answer = get(f"{self.address}/api/v1/query", query=expression)
        return {
            json.dumps(each["metric"], sort_keys=True): float(each["value"][1])
            for each in answer["data"]["result"]
        }

    def total(self, expression: str) -> float:
        """The sum of an instant vector."""
        return sum(self.query(expression).values())

    def unhealthy_rules(self) -> list[str]:
        """Rules whose evaluation has failed."""
        groups = get(f"{self.address}/api/v1/rules")["data"]["groups"]
        return [rule["name"] for group in groups for rule in group["rules"] if rule["health"] == "err"]

    def targets(self) -> dict[str, str]:
        """What is scraped, by job, and how that goes."""
        found = get(f"{self.address}/api/v1/targets")["data"]["activeTargets"]
        return {each["labels"]["job"]: each["health"] for each in found}


class Rows:
    """Postgres, read as Grafana reads it: by the role that may do nothing else."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._connection.close()

    def ask(self, sql: str, *values: object) -> list[dict[str, Any]]:
        """The rows of a query."""
        with self._connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            return cursor.execute(sql, values).fetchall()  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Heard:
    """One alert at the webhook, and when it came."""

    at: float
    receiver: str
    name: str
    firing: bool
    labels: Mapping[str, str]
    text: str


@dataclass
class Hook:
    """Whoever is told of alerts, and `notice`s each as it comes. A context: it listens inside."""

    notice: Callable[[Heard], object] = lambda heard: None
    heard: list[Heard] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._hear))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _hear(self, heard: Heard) -> None:
        self.heard.append(heard)
        self.notice(heard)

    def first(self, name: str, **labels: str) -> Heard | None:
        """The first that fired with that name and those labels."""
        return next(iter(self.all(name, **labels)), None)

    def all(self, name: str, **labels: str) -> Sequence[Heard]:
        """Those that fired, with that name and those labels."""
        return [
            each
            for each in self.heard
            if each.name == name and each.firing and labels.items() <= each.labels.items()
        ]


def _handler(hear: Callable[[Heard], object]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Alertmanager tells of a group of alerts."""
            now = time.time()
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            for alert in body["alerts"]:
                hear(_alert(alert, self.path.rpartition("/")[2], now))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    return Handler


def _alert(alert: Mapping[str, Any], receiver: str, now: float) -> Heard:
    return Heard(
        at=now,
        receiver=receiver,
        name=alert["labels"]["alertname"],
        firing=alert["status"] == "firing",
        labels=alert["labels"],
        text=alert["annotations"].get("description", ""),
    )
