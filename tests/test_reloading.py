"""The configuration file watched: read once it is still, obeyed or refused whole."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

import pytest

from spanfuse_processor.config import Config, Control
from spanfuse_processor.config_loading import ConfigError
from spanfuse_processor.engine.policy import Policy, PolicyError
from spanfuse_processor.engine.verdicts import Mode
from spanfuse_processor.reloading import Reloader, needing_a_restart


class Clock:
    """Stands still."""

    def monotonic(self) -> float:
        return 0.0

    def wall_ns(self) -> int:
        return 7_000_000_000


class Watched:
    """A file, what reading it gives, and what was obeyed."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "spanfuse.yaml"
        self.next: Config | Exception = Config(policy=Policy(mode=Mode.SHADOW))
        self.obeyed: list[Config] = []
        self.reads = self._writes = 0
        self.touch()
        self.reloader = Reloader(self.path, Config(), self.load, self.obey, Clock())

    def touch(self, text: str = "policy: {}") -> None:
        self._writes += 1
        self.path.write_text(text)
        os.utime(self.path, ns=(self._writes, self._writes))

    def load(self) -> Config:
        self.reads += 1
        if isinstance(self.next, Exception):
            raise self.next
        return self.next

    def obey(self, config: Config) -> None:
        if config.policy.mode is Mode.WARN:
            raise PolicyError(("detectors", "repeat", "equals"), "no such limit")
        self.obeyed.append(config)

    def look(self, times: int = 1) -> None:
        async def looks() -> None:
            for _ in range(times):
                await self.reloader.look()

        asyncio.run(looks())


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_a_file_that_does_not_change_is_not_read(watched: Watched) -> None:
    watched.look(3)

    assert watched.reads == 0


def test_a_changed_file_is_read_at_the_second_look_and_once(watched: Watched) -> None:
    watched.touch()

    watched.look()
    assert watched.reads == 0
    watched.look(3)

    assert (watched.reads, len(watched.obeyed)) == (1, 1)
    assert watched.reloader.counts == {"applied": 1, "refused": 0}
    assert watched.reloader.last == (True, 7.0)


def test_a_file_that_is_still_being_written_is_left_alone(watched: Watched) -> None:
    for _ in range(4):
        watched.touch()
        watched.look()

    assert watched.reads == 0


def test_whoever_asks_has_it_read_at_once(watched: Watched) -> None:
    watched.reloader.ask()

    watched.look()

    assert watched.reads == 1


@pytest.mark.parametrize(
    "problem", [ConfigError("spanfuse.yaml", 3, "policy.mode: no such mode"), OSError("the disk is gone")]
)
def test_what_cannot_be_read_is_refused_and_said(
    watched: Watched, problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    watched.next = problem
    watched.touch()

    with caplog.at_level(logging.ERROR, "spanfuse"):
        watched.look(3)

    assert watched.obeyed == []
    assert watched.reloader.counts == {"applied": 0, "refused": 1}
    assert not watched.reloader.last[0]
    (record,) = caplog.records
    if isinstance(problem, ConfigError):
        said = {"file": "spanfuse.yaml", "line": 3, "problem": "policy.mode: no such mode"}
        assert record.__dict__["fields"] == said


def test_what_cannot_be_obeyed_is_refused(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    watched.next = Config(policy=Policy(mode=Mode.WARN))
    watched.reloader.ask()

    with caplog.at_level(logging.ERROR, "spanfuse"):
        watched.look()

    assert watched.reloader.counts["refused"] == 1
    assert "detectors.repeat.equals" in caplog.records[0].__dict__["fields"]["problem"]


def test_a_good_file_after_a_bad_one_is_obeyed(watched: Watched) -> None:
    watched.next = ConfigError("spanfuse.yaml", 3, "bad")
    watched.touch()
    watched.look(2)
    watched.next = Config()
    watched.touch()
    watched.look(2)

    assert watched.reloader.last[0]
    assert len(watched.obeyed) == 1


def test_a_file_that_is_gone_changes_nothing_and_is_said_once(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    watched.path.unlink()

    with caplog.at_level(logging.ERROR, "spanfuse"):
        watched.look()
        assert caplog.records == []  # it may be about to be replaced
        watched.look(3)

    assert watched.reads == 0
    (record,) = caplog.records
    assert record.__dict__["fields"]["problem"] == "is not there any more"


def test_a_file_that_comes_back_is_read_and_is_missed_again(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "spanfuse"):
        for _ in range(2):
            watched.path.unlink()
            watched.look(3)
            watched.touch()
            watched.look(2)

    assert (watched.reads, len(caplog.records)) == (2, 2)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing yet\n", "{}", "---\n{ }\n", "policy:\n"])
def test_a_file_that_suddenly_says_nothing_is_refused_also_when_asked(
    watched: Watched, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    watched.touch(text)

    with caplog.at_level(logging.ERROR, "spanfuse"):
        watched.look(3)
        watched.reloader.ask()
        watched.look()

    assert watched.obeyed == []
    assert watched.reloader.counts == {"applied": 0, "refused": 2}
    assert "is empty" in caplog.records[0].__dict__["fields"]["problem"]


def test_one_that_is_emptied_while_it_is_read_is_refused_too(watched: Watched) -> None:
    def load() -> Config:
        watched.touch("")
        return Config()

    watched.reloader = Reloader(watched.path, Config(), load, watched.obey, Clock())
    watched.reloader.ask()
    watched.look()

    assert watched.obeyed == []


def test_a_file_that_said_nothing_before_may_go_on_doing_so(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.touch("# all as it is")
    watched.reloader = Reloader(watched.path, Config(), watched.load, watched.obey, Clock())
    watched.touch("# all as it was")
    watched.look(2)
    watched.touch("policy: {mode: shadow}")
    watched.look(2)
    watched.touch("")
    watched.look(2)

    assert watched.reloader.counts == {"applied": 2, "refused": 1}


def test_sections_that_need_a_restart_are_named(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    watched.next = Config(control=Control(retained=5))
    watched.reloader.ask()

    with caplog.at_level(logging.WARNING, "spanfuse"):
        watched.look()

    assert caplog.records[-1].__dict__["fields"] == {"sections": "control"}
    assert needing_a_restart(Config(), Config(policy=Policy(mode=Mode.WARN))) == []
