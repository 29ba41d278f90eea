"""Recorded spans: files of OTLP/JSON as the Collector's file exporter writes them, one request a line.

Rule 1: plain or gzip, single files, folders or stdin, always in the same order. Rule 2: what cannot be read
costs itself only, and is said with file, line and reason; of one file ten times, then as a count. Rule 3: one
line at a time is in memory, and no line is longer than `MOST_BYTES`. It does not judge.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from spanfuse_processor.engine import RawSpan
from spanfuse_processor.receiver.decoded import Decoded, Undecodable
from spanfuse_processor.receiver.otlp_json import decode_json
from spanfuse_processor.replaying.documents import Documents
from spanfuse_processor.replaying.source import MOST_BYTES, STDIN, Source

SUFFIXES: Final = (".json", ".jsonl", ".gz")
"""What is read of a folder; a file that is named is read whatever it is called."""

MOST_SAID: Final = 10
"""Complaints about one file that are said one by one."""

_OF_OTHERS: Final = (b'"resourceLogs"', b'"resourceMetrics"', b'"resourceProfiles"')

Report = Callable[[str], None]
Watch = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done and how much there is; 0 where nobody knows."""


def find(paths: Iterable[Path]) -> list[Path]:
    """The files among `paths`, and those in its folders, each once and in order; `-` is stdin.

    Raises:
        FileNotFoundError: a path that is neither.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            inside = (file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
            found |= dict.fromkeys(sorted(inside))
        elif path == STDIN or path.exists():
            found[path] = None
        else:
            raise FileNotFoundError(path)
    return list(found)


def spans(path: Path, report: Report) -> Iterator[RawSpan]:
    """All spans of one file in its order; what cannot be read is told to `report`."""
    for _, span in Recording([path], report):
        yield span


class Recording:
    """All spans of some files, one stream; each comes with the file that it lies in."""

    def __init__(self, files: Sequence[Path], report: Report, watch: Watch | None = None) -> None:
        self._files = files
        self._report = report
        self._watch = watch
        self._resource: Mapping[str, object] = {}

    def __iter__(self) -> Iterator[tuple[Path, RawSpan]]:
        total, before = sum(map(_size, self._files)), 0
        for file in self._files:
            for span in self._spans(file, before, total):
                yield file, span
            before += _size(file)

    def _spans(self, path: Path, before: int, total: int) -> Iterator[RawSpan]:
        complaints = _Complaints(path, self._report)
        source, number = None, 0
        try:
            with Source.opened(path) as source:
                for number, document in Documents(MOST_BYTES, complaints.say).of(source.lines()):
                    yield from self._of_document(document, number, complaints)
                    if self._watch is not None:
                        self._watch("reading", before + source.position(), total)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            complaints.say(source.line if source is not None else 0, f"{reason}; nothing more is read of it")
        complaints.close()

    def _of_document(self, document: bytes, number: int, complaints: _Complaints) -> Iterator[RawSpan]:
        empty = True
        try:
            for part in decode_json(document):
                empty = False
                if part.rejected:
                    complaints.say(number, f"spans refused: {part.rejected} ({part.message})")
                yield from self._shared(part)
        except Undecodable as error:
            complaints.say(number, str(error))
            return
        if empty and _is_foreign(document):
            complaints.say(number, "no export request of spans: it has no resourceSpans")

    def _shared(self, part: Decoded) -> list[RawSpan]:
        """Equal resources as one: each line has its own, and what knows one need not read the next."""
        for span in part.spans:
            if span.resource == self._resource:
                span.resource = self._resource
            else:
                self._resource = span.resource
        return part.spans


class _Complaints:
    """What is wrong with one file."""

    def __init__(self, path: Path, report: Report) -> None:
        self._path = path
        self._report = report
        self._count = 0

    def say(self, line: int, problem: str) -> None:
        self._count += 1
        if self._count <= MOST_SAID:
            self._report(f"{self._path}:{line}: {problem}" if line else f"{self._path}: {problem}")

    def close(self) -> None:
        if self._count > MOST_SAID:
            self._report(f"{self._path}: and {self._count - MOST_SAID} more of its lines like these")


def _is_foreign(document: bytes) -> bool:
    """Whether a document without spans is no telemetry at all: logs and metrics may lie beside spans."""
    if b'"resourceSpans"' in document or document.strip() == b"{}":
        return False
    return not any(each in document for each in _OF_OTHERS)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path != STDIN else 0
    except OSError:  # it is gone; reading it will say so
        return 0
