"""What is written about the code is true: variables in the README, no addresses, no paths of a machine."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from tests.house.sources import PACKAGES, ROOT, sources

from spanfuse_processor.config_loading import environment_names

LIBRARY = PACKAGES[0]
MYSELF = "tests/house/test_documents.py"
README = (ROOT / "README.md").read_text()


def pages() -> list[Path]:
    """Every page that people read."""
    folders = (ROOT, ROOT / "docs", ROOT / "rules" / "runbooks", ROOT / "changes")
    return [page.relative_to(ROOT) for folder in folders for page in folder.glob("*.md")]


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
    allowed.add("folders.py")  # XDG_STATE_HOME: where this user's files lie
    allowed.add("terminal.py")  # NO_COLOR and TERM: the terminal's, not ours
    allowed.add("counting.py")  # where a tokenizer keeps its files: its own, not ours
    readers = {
        path.name
        for path in sources()
        if re.search(r"os\.(environ|getenv)", path.read_text()) and "demo" not in path.parts
    }

    assert readers <= allowed


@pytest.mark.parametrize("page", sorted(pages()), ids=str)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]

    home = ROOT if page.parent.name == "changes" else ROOT / page.parent  # news moves into the changelog
    lost = [each for each in targets if each and "://" not in each and not (home / each).exists()]

    assert lost == []


def test_no_commit_holds_an_index_of_packages_or_a_path_of_this_machine() -> None:
    """Builds repeat by versions; where packages come from, and where a checkout lies, is a machine's own."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    ).stdout.split("\0")
    here = [str(ROOT), *(home for home in [str(Path.home())] if home.count("/") > 1)]
    forbidden = re.compile("|".join([r"--(?:extra-)?index-url", *map(re.escape, here)]))
    texts = {name: (ROOT / name).read_text(errors="replace") for name in tracked if (ROOT / name).is_file()}

    assert [name for name, text in texts.items() if forbidden.search(text) and name != MYSELF] == []


def test_constraints_are_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().split()

    assert lines
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_the_architecture_is_one_page() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 120
