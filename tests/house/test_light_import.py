"""Law 10: `import spanfuse` stays light: nothing heavy until it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = [
    "grpc",
    "google.protobuf",
    "numpy",
    "redis",
    "psycopg",
    "sqlite3",
    "sklearn",
    "openai",
    "yaml",
    "genai_prices",
    "pydantic",
    "httpx2",
]


def modules_after(statement: str) -> set[str]:
    """The modules that a fresh interpreter holds after one statement."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, env={"PATH": ""}
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("name", HEAVY)
def test_import_spanfuse_does_not_load(name: str) -> None:
    assert name not in modules_after("import spanfuse")


def test_the_processor_package_imports_nothing() -> None:
    before, after = modules_after("pass"), modules_after("import spanfuse_processor")

    assert after - before == {"spanfuse_processor"}


def test_the_engine_imports_only_the_standard_library() -> None:
    loaded = modules_after("import spanfuse_processor.engine") - modules_after("pass")
    foreign = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"spanfuse_processor"}

    assert foreign == set()
