"""What is written about the code is true: variables in the README, no addresses, no paths of a machine."""

from __future__ import annotations

import ast
import re
import subprocess

import pytest
from tests.house.sources import PACKAGES, ROOT, sources

from spanfuse_processor.config_loading import environment_names

LIBRARY = PACKAGES[0]
README = (ROOT / "README.md").read_text()


def variables_in_sources() -> set[str]:
    """Every `SPANFUSE_...` literal in the sources."""
    found: set[str] = set()
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= set(re.findall(r"^SPANFUSE_[A-Z0-9_]+[A-Z0-9]$", node.value))
    return found


@pytest.mark.parametrize("name", sorted(variables_in_sources() | set(environment_names())))
def test_every_environment_variable_is_in_the_readme(name: str) -> None:
    assert f"`{name}`" in README


def test_only_settings_and_config_read_the_environment() -> None:
    """`os.environ` belongs to one file of each package, and to the parts that start other programs."""
    allowed = {"settings.py", "config_loading.py", "guard.py", "run.py", "demo.py", "sitecustomize.py"}
    readers = {
        path.name
        for path in sources()
        if re.search(r"os\.(environ|getenv)", path.read_text()) and "demo" not in path.parts
    }

    assert readers <= allowed


def test_no_commit_holds_an_address_of_a_registry_or_a_path_of_a_machine() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    ).stdout.split("\0")
    forbidden = re.compile(
        r"--(?:extra-)?index-url"
    )
    bad = []
    for name in filter(None, tracked):
        path = ROOT / name
        if path.suffix in {".gz", ".png"} or name == "tests/house/test_documents.py" or not path.is_file():
            continue
        if forbidden.search(path.read_text(errors="replace")):
            bad.append(name)

    assert bad == []


def test_the_architecture_is_one_page() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 120
