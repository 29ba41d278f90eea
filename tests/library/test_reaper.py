"""What is dropped is ended, on the reaper's own thread."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from tests.waiting import until

from spanfuse import guard, reaper


class Owner:
    """Something that can be dropped, with a cycle as SDKs' streams have."""

    def __init__(self) -> None:
        self.itself = self


def test_the_ending_of_a_dropped_owner_is_called_on_another_thread() -> None:
    threads: list[str] = []
    owner = Owner()
    reaper.when_dropped(owner, lambda: threads.append(threading.current_thread().name))

    del owner
    gc.collect()

    until(lambda: threads)
    assert threads == ["spanfuse-reaper"]


def test_flush_waits_for_what_has_been_dropped() -> None:
    endings: list[str] = []
    call_off = reaper.when_dropped(Owner(), lambda: None)

    reaper.later(lambda: endings.append("first"))
    done = reaper.flush(timeout=5)

    assert done
    assert endings == ["first"]
    call_off()


@pytest.fixture
def uncollected(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is collected but by a sweep, and none was made before."""
    monkeypatch.setattr(reaper, "_next_sweep", 0.0)
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_a_sweep_finds_what_was_dropped_and_waits_for_its_end() -> None:
    endings: list[str] = []
    reaper.when_dropped(Owner(), lambda: endings.append("swept"))
    assert endings == []

    assert reaper.sweep()

    assert endings == ["swept"]


@pytest.mark.usefixtures("uncollected")
def test_it_is_not_made_twice_in_a_second() -> None:
    owner = Owner()
    call_off = reaper.when_dropped(owner, lambda: None)

    assert [reaper.sweep(), reaper.sweep()] == [True, False]
    call_off()


@pytest.mark.usefixtures("uncollected")
def test_nor_where_nothing_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaper, "_owners", set())

    assert not reaper.sweep()
    assert reaper._next_sweep == 0.0


def test_an_ending_that_was_called_off_is_not_called() -> None:
    endings: list[str] = []
    owner = Owner()
    call_off = reaper.when_dropped(owner, lambda: endings.append("first"))

    call_off()
    del owner
    gc.collect()
    reaper.later(lambda: endings.append("second"))

    until(lambda: endings)
    assert endings == ["second"]


def test_an_ending_that_fails_takes_no_other_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    before = guard.FAULTS.count
    endings: list[str] = []
    call_off = reaper.when_dropped(Owner(), lambda: None)

    reaper.later(lambda: endings.append(str(1 / 0)))
    reaper.later(lambda: endings.append("second"))

    until(lambda: endings)
    assert endings == ["second"]
    assert guard.FAULTS.count == before + 1
    call_off()


EXIT = """
from spanfuse import reaper
class Owner: pass
kept = Owner()
reaper.when_dropped(kept, lambda: print("ended"))
"""


def test_what_is_left_at_exit_is_ended_then() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXIT], capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.stdout, done.stderr) == ("ended\n", "")


FORK = """
import gc, os, threading
from spanfuse import reaper
class Owner: pass
parents = Owner()
reaper.when_dropped(parents, lambda: print("ended", os.getpid() == parent))
parent = os.getpid()
if os.fork() == 0:
    del parents
    done = threading.Event()
    reaper.when_dropped(Owner(), done.set)
    gc.collect()
    os._exit(0 if done.wait(5) else 1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def test_the_child_of_a_fork_has_a_reaper_of_its_own_and_leaves_the_parents_owners_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.stdout, done.stderr) == ("0\nended True\n", "")
