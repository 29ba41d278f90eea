"""Law 2: a new implementation is one file and one registry line, and comes with its test."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.house.sources import PACKAGES, ROOT

from spanfuse.hosts import HOSTS
from spanfuse.providers import PROVIDERS
from spanfuse_processor.commands import COMMANDS
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.dialects import DIALECTS
from spanfuse_processor.stores import STORES

LIBRARY, PROCESSOR = PACKAGES


def implementations(folder: Path) -> set[str]:
    """The modules (and packages) of a plural folder."""
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return files | {path.parent.name for path in folder.glob("*/__init__.py")}


def test_every_detector_file_is_registered() -> None:
    assert implementations(PROCESSOR / "engine" / "detectors") == set(DETECTORS)


def test_every_dialect_file_is_registered() -> None:
    assert implementations(PROCESSOR / "engine" / "dialects") == {dialect.name for dialect in DIALECTS}


def test_every_host_file_is_registered() -> None:
    assert implementations(LIBRARY / "hosts") == set(HOSTS)


def test_every_provider_file_is_registered() -> None:
    assert implementations(LIBRARY / "providers") == set(PROVIDERS)


def test_every_store_file_is_registered() -> None:
    modules = {target.partition(":")[0] for target in STORES.values()}

    assert {f"spanfuse_processor.stores.{name}" for name in implementations(PROCESSOR / "stores")} == modules


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_a_detector_has_its_test_its_scenario_and_a_doctest(name: str) -> None:
    source = ast.parse((PROCESSOR / "engine" / "detectors" / f"{name}.py").read_text())
    docs = [ast.get_docstring(node) or "" for node in ast.walk(source) if isinstance(node, ast.ClassDef)]

    assert (ROOT / "tests" / "engine" / "detectors" / f"test_{name}.py").exists()
    assert list((ROOT / "tests" / "scenarios").glob(f"{name}*.txt"))
    assert any(">>>" in doc for doc in docs)


@pytest.mark.parametrize("target", sorted(COMMANDS.values()))
def test_a_command_is_a_module_with_help_arguments_and_run(target: str) -> None:
    package, _, tail = target.partition(".")
    folder = LIBRARY if package == "spanfuse" else PROCESSOR
    tree = ast.parse((folder / Path(*tail.split("."))).with_suffix(".py").read_text())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = {
        t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
    }

    assert {"add_arguments", "run"} <= functions
    assert "HELP" in names
