"""The stack of docker-compose.yml without Docker: the same programs, the same files, on loopback.

Rule 1: configuration is read from deploy/ and rules/ as it stands there; what differs from place to place
goes by the environment, as in docker-compose.yml, or into files of addresses. Rule 2: all data is in one
folder. Rule 3: a program begins when those that it needs are ready. It does not know what is sent through it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from tests.stack import databases
from tests.stack.programs import ROOT, Program, Running, Troupe, answers, find

BESIDE = "collector-beside.yaml"
"""The Collector that sends spans to the backend itself."""

SECRETS = (
    "SPANFUSE_ADMIN_TOKEN",
    "SPANFUSE_TOKEN",
    "SPANFUSE_ALERTMANAGER_TOKEN",
    "POSTGRES_PASSWORD",
    "SPANFUSE_DB_PASSWORD",
    "GRAFANA_DB_PASSWORD",
    "REDIS_PASSWORD",
)
"""Those of .env.example that are needed without Grafana."""


@dataclass
class Stack:
    """One stack. `start` once, in a troupe.

    `folder` keeps its data. `extra` goes over deploy/processor.yaml; `people` is host:port of whoever is told
    of alerts. `collector` is a file of deploy/.
    """

    folder: Path
    ports: Mapping[str, int]
    collector: str = "collector.yaml"
    extra: Mapping[str, object] = field(default_factory=dict)
    people: str = "127.0.0.1:9095"
    running: dict[str, Running] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.secrets = _secrets(self.folder / "secrets.env")

    def at(self, port: str, scheme: str = "http") -> str:
        """An address of the stack."""
        return f"{scheme}://127.0.0.1:{self.ports[port]}"

    @property
    def database(self) -> str:
        """The processor's own database."""
        password = self.secrets["SPANFUSE_DB_PASSWORD"]
        return f"postgresql://spanfuse:{password}@127.0.0.1:{self.ports['POSTGRES_PORT']}/spanfuse"

    @property
    def reader(self) -> str:
        """The same database, as Grafana reads it."""
        password = self.secrets["GRAFANA_DB_PASSWORD"]
        return f"postgresql://grafana_reader:{password}@127.0.0.1:{self.ports['POSTGRES_PORT']}/spanfuse"

    def application(self) -> dict[str, str]:
        """What an application is told: spans to the Collector, orders from the processor."""
        return {
            "SPANFUSE_ENDPOINT": self.at("PROCESSOR_GRPC_PORT"),
            "SPANFUSE_SPANS_ENDPOINT": self.at("COLLECTOR_GRPC_PORT"),
            "SPANFUSE_TOKEN": self.secrets["SPANFUSE_TOKEN"],
        }

    def start(self, troupe: Troupe) -> None:
        """Starts everything; returns when all of it is ready."""
        databases.postgres(troupe, self.folder / "postgres", self.ports["POSTGRES_PORT"], self.secrets)
        databases.redis(
            troupe, self.folder / "redis", self.ports["REDIS_PORT"], self.secrets["REDIS_PASSWORD"]
        )
        starts = (self._jaeger, self._processor, self._collector, self._alertmanager, self._prometheus)
        for program in (start() for start in starts):
            self.running[program.name] = troupe.start(program)

    def _jaeger(self) -> Program:
        environment = {
            "JAEGER_HOST": "127.0.0.1",
            **self._numbers("JAEGER_OTLP", "JAEGER_QUERY", "JAEGER_QUERY_GRPC", "JAEGER_HEALTH"),
        }
        command = [find("jaeger"), "--config", str(ROOT / "deploy/jaeger.yaml")]
        health = self.at("JAEGER_HEALTH_PORT") + "/status"
        return Program("jaeger", command, lambda: answers(health), environment)

    def _processor(self) -> Program:
        environment = {
            "SPANFUSE_LISTEN_GRPC_PORT": str(self.ports["PROCESSOR_GRPC_PORT"]),
            "SPANFUSE_LISTEN_HTTP_PORT": str(self.ports["PROCESSOR_HTTP_PORT"]),
            "SPANFUSE_LISTEN_METRICS_PORT": str(self.ports["PROCESSOR_METRICS_PORT"]),
            "SPANFUSE_ADMIN_TOKEN": self.secrets["SPANFUSE_ADMIN_TOKEN"],
            "SPANFUSE_CLIENT_TOKENS": self.secrets["SPANFUSE_TOKEN"],
            "SPANFUSE_ALERTS_ALERTMANAGER_TOKEN": self.secrets["SPANFUSE_ALERTMANAGER_TOKEN"],
            "SPANFUSE_STORE_URL": self.database,
            "SPANFUSE_STORE_LEDGER_URL": self._ledger(),
            "SPANFUSE_FORWARD_ENDPOINT": self.at("JAEGER_OTLP_PORT"),
            "SPANFUSE_FORWARD_SPANS": "false" if self.collector == BESIDE else "true",
        }
        file = ROOT / "deploy/processor.yaml"
        if self.extra:
            file = self.folder / "processor.yaml"
            file.write_text(yaml.safe_dump(merged(_read(ROOT / "deploy/processor.yaml"), self.extra)))
        command = [sys.executable, "-m", "spanfuse_processor", "processor", "--config", str(file)]
        health = self.at("PROCESSOR_HTTP_PORT") + "/readyz"
        return Program("processor", command, lambda: answers(health), environment)

    def _ledger(self) -> str:
        return f"redis://:{self.secrets['REDIS_PASSWORD']}@127.0.0.1:{self.ports['REDIS_PORT']}/0"

    def _collector(self) -> Program:
        return collector(self.ports, self.secrets["SPANFUSE_TOKEN"], ROOT / "deploy" / self.collector)

    def _alertmanager(self) -> Program:
        folder = self.folder / "alertmanager"
        environment = {
            "ALERTMANAGER": find("prometheus-alertmanager", "alertmanager"),
            "MADE": str(folder),
            "ROUTES": str(ROOT / "rules/alertmanager.yml"),
            "PROCESSOR": f"127.0.0.1:{self.ports['PROCESSOR_HTTP_PORT']}",
            "PEOPLE": self.people,
            "SPANFUSE_ALERTMANAGER_TOKEN": self.secrets["SPANFUSE_ALERTMANAGER_TOKEN"],
        }
        listen = f"--web.listen-address=127.0.0.1:{self.ports['ALERTMANAGER_PORT']}"
        command = ["sh", str(ROOT / "deploy/alertmanager.sh"), f"--storage.path={folder}/data", listen]
        health = self.at("ALERTMANAGER_PORT") + "/-/ready"
        return Program("alertmanager", command, lambda: answers(health), environment)

    def _prometheus(self) -> Program:
        folder = self.folder / "prometheus"
        self._lay_out(folder)
        command = [
            find("prometheus"),
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            "--enable-feature=exemplar-storage",
            f"--web.listen-address=127.0.0.1:{self.ports['PROMETHEUS_PORT']}",
        ]
        health = self.at("PROMETHEUS_PORT") + "/-/ready"
        return Program("prometheus", command, lambda: answers(health), {})

    def _lay_out(self, folder: Path) -> None:
        """Prometheus's files as docker-compose.yml mounts them; only the addresses are others."""
        for name in ("rules", "targets"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "deploy/prometheus/prometheus.yml", folder)
        for name in ("recording.yml", "alerts.yml"):
            shutil.copy(ROOT / "rules" / name, folder / "rules")
        targets = {
            "spanfuse": "PROCESSOR_METRICS_PORT",
            "collector": "COLLECTOR_METRICS_PORT",
            "alertmanager": "ALERTMANAGER_PORT",
        }
        for name, port in targets.items():
            found = [{"targets": [f"127.0.0.1:{self.ports[port]}"]}]
            (folder / "targets" / f"{name}.yml").write_text(yaml.safe_dump(found))

    def _numbers(self, *names: str) -> dict[str, str]:
        return {f"{name}_PORT": str(self.ports[f"{name}_PORT"]) for name in names}


def collector(ports: Mapping[str, int], token: str, *files: Path) -> Program:
    """The Collector, with one file or several, of which the later goes over the earlier."""
    environment = {
        "OTELCOL_HOST": "127.0.0.1",
        "OTELCOL_GRPC_PORT": str(ports["COLLECTOR_GRPC_PORT"]),
        "OTELCOL_HTTP_PORT": str(ports["COLLECTOR_HTTP_PORT"]),
        "OTELCOL_HEALTH_PORT": str(ports["COLLECTOR_HEALTH_PORT"]),
        "OTELCOL_METRICS_PORT": str(ports["COLLECTOR_METRICS_PORT"]),
        "SPANFUSE_HTTP_ENDPOINT": f"http://127.0.0.1:{ports['PROCESSOR_HTTP_PORT']}",
        "SPANFUSE_TOKEN": token,
        "BACKEND_ENDPOINT": f"127.0.0.1:{ports['JAEGER_OTLP_PORT']}",
    }
    command = [find("otelcol-spanfuse"), *(f"--config={file}" for file in files)]
    health = f"http://127.0.0.1:{ports['COLLECTOR_HEALTH_PORT']}"
    return Program("collector", command, lambda: answers(health), environment)


def merged(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    """One mapping over another, all the way down.

    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}})
    {'a': {'b': 1, 'c': 3}}
    """
    made = dict(below)
    for name, value in above.items():
        under = made.get(name)
        both = isinstance(under, Mapping) and isinstance(value, Mapping)
        made[name] = merged(under, value) if both else value  # type: ignore[arg-type]
    return made


def _read(file: Path) -> Mapping[str, object]:
    content = yaml.safe_load(file.read_text())
    assert isinstance(content, Mapping)
    return content


def _secrets(file: Path) -> dict[str, str]:
    """Secrets of the environment, else those that this folder had before, else new ones."""
    before = dict(line.split("=", 1) for line in file.read_text().splitlines()) if file.exists() else {}
    made = {name: os.environ.get(name) or before.get(name) or secrets.token_hex(16) for name in SECRETS}
    file.touch(mode=0o600)
    file.write_text("".join(f"{name}={value}\n" for name, value in made.items()))
    return made
