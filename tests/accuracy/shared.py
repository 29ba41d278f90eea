"""The data beside the project, and the converters that lie with it: both are used as they are.

Nothing of it is copied into the project. It does not know what is measured on it.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class Shared:
    """A folder with `data` and `tools`."""

    root: Path

    @property
    def data(self) -> Path:
        """Where incidents, runs and spans are."""
        return self.root / "data"

    def tool(self, name: str) -> ModuleType:
        """One of the tools, as a module."""
        return _module(self.root / "tools" / f"{name}.py")


@cache
def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"shared_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_lines(path: Path) -> list[Any]:
    """The JSON lines of a file, plain or .gz."""
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
    with opened as file:
        return [json.loads(line) for line in file if line.strip()]
