"""Where the sources are, for the tests of the house."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = (ROOT / "instrumentation" / "spanfuse", ROOT / "processor" / "spanfuse_processor")
GRAFANA = ROOT / "grafana"
GENERATED = ("_pb2.py", "_pb2_grpc.py")


def sources() -> list[Path]:
    """Every hand-written source file of both packages, and of the dashboards."""
    found = [path for folder in (*PACKAGES, GRAFANA) for path in sorted(folder.rglob("*.py"))]
    return [path for path in found if not path.name.endswith(GENERATED) and "node_modules" not in path.parts]


def checks() -> list[Path]:
    """Every file of the tests."""
    return sorted((ROOT / "tests").rglob("*.py"))


def label(path: Path) -> str:
    """The path as a reader of the repository writes it."""
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """The name and the length of every function's body, its docstring apart."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            yield node.name, (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
