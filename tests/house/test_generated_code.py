"""Generated code is what its .proto files say, and runs on the oldest runtimes that are promised."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest
from tests.house.sources import ROOT

GENERATED = sorted((ROOT / "processor").rglob("*_pb2*.py"))


def test_generated_code_is_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/protos.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, f"run `make protos`\n{done.stdout}{done.stderr}"


def test_every_proto_has_its_code_beside_it() -> None:
    protos = sorted((ROOT / "processor").rglob("*.proto"))

    assert protos
    assert [each for each in protos if not each.with_name(f"{each.stem}_pb2.py").exists()] == []


@pytest.mark.parametrize(
    ("package", "marker"),
    [("protobuf", "# Protobuf Python Version: "), ("grpcio", "GRPC_GENERATED_VERSION = ")],
)
def test_generated_code_accepts_the_oldest_runtime_that_is_promised(package: str, marker: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    promised = {line for lines in extras.values() for line in lines if line.startswith(f"{package}>=")}

    demanded = {
        line.removeprefix(marker).strip("'")
        for path in GENERATED
        for line in path.read_text().splitlines()
        if line.startswith(marker)
    }

    assert {f"{package}>={version.removesuffix('.0')}" for version in demanded} == promised
