"""The record of whole processes: where it is, who writes to it, and what is left when they end."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.library.programs import CALLS, environment, run_program

from spanfuse_processor.rows import StepRow
from spanfuse_processor.storing import open_store

WORK = """
def work(*numbers):
    with spanfuse.run(name="job"):
        for number in numbers:
            begin(Intent(Kind.TOOL, "execute_tool", "look", arguments=number)).succeed(Outcome(result=number))
"""
ENDS_AT_ONCE = WORK + "spanfuse.instrument(); work(1)"
FORKS = (
    WORK
    + """
import os
spanfuse.instrument()
work(1)
children = []
for number in range(3):
    child = os.fork()
    if not child:
        work(10 + number, 20 + number)
        spanfuse.shutdown(10.0)
        os._exit(0)
    children.append(child)
work(2, 3)
for child in children:
    assert os.waitpid(child, 0)[1] == 0
"""
)
FORKS_WHILE_IT_WRITES = (
    WORK
    + """
import os, threading, time
from opentelemetry import trace
from spanfuse.prices import day_of
from spanfuse_processor.engine.pricing import Rates
from tests.waiting import until
spanfuse.instrument()
work(0)
# A module that a thread imports while the process forks cannot be imported by the child, whoever imports it.
until(lambda: type(trace.get_tracer_provider()).__name__ == "StandIn", 30)
price = "openai", "gpt-4o-mini", day_of(time.time_ns())
until(lambda: isinstance(runtime.live().prices.rates(*price), Rates), 30)
over = threading.Event()
def busily():
    while not over.wait(0.001):  # as much as it can would be in the way of the thread that writes
        work(*range(5))
thread = threading.Thread(target=busily, daemon=True)
thread.start()
longest = 0.0
for number in range(10):
    began = time.monotonic()
    child = os.fork()
    if not child:
        spanfuse.run(name="child").__enter__()
        begin(Intent(Kind.TOOL, "execute_tool", "child")).succeed(Outcome(result=number))
        spanfuse.shutdown(10.0)
        os._exit(0)
    longest = max(longest, time.monotonic() - began)
    os.waitpid(child, 0)
over.set()
thread.join()
tell(longest=longest)
"""
)
GOES_ON = (
    WORK
    + """
import itertools, threading
spanfuse.instrument()
for number in itertools.count():
    work(number)
    tell(number=number)
    threading.Event().wait(0.005)
"""
)


def steps(file: Path) -> list[StepRow]:
    store = open_store(f"sqlite:{file}")
    try:
        return list(store.steps())
    finally:
        store.close()


def tools(file: Path) -> int:
    return sum(step.kind == "tool" for step in steps(file))


def test_by_default_it_is_a_file_of_the_users_state(tmp_path: Path) -> None:
    code = 'import os; del os.environ["PYTEST_CURRENT_TEST"]' + ENDS_AT_ONCE
    run_program(code, XDG_STATE_HOME=str(tmp_path))

    assert tools(tmp_path / "spanfuse" / "embedded.db") == 1


def test_a_program_that_ends_at_once_has_its_calls_recorded_and_ends_soon(tmp_path: Path) -> None:
    file = tmp_path / "record.db"
    run_program(ENDS_AT_ONCE, SPANFUSE_JOURNAL=str(file))

    assert tools(file) == 1


def test_without_calls_there_is_no_file(tmp_path: Path) -> None:
    file = tmp_path / "record.db"
    run_program("spanfuse.instrument()", SPANFUSE_JOURNAL=str(file))

    assert not file.exists()


def test_children_of_a_fork_and_their_parent_write_one_file(tmp_path: Path) -> None:
    file = tmp_path / "record.db"
    run_program(FORKS, SPANFUSE_JOURNAL=str(file))

    assert tools(file) == 3 + 3 * 2


def test_a_fork_in_the_middle_of_writing_is_not_held_up(tmp_path: Path) -> None:
    file = tmp_path / "record.db"
    (told,) = run_program(FORKS_WHILE_IT_WRITES, SPANFUSE_JOURNAL=str(file))

    with contextlib.closing(sqlite3.connect(file)) as database:  # of a store one reads the latest rows only
        (children,) = database.execute("SELECT COUNT(*) FROM step WHERE tool = 'child'").fetchone()
    assert children == 10
    assert told["longest"] < 1.0


def test_many_processes_write_one_file_and_nothing_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "record.db"
    code = CALLS + WORK + "spanfuse.instrument(); work(*range(50)); spanfuse.shutdown(40.0)"
    variables = environment(SPANFUSE_JOURNAL=str(file))
    processes = [
        subprocess.Popen([sys.executable, "-c", code], env=variables, stderr=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    said = [process.communicate(timeout=60)[1] for process in processes]

    assert [process.returncode for process in processes] == [0] * 6
    assert said == [""] * 6
    assert tools(file) == 6 * 50


def test_a_file_that_is_locked_does_not_keep_a_program_from_ending(tmp_path: Path) -> None:
    file = tmp_path / "record.db"
    run_program(ENDS_AT_ONCE, SPANFUSE_JOURNAL=str(file))
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    (told,) = run_program(
        WORK
        + """
import time
spanfuse.instrument()
work(1)
began = time.monotonic()
spanfuse.shutdown()
tell(took=time.monotonic() - began)
""",
        SPANFUSE_JOURNAL=str(file),
    )
    other.close()

    assert told["took"] < 1.5


def test_a_kill_costs_the_last_second_at_most(tmp_path: Path) -> None:
    file = tmp_path / "record.db"
    command = [sys.executable, "-c", CALLS + GOES_ON]
    variables = environment(SPANFUSE_JOURNAL=str(file))
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables, text=True) as process:
        assert process.stdout is not None
        began, seen = time.monotonic(), []
        for _ in process.stdout:
            seen.append(time.monotonic())
            if seen[-1] - seen[0] > 3.0:
                break
        os.kill(process.pid, signal.SIGKILL)
    assert began < seen[0]
    sure = sum(each < seen[-1] - 1.5 for each in seen)

    assert tools(file) >= sure > 0


@pytest.mark.parametrize("said", ["off", ""])
def test_under_pytest_nothing_is_recorded_unless_that_is_asked(tmp_path: Path, said: str) -> None:
    run_program(ENDS_AT_ONCE, XDG_STATE_HOME=str(tmp_path), SPANFUSE_JOURNAL=said)

    assert not list(tmp_path.iterdir())
