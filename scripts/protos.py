"""Generates Python code from every .proto file of the processor; `--check` fails when it is stale.

Rule 1: code lies beside its .proto and imports its neighbours by their full names. Rule 2: the oldest
runtime that the code accepts is the one that pyproject.toml promises, not the one that the generator knows:
our schemas use nothing younger. So a newer generator alone changes nothing in the output.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "processor"
PROTOBUF_FLOOR = "6.30.0"
GRPC_FLOOR = "1.70.0"
RUNTIME_CHECK = re.compile(r"(Domain\.PUBLIC,\s*)\d+,(\s*)\d+,(\s*)\d+,")


def main(arguments: list[str] | None = None) -> int:
    """Writes the generated files, or with `--check` names those that differ and returns 1."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is stale")
    check = parser.parse_args(arguments).check
    changed = {path: code for path, code in sorted(generated().items()) if _read(path) != code}
    for path, code in changed.items():
        if not check:
            (ROOT / path).write_text(code)
        sys.stdout.write(f"{'stale' if check else 'wrote'}: {path}\n")
    return 1 if check and changed else 0


def generated() -> dict[Path, str]:
    """What every generated file should hold, by its path from the root."""
    with tempfile.TemporaryDirectory() as folder:
        _compile(Path(folder))
        return {
            (SOURCES / path.relative_to(folder)).relative_to(ROOT): _with_floors(path.read_text())
            for path in Path(folder).rglob("*.py*")
        }


def _compile(folder: Path) -> None:
    for source in sorted(SOURCES.rglob("*.proto")):
        options = [f"--python_out={folder}", f"--pyi_out={folder}"]
        if re.search(r"^service ", source.read_text(), re.MULTILINE):
            options.append(f"--grpc_python_out={folder}")
        includes = [f"-I{SOURCES}", f"-I{files('grpc_tools') / '_proto'}"]
        if protoc.main(["protoc", *includes, *options, str(source)]) != 0:
            raise SystemExit(f"{source} does not compile")


def _with_floors(code: str) -> str:
    """The code with the runtime that we promise in place of the generator's own."""
    major, minor, patch = PROTOBUF_FLOOR.split(".")
    code = re.sub(r"(# Protobuf Python Version: ).*", rf"\g<1>{PROTOBUF_FLOOR}", code)
    code = RUNTIME_CHECK.sub(rf"\g<1>{major},\g<2>{minor},\g<3>{patch},", code)
    return re.sub(r"(GRPC_GENERATED_VERSION = )'.*'", rf"\g<1>'{GRPC_FLOOR}'", code)


def _read(path: Path) -> str:
    return (ROOT / path).read_text() if (ROOT / path).exists() else ""


if __name__ == "__main__":
    sys.exit(main())
