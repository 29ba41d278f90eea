"""Real servers under real load: Postgres, Jaeger, a provider, the processor, Prometheus; and an application.

Rule 1: everything on loopback, on free ports, in a folder of its own, ended by pid. Rule 2: a program that is
not on this machine fails the rig.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg
from tests.house.sources import ROOT
from tests.processes import ADMIN_TOKEN, Processor, free_port
from tests.stores.real.servers import postgres_server, program
from tests.waiting import until

from grafana.asking.servers import Servers
from grafana.asking.span import Span

READER: Final = "grafana_reader"
POLICY: Final = """\
policy:
  prices: { gpt-4o: { input: 2.5, output: 40 } }
  rules:
    - match: { agent: tester }
      mode: shadow
  budgets:
    writing:
      usd: 1.5
      period: hourly
      match: { agent: writer }
      forecast: { react: warn, within: 0.1 }
      degrade: { output_tokens: 100 }
      marks:
        - { at: 50%, react: warn }
        - { at: 70%, react: degrade }
        - { at: 85%, react: throttle }
        - { at: 100%, react: stop }
      pace: 1
    research: { usd: 12, period: hourly, match: { agent: researcher }, forecast: { after: 0.02 } }
    searches: { calls: 10000, period: hourly, match: { tool: search }, forecast: { after: 0.02 } }
    support-tokens: { tokens: 250000, period: hourly, match: { agent: support }, forecast: { after: 0.02 } }
    everything: { usd: 20, period: daily }
"""
"""What the operator of this rig has written down: a budget runs out while we look, others do not."""

PROMETHEUS: Final = """\
global: { scrape_interval: 5s, scrape_timeout: 4s, evaluation_interval: 5s }
rule_files: [%(rules)s/recording.yml, %(rules)s/alerts.yml]
scrape_configs:
  - job_name: spanfuse
    static_configs: [{ targets: ["127.0.0.1:%(port)d"] }]
"""
JAEGER: Final = """\
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces: { receivers: [otlp], processors: [], exporters: [jaeger_storage_exporter] }
  telemetry: { metrics: { level: none }, logs: { level: warn } }
extensions:
  jaeger_storage: { backends: { memory: { memory: { max_traces: 20000 } } } }
  jaeger_query:
    storage: { traces: memory }
    http: { endpoint: "127.0.0.1:%(http)d" }
    grpc: { endpoint: "127.0.0.1:%(query)d" }
receivers:
  otlp: { protocols: { grpc: { endpoint: "127.0.0.1:%(otlp)d" } } }
exporters:
  jaeger_storage_exporter: { trace_storage: memory }
"""


class Rig(NamedTuple):
    """Where to ask, and about which time."""

    servers: Servers
    span: Span


@contextlib.contextmanager
def running(seconds: float) -> Iterator[Rig]:
    """Everything, once the application has worked for so long; it goes on while it is asked about."""
    began = time.time()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(_postgres())
        jaeger, otlp = stack.enter_context(_jaeger(folder))
        processor = stack.enter_context(_processor(folder, postgres, otlp))
        prometheus = stack.enter_context(_prometheus(folder, processor.metrics_port))
        provider = stack.enter_context(_provider())
        command = [sys.executable, "-m", "tests.grafana.live.application", "--endpoint", processor.endpoint]
        command += ["--provider", str(provider), "--seconds", str(seconds + 600)]
        work = stack.enter_context(_started(command, cwd=ROOT))
        _wait(began + seconds / 2, work)
        assert _orders(processor), "a person could not stop anything"
        _wait(began + seconds, work)
        reader = postgres.replace("spanfuse@", f"{READER}@")
        yield Rig(Servers(prometheus, reader, jaeger), Span(began, time.time()))


def _wait(moment: float, work: subprocess.Popen[bytes]) -> None:
    """Until a moment; fails when the application does not get there."""

    def there() -> bool:
        assert work.poll() is None, "the application has ended"
        return time.time() >= moment

    until(there, moment - time.time() + 60, every=0.5)


def _orders(processor: Processor) -> bool:
    """Stops an agent's calls by hand, and releases them. Returns whether it could."""
    for path, reason in (("kill", "looks odd to me"), ("release", "it was a drill")):
        body = json.dumps({"key": "feature/support", "reason": reason}).encode()
        headers = {"Authorization": f"Bearer {ADMIN_TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{processor.http}/v1/{path}", body, headers)
        try:
            urllib.request.urlopen(request, timeout=5).close()
        except OSError:
            return False
    return True


@contextlib.contextmanager
def _started(command: list[str], **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, **how)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


@contextlib.contextmanager
def _postgres() -> Iterator[str]:
    """A database with a role that may read what will be made in it."""
    with postgres_server() as server:
        base = f"postgresql://spanfuse@127.0.0.1:{server.port}"
        with psycopg.connect(f"{base}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE spanfuse")
        with psycopg.connect(f"{base}/spanfuse", autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {READER} LOGIN")
            connection.execute(f"ALTER ROLE {READER} SET statement_timeout = '5s'")
            connection.execute(f"ALTER ROLE {READER} SET default_transaction_read_only = on")
            connection.execute(f"ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO {READER}")
            connection.execute(f"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO {READER}")
        yield f"{base}/spanfuse"


@contextlib.contextmanager
def _processor(folder: Path, postgres: str, otlp: str) -> Iterator[Processor]:
    policy = folder / "processor.yml"
    policy.write_text(POLICY)
    environment = {
        "SPANFUSE_STORE_URL": postgres,
        "SPANFUSE_CONFIG": str(policy),
        "SPANFUSE_LOG_LEVEL": "error",
        "SPANFUSE_FORWARD_ENDPOINT": otlp,
        "SPANFUSE_FORWARD_PROTOCOL": "grpc",
    }
    running = Processor(environment=environment)
    running.start()
    try:
        yield running
    finally:
        running.stop()


@contextlib.contextmanager
def _prometheus(folder: Path, metrics: int) -> Iterator[str]:
    port = free_port()
    config = folder / "prometheus.yml"
    config.write_text(PROMETHEUS % {"rules": ROOT / "rules", "port": metrics})
    command = [program("prometheus", "prometheus"), f"--config.file={config}"]
    command += [f"--storage.tsdb.path={folder}/tsdb", f"--web.listen-address=127.0.0.1:{port}"]
    command += ["--enable-feature=exemplar-storage", "--log.level=warn"]
    with _started(command):
        address = f"http://127.0.0.1:{port}"
        until(lambda: _answers(f"{address}/-/ready"), 30, every=0.1)
        yield address


@contextlib.contextmanager
def _jaeger(folder: Path) -> Iterator[tuple[str, str]]:
    """Its query API, and where it takes spans."""
    found = os.environ.get("JAEGER") or shutil.which("jaeger", path=f"{ROOT}/.stack/bin:{os.environ['PATH']}")
    assert found, "jaeger is not built: scripts/stack_programs.sh"
    ports = {"http": free_port(), "query": free_port(), "otlp": free_port()}
    config = folder / "jaeger.yaml"
    config.write_text(JAEGER % ports)
    with _started([found, f"--config={config}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        address = f"http://127.0.0.1:{ports['http']}"
        until(lambda: _answers(f"{address}/api/services"), 60, every=0.2)
        yield address, f"http://127.0.0.1:{ports['otlp']}"


@contextlib.contextmanager
def _provider() -> Iterator[int]:
    command = [sys.executable, "-m", "spanfuse.demo.provider_server", "--pace", "3"]
    with _started(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with process.stdout:
            yield int(json.loads(process.stdout.readline())["port"])


def _answers(address: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2) as answer:
        return bool(answer.status == 200)
    return False
