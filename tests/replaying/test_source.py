"""One file as lines: whatever it is packed in, however long they are."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from spanfuse_processor.replaying.source import STDIN, Source


def read(content: bytes) -> tuple[list[bytes | None], int]:
    """The lines of a file, those of over a hundred bytes as None, and the number of the last."""
    source = Source(io.BufferedReader(io.BytesIO(content)), 100)
    return list(source.lines()), source.line


@pytest.mark.parametrize("packed", [False, True])
def test_lines_are_read_and_counted(packed: bool) -> None:
    content = b"[1]\n\n[2]"

    assert read(gzip.compress(content) if packed else content) == ([b"[1]\n", b"\n", b"[2]"], 3)


def test_a_file_packed_in_parts_is_one() -> None:
    assert read(gzip.compress(b"[1]\n") + gzip.compress(b"[2]\n"))[0] == [b"[1]\n", b"[2]\n"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_that_is_too_long_is_none(packed: bool) -> None:
    content = b"[1]\n" + b"x" * 1_000 + b"\n[2]\n"

    assert read(gzip.compress(content) if packed else content) == ([b"[1]\n", None, b"[2]\n"], 3)


def test_a_last_line_that_is_too_long_and_never_ends_is_none_too() -> None:
    assert read(b"x" * 1_000) == ([None], 1)


def test_the_position_is_that_in_the_file_not_in_what_was_packed(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(gzip.compress(b"[1]\n" * 10_000))

    with Source.opened(file) as source:
        read = [source.position() for _ in source.lines()]

    assert read == sorted(read)
    assert 0 < read[-1] <= file.stat().st_size


def test_a_stdin_that_is_closed_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(OSError, match="stdin is closed"):
        Source.opened(STDIN)
