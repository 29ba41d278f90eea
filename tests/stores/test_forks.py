"""A process forks while it has a file open: neither loses what it writes, nor what the other wrote."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.stores.making import call

from spanfuse_processor.store import Store
from spanfuse_processor.stores import sqlite
from spanfuse_processor.storing import open_store


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'spanfuse.db'}"


class Child:
    """A fork that does some things, one each time that it is told."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        (self._hear, told), (hear, self._told) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if not self.pid:  # pragma: no cover - in the child
            signal.alarm(20)
            os.close(self._told)
            for act in acts:
                os.read(hear, 1)
                try:
                    act()
                    os.write(told, b"y")
                except BaseException:
                    os.write(told, b"n")
            os._exit(0)
        os.close(hear)
        os.close(told)

    def goes_on(self) -> bool:
        """Has it do the next thing. Whether that went well."""
        os.write(self._told, b".")
        return os.read(self._hear, 1) == b"y"

    def end(self) -> int:
        os.close(self._hear)
        os.close(self._told)
        return os.waitpid(self.pid, 0)[1]


def kept(url: str) -> int:
    """Rows of the bill in a file that is whole."""
    with sqlite3.connect(url.removeprefix("sqlite:")) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (rows,) = file.execute("SELECT COUNT(*) FROM step").fetchone()
    file.close()
    return int(rows)


def test_a_child_goes_on_writing_when_its_parent_has_closed_the_file(url: str) -> None:
    parents = open_store(url)
    parents.append_steps([call(1)])
    own: list[Store] = []
    child = Child(
        lambda: own.append(open_store(url)),
        lambda: own[0].append_steps([call(2)]),
        lambda: own[0].append_steps([call(3)]),
        lambda: own[0].close(),
    )
    assert child.goes_on()
    assert child.goes_on()
    parents.append_steps([call(4)])

    parents.close()

    assert child.goes_on()
    assert child.goes_on()
    assert child.end() == 0
    assert kept(url) == 4


def test_a_child_does_not_take_the_file_for_locked(url: str) -> None:
    """As it would if its parent were writing while it forks."""
    parents = open_store(url)
    child = Child(lambda: parents.append_steps([call(1)]), lambda: open_store(url).append_steps([call(2)]))

    assert not child.goes_on()  # what is inherited is closed
    assert child.goes_on()
    parents.append_steps([call(3)])
    assert child.end() == 0
    parents.close()
    assert kept(url) == 2


def test_a_fork_waits_a_moment_for_who_is_writing_and_then_goes_on(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "FORK_WAITS", 0.01)
    parents = open_store(url)
    assert isinstance(parents, sqlite.SqliteStore)

    with parents.writing():
        child = Child(lambda: None)
        assert child.goes_on()
        assert child.end() == 0

    parents.append_steps([call(1)])
    parents.close()
    assert kept(url) == 1
