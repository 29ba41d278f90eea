"""Lines as documents: one each, or one over many lines where somebody has indented it.

Rule 1: what begins with a brace alone goes on until a brace alone closes it, and another document or nothing
follows. Rule 2: a document that is too long is skipped and named. It does not know what a document says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"
_SHORT: Final = 8  # longer than a brace with its line's end


class Documents:
    """Makes documents of numbered lines; None is a line that is too long. `complain` is told of those."""

    def __init__(self, most: int, complain: Callable[[int, str], None]) -> None:
        self._most = most
        self._complain = complain
        self._held: list[bytes] = []  # an indented document, so far
        self._began = 0
        self._size = 0
        self._closed = False

    def of(self, lines: Iterator[bytes | None]) -> Iterator[tuple[int, bytes]]:
        """Every document that is not blank, with the number of its first line."""
        for number, line in enumerate(lines, 1):
            if number == 1 and line is not None:
                line = line.removeprefix(_BOM)
            if self._held and not (self._closed and line is not None and line.startswith(b"{")):
                self._hold(line)
                continue
            yield from self._whole()
            if line is not None and len(line) < _SHORT and line.strip() == b"{":
                self._began = number
                self._hold(line)
            elif line is None:
                self._complain(number, f"longer than {self._most:,} bytes")
            elif not line.isspace():
                yield number, line
        yield from self._whole()

    def _hold(self, line: bytes | None) -> None:
        self._size += self._most if line is None else len(line)
        if line is not None and self._size <= self._most:
            self._held.append(line)
        if line is None or not line.isspace():
            self._closed = line is not None and line.rstrip() == b"}"

    def _whole(self) -> Iterator[tuple[int, bytes]]:
        """The indented document that is over, if there was one."""
        held, size, self._held, self._size = self._held, self._size, [], 0
        if size > self._most:
            self._complain(self._began, f"longer than {self._most:,} bytes")
        elif held:
            yield self._began, b"".join(held)
