"""The files of the stack: each is taken by the program that it is for, and they agree with each other."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.stack import ports
from tests.stack.programs import ROOT, find
from tests.stack.stack import SECRETS, merged

COMPOSE = ROOT / "docker-compose.yml"
WANTED = re.findall(r"^(\w+)=$", (ROOT / ".env.example").read_text(), re.MULTILINE)
COLLECTORS = ("collector.yaml", "collector-beside.yaml")


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, cwd=ROOT, env=known, check=False
    )


def composed(**environment: str) -> subprocess.CompletedProcess[str]:
    return run(find("docker-compose"), "config", "--format", "json", **environment)


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services as Compose understands them, with every secret of .env.example."""
    done = composed(**dict.fromkeys(WANTED, "s3cret"))
    assert done.returncode == 0, done.stderr
    services: dict[str, Any] = json.loads(done.stdout)["services"]
    return services


def test_compose_takes_the_file_and_knows_every_part_of_the_stack(services: dict[str, Any]) -> None:
    known = "processor collector jaeger prometheus alertmanager redis postgres grafana agents"

    assert set(services) == set(known.split())


@pytest.mark.parametrize("name", WANTED)
def test_compose_refuses_a_stack_whose_secret_is_missing(name: str) -> None:
    done = composed(**{each: "s3cret" for each in WANTED if each != name})

    assert done.returncode != 0
    assert f"{name} is missing a value" in done.stderr


def test_no_port_is_bound_beyond_loopback(services: dict[str, Any]) -> None:
    bound = [port for service in services.values() for port in service.get("ports", ())]

    assert len(bound) == len(ports.USUAL) + 1  # and Grafana's
    assert {port["host_ip"] for port in bound} == {"127.0.0.1"}


def test_ports_without_docker_are_those_of_the_compose_file() -> None:
    named = dict(re.findall(r"127\.0\.0\.1:\$\{(\w+_PORT):-(\d+)\}", COMPOSE.read_text()))

    assert named.pop("GRAFANA_PORT") == "3000"
    assert {name: int(port) for name, port in named.items()} == dict(ports.USUAL)


def test_every_image_is_pinned_and_every_service_asked_for_its_health(services: dict[str, Any]) -> None:
    images = {name: service["image"] for name, service in services.items()}
    asked = {name for name, service in services.items() if service.get("healthcheck", {}).get("test")}

    assert all(re.search(r":v?\d+\.\d+", image) for image in images.values()), images
    # The processor's image brings its own, the Collector's has nothing to ask with, agents serve nothing.
    assert set(services) - asked == {"processor", "collector", "agents"}
    assert "HEALTHCHECK" in (ROOT / "Dockerfile").read_text()


def test_nothing_runs_with_more_rights_than_it_needs(services: dict[str, Any]) -> None:
    writes = {name for name, service in services.items() if not service.get("read_only")}

    assert writes == {"grafana"}  # makes its database and its caches where its image has them
    assert all(service["cap_drop"] == ["ALL"] for service in services.values())
    assert all(service["security_opt"] == ["no-new-privileges:true"] for service in services.values())


def test_what_is_mounted_is_there(services: dict[str, Any]) -> None:
    mounted = [each for service in services.values() for each in service.get("volumes", ())]
    files = [Path(each["source"]) for each in mounted if each["type"] == "bind"]

    assert len(files) > 8
    assert [str(file) for file in files if not file.exists()] == []
    assert all(each.get("read_only") for each in mounted if each["type"] == "bind")


def test_secrets_without_docker_are_those_of_the_example() -> None:
    assert set(WANTED) - {"GRAFANA_ADMIN_PASSWORD"} == set(SECRETS)


@pytest.mark.parametrize("name", COLLECTORS)
def test_the_collector_takes_its_files(name: str) -> None:
    done = run(find("otelcol-spanfuse"), "validate", f"--config=deploy/{name}")

    assert done.returncode == 0, done.stderr


def test_the_collector_has_what_its_files_name_and_no_more() -> None:
    built = yaml.safe_load(run(find("otelcol-spanfuse"), "components").stdout)
    files = [yaml.safe_load((ROOT / "deploy" / name).read_text()) for name in COLLECTORS]

    for kind in ("receivers", "processors", "exporters", "extensions"):
        named = {name.partition("/")[0] for file in files for name in file[kind]}
        assert named == {each["name"] for each in built[kind]}


def test_nothing_before_spanfuse_waits_for_whole_traces_or_leaves_any_out() -> None:
    for name in COLLECTORS:
        file = yaml.safe_load((ROOT / "deploy" / name).read_text())
        for pipeline in file["service"]["pipelines"].values():
            assert pipeline["processors"][0] == "memory_limiter"
            if "otlp_http/spanfuse" in pipeline["exporters"]:
                (batch,) = pipeline["processors"][1:]
                assert file["processors"][batch]["timeout"] == "5ms"


def test_versions_of_programs_and_images_are_the_same() -> None:
    built = dict(
        line.split("=") for line in (ROOT / "deploy/versions.env").read_text().split() if "=" in line
    )
    manifest = (ROOT / "deploy/builder.yaml").read_text()
    collector = built["OTELCOL_VERSION"]

    assert f"opentelemetry-collector:{collector[1:]}" in COMPOSE.read_text()
    assert set(
        re.findall(r"(?:core|contrib|receiver|processor|exporter|extension)/\w+ (v[\d.]+)", manifest)
    ) == {collector}


@pytest.fixture
def laid_out(tmp_path: Path) -> Iterator[Path]:
    """Prometheus's folder as docker-compose.yml mounts it."""
    shutil.copytree(ROOT / "deploy/prometheus", tmp_path, dirs_exist_ok=True)
    (tmp_path / "rules").mkdir()
    for name in ("recording.yml", "alerts.yml"):
        shutil.copy(ROOT / "rules" / name, tmp_path / "rules")
    yield tmp_path


def test_prometheus_takes_its_files(laid_out: Path) -> None:
    done = run(find("promtool"), "check", "config", str(laid_out / "prometheus.yml"))

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_processor_takes_its_file() -> None:
    done = run(sys.executable, "-m", "spanfuse_processor", "check", "deploy/processor.yaml")

    assert done.returncode == 0, done.stdout


def test_one_mapping_goes_over_another_all_the_way_down() -> None:
    assert merged({"a": {"b": 1, "c": {"d": 2}}}, {"a": {"c": {"e": 3}}}) == {
        "a": {"b": 1, "c": {"d": 2, "e": 3}}
    }
