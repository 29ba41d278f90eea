"""The policy's file: another one is obeyed once it is still, a bad one is said and changes nothing."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
from tests.library.making import Clock

from spanfuse.rereading import EVERY, PolicyFile
from spanfuse.settings import Settings
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Mode


class Watched:
    """A file, and time."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "spanfuse.yaml"
        self.clock = Clock()
        self._writes = 0
        self.write("policy: {mode: enforce}")
        self.file = PolicyFile(Settings(config=str(self.path)), self.clock)

    def write(self, text: str) -> None:
        self._writes += 1
        self.path.write_text(text)
        os.utime(self.path, ns=(self._writes, self._writes))

    def look(self) -> Policy | None:
        self.clock.now += EVERY
        return self.file.changed()


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_file_that_does_not_change_says_nothing(watched: Watched) -> None:
    assert [watched.look(), watched.look()] == [None, None]


def test_a_changed_file_is_read_once_it_is_still(watched: Watched) -> None:
    watched.write("policy: {mode: shadow}")

    first, second, third = watched.look(), watched.look(), watched.look()

    assert (first, third) == (None, None)
    assert second is not None
    assert second.mode is Mode.SHADOW


def test_it_is_not_looked_at_more_often_than_every_few_seconds(watched: Watched) -> None:
    watched.write("policy: {mode: shadow}")
    watched.look()
    watched.clock.now += EVERY / 2

    assert watched.file.changed() is None


def test_a_bad_file_is_said_once_with_its_line_and_changes_nothing(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    watched.write("policy:\n  mod: shadow\n")

    with caplog.at_level(logging.ERROR, "spanfuse"):
        said = [watched.look() for _ in range(4)]

    assert said == [None] * 4
    (line,) = [record.getMessage() for record in caplog.records]
    assert "spanfuse.yaml:2" in line
    assert "mod" in line


def test_a_file_that_is_gone_changes_nothing_and_is_said_once(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    watched.path.unlink()

    with caplog.at_level(logging.ERROR, "spanfuse"):
        said = [watched.look() for _ in range(4)]

    assert said == [None] * 4
    (line,) = [record.getMessage() for record in caplog.records]
    assert "is not there any more; the policy before stays" in line


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n", "{}", "---\n{ }\n", "policy:\n"])
def test_a_file_that_suddenly_says_nothing_is_refused(
    watched: Watched, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    watched.write(text)

    with caplog.at_level(logging.ERROR, "spanfuse"):
        said = [watched.look() for _ in range(4)]

    assert said == [None] * 4
    (line,) = [record.getMessage() for record in caplog.records]
    assert "spanfuse.yaml: is empty" in line


def test_who_means_it_says_so(watched: Watched) -> None:
    watched.write("policy: {}")
    watched.look()

    assert watched.look() == Policy()


def test_a_file_that_said_nothing_before_may_go_on_doing_so(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.write("")
    watched.file = PolicyFile(Settings(config=str(watched.path)), watched.clock)
    watched.write("# still nothing")
    watched.look()

    assert watched.look() == Policy()


def test_without_a_file_nothing_is_ever_read() -> None:
    clock = Clock()
    file = PolicyFile(Settings(), clock)
    clock.now += EVERY

    assert file.changed() is None
