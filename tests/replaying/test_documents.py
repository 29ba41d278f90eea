"""Lines as documents: however they are laid out, however long they are."""

from __future__ import annotations

import io

import pytest

from spanfuse_processor.replaying.documents import Documents


def read(content: bytes, most: int = 100) -> tuple[list[tuple[int, bytes]], list[tuple[int, str]]]:
    """The documents of a file with the numbers of their lines, and what is complained of."""
    said: list[tuple[int, str]] = []
    documents = Documents(most, lambda line, problem: said.append((line, problem)))
    lines = (line if len(line) <= most else None for line in io.BytesIO(content))
    return list(documents.of(lines)), said


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
        (b'{\n"a": [\n{\n}\n]\n}\n', [(1, b'{\n"a": [\n{\n}\n]\n}\n')]),
        (b'{\n"a": {\n}\n}\n', [(1, b'{\n"a": {\n}\n}\n')]),
        (b"{\n 1\n}\n\n{\n 2\n}\n", [(1, b"{\n 1\n}\n\n"), (5, b"{\n 2\n}\n")]),
        (b"{\n not closed", [(1, b"{\n not closed")]),
    ],
)
def test_documents_are_lines_or_indented(content: bytes, documents: list[tuple[int, bytes]]) -> None:
    assert read(content) == (documents, [])


def test_a_line_that_is_too_long_is_skipped_and_named() -> None:
    documents, said = read(b"[1]\n" + b"x" * 1_000 + b"\n[2]\n")

    assert documents == [(1, b"[1]\n"), (3, b"[2]\n")]
    assert said == [(2, "longer than 100 bytes")]


@pytest.mark.parametrize("inside", [b"x" * 30 + b"\n", b"x" * 1_000 + b"\n"])
def test_an_indented_document_that_is_too_long_is_skipped_as_a_whole(inside: bytes) -> None:
    documents, said = read(b"{\n" + inside * 4 + b"}\n{}\n")

    assert documents == [(7, b"{}\n")]
    assert said == [(1, "longer than 100 bytes")]
