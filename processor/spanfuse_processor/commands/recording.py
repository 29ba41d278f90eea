"""Recorded spans: files of OTLP/JSON as the Collector's file exporter writes them, one request a line.

Rule 1: plain or gzip, single files or folders, always in the same order. Rule 2: a line that cannot be read
costs itself only, and is said with file, line and reason. Rule 3: one line at a time is in memory. It does
not judge.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

from spanfuse_processor.engine import RawSpan
from spanfuse_processor.receiver.decoded import Undecodable
from spanfuse_processor.receiver.otlp_json import raw_spans_from_json

SUFFIXES: Final = (".json", ".jsonl", ".gz")
"""What is read of a folder; a file that is named is read whatever it is called."""

Report = Callable[[str], None]


def find(paths: Iterable[Path]) -> list[Path]:
    """The files among `paths`, and those in its folders, each once and in order.

    Raises:
        FileNotFoundError: a path that is neither.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
            found |= dict.fromkeys(sorted(inside))
        elif path.exists():
            found[path] = None
        else:
            raise FileNotFoundError(path)
    return list(found)


def spans(path: Path, report: Report) -> Iterator[RawSpan]:
    """All spans of a file in its order; what cannot be read is told to `report`."""
    try:
        with _opened(path) as file:
            for number, document in _documents(file):
                yield from _of_document(document, f"{path}:{number}", report)
    except (OSError, EOFError, zlib.error) as error:
        report(f"{path}: {error}")


def _documents(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Every line that is not blank, with its number; a file that is one indented document, as that."""
    for number, line in enumerate(file, 1):
        if line.strip() == b"{":
            yield number, line + file.read()
        elif line.strip():
            yield number, line


def _of_document(document: bytes, where: str, report: Report) -> Iterator[RawSpan]:
    try:
        decoded = raw_spans_from_json(document)
    except Undecodable as error:
        report(f"{where}: {error}")
        return
    if decoded.rejected:
        report(f"{where}: spans refused: {decoded.rejected} ({decoded.message})")
    yield from decoded.spans


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb")
