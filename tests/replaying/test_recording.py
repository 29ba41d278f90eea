"""Reading recordings: files and folders, plain or gzip, line by line, nothing lost in silence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from tests.replaying.recorded import lines, looping, tool

from spanfuse_processor.replaying import recording

BAD = ["this is no JSON", "[]", '{"resourceSpans": 7}']


def read(path: Path) -> tuple[int, list[str]]:
    """How many spans are in a file, and what is said about it."""
    said: list[str] = []
    return len(list(recording.spans(path, said.append))), said


def test_every_line_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines(looping(turns=3)))

    assert read(file) == (6, [])


def test_gzip_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(lines(looping(turns=3)).encode()))

    assert read(file) == (6, [])


def test_one_indented_document_is_read_as_one(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(json.loads(lines([tool(1, 0)])), indent=1))

    assert read(file) == (1, [])


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_line_costs_itself_and_is_named(tmp_path: Path, bad: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines([tool(1, 0)]) + f"\n{bad}\n" + lines([tool(2, 4)]))

    count, said = read(file)

    assert count == 2
    assert len(said) == 1
    assert said[0].startswith(f"{file}:3: ")


def test_a_bad_span_costs_itself_and_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines([tool(1, 0) | {"traceId": "00"}, tool(2, 4)]))

    count, said = read(file)

    assert count == 1
    assert said[0].startswith(f"{file}:1: spans refused: 1 (")


def test_a_torn_gzip_gives_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(lines(looping(turns=500)).encode())[:-20])

    count, said = read(file)

    assert count > 0
    assert len(said) == 1
    assert str(file) in said[0]


def test_a_folder_gives_its_recordings_in_order_and_nothing_else(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.json", "c.jsonl.gz", "notes.txt", "inner/d.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    found = recording.find([tmp_path])

    assert [path.relative_to(tmp_path).as_posix() for path in found] == [
        "a.json",
        "b.jsonl",
        "c.jsonl.gz",
        "inner/d.jsonl",
    ]


def test_a_named_file_is_read_whatever_it_is_called_and_once(tmp_path: Path) -> None:
    file = tmp_path / "spans.log"
    file.touch()

    assert recording.find([file, file]) == [file]


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        recording.find([tmp_path / "nothing"])
