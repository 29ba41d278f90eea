"""One file of a recording, or stdin, as lines.

Rule 1: gzip is known by its first bytes, whatever the file is called. Rule 2: a line longer than `MOST_BYTES`
is skipped, not read into memory. It does not know what a line says.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Final, cast

STDIN: Final = Path("-")
MOST_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one line or document: the service refuses larger requests too, unless set otherwise."""

_GZIP: Final = b"\x1f\x8b"
_BUFFER: Final = 1024 * 1024


class Source:
    """An open file. `line` is the number of the line read last."""

    def __init__(self, raw: io.BufferedReader, most: int = MOST_BYTES) -> None:
        self.line = 0
        self._raw = raw
        self._most = most
        self._read = 0
        packed = raw.peek(len(_GZIP))[: len(_GZIP)] == _GZIP
        self._bytes: IO[bytes] = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw

    @classmethod
    def opened(cls, path: Path) -> Source:
        """The file at `path`, or stdin. Raises OSError."""
        if path == STDIN:
            if sys.stdin is None:
                raise OSError("stdin is closed")
            return cls(cast(io.BufferedReader, sys.stdin.buffer))
        return cls(cast(io.BufferedReader, path.open("rb", buffering=_BUFFER)))

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._raw is not getattr(sys.stdin, "buffer", None):
            self._raw.close()

    def position(self) -> int:
        """Bytes read so far, as they lie in the file."""
        return self._raw.tell() if self._raw.seekable() else self._read

    def lines(self) -> Iterator[bytes | None]:
        """Every line; None for one that is too long."""
        readline, most = self._bytes.readline, self._most
        while line := readline(most + 1):
            self.line += 1
            self._read += len(line)
            if len(line) <= most:
                yield line
                continue
            while len(line) > most and not line.endswith(b"\n"):
                line = readline(most + 1)
                self._read += len(line)
            yield None
