"""The rules in a real Prometheus: all are healthy, and what they see reaches people within seconds."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import yaml
from tests.acceptance.hook import Hook, hook
from tests.processes import free_port
from tests.rules.reading import EVERY, RULES
from tests.rules.real.programs import alertmanager, is_ready, program
from tests.waiting import until

PAGE: Final = """\
# TYPE spanfuse_budget_limit_usd gauge
spanfuse_budget_limit_usd{{budget="daily"}} 10
# TYPE spanfuse_budget_window_spent_usd gauge
spanfuse_budget_window_spent_usd{{budget="daily"}} {spent}
"""
SCRAPE: Final = 5  # seconds, as in the stack


@dataclass
class Exporter:
    """A page of metrics on a port of its own. `spent` may be changed."""

    spent: float = 1.0
    port: int = 0


@contextlib.contextmanager
def exporter() -> Iterator[Exporter]:
    """A service that says what was spent."""
    shown = Exporter()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Shows the page."""
            self.send_response(200)
            self.send_header("content-type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(PAGE.format(spent=shown.spent).encode())

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    shown.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield shown
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5.0)


def ask(url: str) -> Any:
    """The data of an answer of Prometheus."""
    with urllib.request.urlopen(url, timeout=5) as answer:
        return json.loads(answer.read())["data"]


@contextlib.contextmanager
def prometheus(folder: Path, target: int, alerts: str) -> Iterator[str]:
    """A running Prometheus with our rules; its address."""
    config = {
        "global": {"scrape_interval": f"{SCRAPE}s", "evaluation_interval": f"{SCRAPE}s"},
        "rule_files": [str(RULES / "recording.yml"), str(RULES / "alerts.yml")],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alerts.removeprefix("http://")]}]}]},
        "scrape_configs": [
            {"job_name": "spanfuse", "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}
        ],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    port = free_port()
    command = [
        program("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--rules.alert.resend-delay=5s",  # what is evaluated before Alertmanager is known is sent to nobody
        "--log.level=error",
    ]
    process = subprocess.Popen(command, cwd=folder)
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: is_ready(url), 30.0, every=0.1)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def rules(url: str) -> list[dict[str, Any]]:
    """The rules as Prometheus has them."""
    return [rule for group in ask(f"{url}/api/v1/rules")["groups"] for rule in group["rules"]]


def routes_to(folder: Path, people: Hook) -> Path:
    """The configuration of this project, with people's address here and no processor to be found."""
    config = yaml.safe_load((RULES / "alertmanager.yml").read_text())
    (folder / "secrets").mkdir()
    (folder / "secrets" / "alertmanager_token").write_text("a token")
    for receiver in config["receivers"]:
        for each in receiver.get("webhook_configs", ()):
            base = people.url.removesuffix("/budgets")
            each["url"] = each["url"].replace("http://127.0.0.1:9095", base)
            each["url"] = each["url"].replace("http://127.0.0.1:4318", f"http://127.0.0.1:{free_port()}")
    file = folder / "alertmanager.yml"
    file.write_text(yaml.safe_dump(config))
    return file


def told(people: Hook, name: str, status: str) -> bool:
    """Whether people were told of an alert."""
    bodies = [json.loads(body) for _, body in people.got]
    alerts = [alert for body in bodies for alert in body["alerts"]]
    return any(each["labels"]["alertname"] == name and each["status"] == status for each in alerts)


def test_a_budget_that_is_exhausted_reaches_people_in_seconds_and_is_over_when_it_is(tmp_path: Path) -> None:
    with (
        hook() as people,
        exporter() as shown,
        alertmanager(routes_to(tmp_path, people)) as alerts,
        prometheus(tmp_path, shown.port, alerts) as url,
    ):
        until(lambda: all(rule["health"] == "ok" for rule in rules(url)), 60.0, every=0.5)
        assert len(rules(url)) == len(EVERY)
        until(lambda: told(people, "Watchdog", "firing"), 60.0, every=0.1)
        assert not told(people, "SpanfuseBudgetExhausted", "firing")

        began = time.monotonic()
        shown.spent = 10.0
        until(lambda: told(people, "SpanfuseBudgetExhausted", "firing"), 60.0, every=0.05)
        assert time.monotonic() - began < 2 * SCRAPE + 10  # a scrape, an evaluation, a busy machine

        shown.spent = 0.0
        until(lambda: told(people, "SpanfuseBudgetExhausted", "resolved"), 90.0, every=0.1)
