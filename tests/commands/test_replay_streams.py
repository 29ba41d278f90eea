"""`spanfuse replay` as a process among others: stdin, pipes that close, outputs that cannot show a name."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.replaying.recorded import lines, looping, tool

COMMAND = [sys.executable, "-m", "spanfuse_processor", "replay"]
ENVIRONMENT = {"PYTHONPATH": ":".join(sys.path), "PATH": ""}


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own."""
    given = {"env": ENVIRONMENT, "timeout": 60, "check": False, **more}
    return subprocess.run([*COMMAND, *arguments], capture_output=True, **given)


def test_stdin_is_read_as_a_dash() -> None:
    done = run("--output", "json", "-", input=gzip.compress(lines(looping()).encode()))

    assert (done.returncode, done.stderr) == (1, b"")
    assert json.loads(done.stdout)["file"] == "-"


def test_without_a_terminal_there_is_no_progress_and_no_colour(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines(looping(turns=2_000)))

    done = run(str(file))

    assert done.stderr == b""
    assert b"\x1b" not in done.stdout
    assert done.stdout.isascii()


@pytest.mark.parametrize("runs", [1, 400])
def test_a_reader_that_goes_away_is_no_error(runs: int) -> None:
    """Little is written at the end only, much is written at once: both come to nobody."""
    pipe, given = subprocess.PIPE, [*COMMAND, "--output", "json", "-"]

    with subprocess.Popen(given, stdin=pipe, stdout=pipe, stderr=pipe, env=ENVIRONMENT) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdout.close()
        process.stdin.write(lines(each for number in range(runs) for each in looping(number + 1)).encode())
        process.stdin.close()
        said = process.stderr.read()

    assert (process.returncode, said) == (1, b"")


def test_an_output_that_cannot_show_a_name_gets_it_escaped(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines(tool(number, 4 * number, name="検索\x1b[2J") for number in range(1, 7)))

    done = run(str(file), env=ENVIRONMENT | {"PYTHONIOENCODING": "ascii"})

    assert done.returncode == 1, done.stderr
    assert b"\\u691c\\u7d22\\x1b[2J" in done.stdout


def test_an_interrupt_ends_it_without_a_word() -> None:
    pipe = subprocess.PIPE

    with subprocess.Popen([*COMMAND, "-"], stdin=pipe, stdout=pipe, stderr=pipe, env=ENVIRONMENT) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(b"no JSON\n" + lines(looping()).encode())
        process.stdin.flush()
        assert b"-:1: not JSON" in process.stderr.readline()  # it reads, and waits for more
        process.send_signal(signal.SIGINT)
        process.wait(20)
        said = process.stdout.read(), process.stderr.read()

    assert (process.returncode, said) == (130, (b"", b""))
