"""Reading recordings: files and folders, plain or gzip, line by line, nothing lost in silence."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from tests.replaying.recorded import lines, looping, tool

from spanfuse_processor.replaying import recording

BAD = ["this is no JSON", "[]", '{"resourceSpans": 7}', '{"some": "document"}', "\x00\x01\xff"]


def read(path: Path) -> tuple[int, list[str]]:
    """How many spans are in a file, and what is said about it."""
    said: list[str] = []
    return len(list(recording.spans(path, said.append))), said


def test_every_line_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines(looping(turns=3)))

    assert read(file) == (6, [])


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl"])
def test_gzip_is_read_too_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress(lines(looping(turns=3)).encode()))

    assert read(file) == (6, [])


def test_indented_documents_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    document = json.dumps(json.loads(lines([tool(1, 0)])), indent=1)
    file.write_text(f"{document}\n{document}\n")

    assert read(file) == (2, [])


@pytest.mark.parametrize("ending", ["\r\n", "\n\n"])
def test_lines_may_end_as_they_like(tmp_path: Path, ending: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + lines(looping(turns=3)).replace("\n", ending).encode())

    assert read(file) == (6, [])


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


def test_garbage_is_not_complained_of_line_by_line_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"\x93\x00\n" * 1_000)

    count, said = read(file)

    assert count == 0
    assert len(said) == recording.MOST_SAID + 1
    assert said[-1] == f"{file}: and 990 more of its lines like these"


@pytest.mark.parametrize(
    "other", ["{}", '{"resourceLogs": []}', '{"resourceMetrics": []}', '{"resourceSpans": []}']
)
def test_other_signals_and_empty_requests_are_nothing_to_complain_of(tmp_path: Path, other: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(f"{other}\n" + lines([tool(1, 0)]))

    assert read(file) == (1, [])


def test_a_torn_gzip_gives_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(lines(looping(turns=500)).encode())[:-20])

    count, said = read(file)

    assert count > 900
    assert said == [
        f"{file}:{count}: Compressed file ended before the end-of-stream marker was reached; "
        "nothing more is read of it"
    ]


def test_a_gzip_that_goes_on_as_garbage_gives_what_came_before(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(lines(looping(turns=3)).encode()) + b"garbage")

    count, said = read(file)

    assert (count, len(said)) == (6, 1)


def test_a_file_that_is_gone_is_said_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(lines([tool(1, 0)]))
    (tmp_path / "b.jsonl").write_text(lines([tool(2, 4)]))
    files, said = recording.find([tmp_path]), []
    os.unlink(files[0])

    spans = [span for _, span in recording.Recording(files, said.append)]

    assert len(spans) == 1
    assert said == [f"{files[0]}: No such file or directory; nothing more is read of it"]


def test_equal_resources_are_one(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines([tool(1, 0), tool(2, 4)]))

    one, other = recording.spans(file, print)

    assert one.resource is other.resource


def test_reading_tells_how_far_it_is(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jsonl").write_text(lines(looping(turns=200)))
    files, told = recording.find([tmp_path]), []

    for _ in recording.Recording(files, print, lambda *progress: told.append(progress)):
        pass

    total = sum(file.stat().st_size for file in files)
    assert {what for what, _, _ in told} == {"reading"}
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert {of for _, _, of in told} == {total}
    assert told[-1][1] == total


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


def test_a_dash_is_stdin_and_no_file() -> None:
    assert recording.find([Path("-")]) == [Path("-")]


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        recording.find([tmp_path / "nothing"])
