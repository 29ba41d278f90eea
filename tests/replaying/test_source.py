"""One file as documents: whatever it is packed in, however it is laid out, however broken."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from spanfuse_processor.replaying.source import Source


def read(content: bytes, most: int = 100) -> tuple[list[tuple[int, bytes]], list[tuple[int, str]]]:
    """The documents of a file with the numbers of their lines, and what is complained of."""
    said: list[tuple[int, str]] = []
    source = Source(io.BufferedReader(io.BytesIO(content)), most)
    return list(source.documents(lambda line, problem: said.append((line, problem)))), said


@pytest.mark.parametrize(
    ("content", "documents"),
    [
        (b"", []),
        (b"\n  \n\t\n", []),
        (b"{}\n[]\n", [(1, b"{}\n"), (2, b"[]\n")]),
        (b"{}\r\n\r\n[]", [(1, b"{}\r\n"), (3, b"[]")]),
        (b"\xef\xbb\xbf{}\n", [(1, b"{}\n")]),
        (b"\xef\xbb\xbf{\n 1\n}\n", [(1, b"{\n 1\n}\n")]),
        (b'{\n "a": {\n }\n}\n{}\n', [(1, b'{\n "a": {\n }\n}\n'), (5, b"{}\n")]),
        (b"{\n 1\n}\n{\n 2\n}\n", [(1, b"{\n 1\n}\n"), (4, b"{\n 2\n}\n")]),
        (b"{\n not closed", [(1, b"{\n not closed")]),
        (gzip.compress(b"{}\n") + gzip.compress(b"[]\n"), [(1, b"{}\n"), (2, b"[]\n")]),
    ],
)
def test_documents_are_lines_or_indented(content: bytes, documents: list[tuple[int, bytes]]) -> None:
    assert read(content) == (documents, [])


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_that_is_too_long_is_skipped_and_named(packed: bool) -> None:
    content = b"[1]\n" + b"x" * 1_000 + b"\n[2]\n"

    documents, said = read(gzip.compress(content) if packed else content)

    assert documents == [(1, b"[1]\n"), (3, b"[2]\n")]
    assert said == [(2, "longer than 100 bytes")]


def test_a_last_line_that_is_too_long_and_never_ends_is_skipped_too() -> None:
    assert read(b"x" * 1_000) == ([], [(1, "longer than 100 bytes")])


@pytest.mark.parametrize("inside", [b"x" * 30 + b"\n", b"x" * 1_000 + b"\n"])
def test_an_indented_document_that_is_too_long_is_skipped_as_a_whole(inside: bytes) -> None:
    documents, said = read(b"{\n" + inside * 4 + b"}\n[2]\n")

    assert documents == [(7, b"[2]\n")]
    assert said == [(1, "longer than 100 bytes")]


def test_the_position_is_that_in_the_file_not_in_what_was_packed(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(gzip.compress(b"[1]\n" * 10_000))

    with Source.opened(file) as source:
        read = [source.position() for _ in source.documents(lambda line, problem: None)]

    assert read == sorted(read)
    assert 0 < read[-1] <= file.stat().st_size
