"""What an application has spent outlives it: a restart, a kill, a store that is away; nobody waits for it."""

from __future__ import annotations

import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.library.examples import span
from tests.library.programs import CALLS, environment, run_program
from tests.waiting import until

from spanfuse import keeping
from spanfuse.board import Board
from spanfuse.hosts.embedded import EmbeddedHost
from spanfuse.settings import Settings
from spanfuse_processor.engine import NoPrices, Policy, names
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.storing import open_store

CALLS_A_DAY = Budget("calls", 1_000_000, Measure.CALLS)
STRICT = Budget("strict", 10, Measure.CALLS, strict=True)
ACCOUNT = Account("calls")
SOON = 10.0
NOW = time.time_ns()

PROGRAM = """
from spanfuse_processor.engine.budget import Budget, Measure
from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.policy import Policy

def instrument(**more):
    budgets = (Budget("tokens", 10**9, Measure.TOKENS), Budget("calls", 10**9, Measure.CALLS))
    spanfuse.instrument(policy=Policy(budgets=budgets), **more)

def spent():
    judge = runtime.live().host.judge
    found = judge.money(lambda treasury, wall: treasury.ledger.balances(wall))
    return {str(account): balance.spent for account, balance in found.items()}

def spend(number):
    with spanfuse.run(name="job"):
        begin(Intent(Kind.MODEL, "chat", "m")).succeed(Outcome(result=str(number), usage=Usage(100, 23)))
"""
SPENDING = """
import itertools, threading, time
instrument()
tell(before=spent())
for number in itertools.count(1):
    spend(number)
    tell(number=number, at=time.monotonic())
    threading.Event().wait(0.01)
"""
"""Spends until it is killed, and says when."""

LOOKING = """
instrument()
tell(before=spent())
"""

FORKING = """
import os
instrument()
spend(1)
child = os.fork()
for number in (2, 3) if child else (4, 5, 6):
    spend(number)
spanfuse.shutdown(10.0)
if not child:
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "spent.db")


class Application:
    """A host that keeps what it counts."""

    made: list[Application] = []

    def __init__(self, store: str, *budgets: Budget, journal: str = "off") -> None:
        policy = Policy(budgets=budgets or (CALLS_A_DAY,))
        self.host = EmbeddedHost(Settings(policy=policy, store=store, journal=journal), Board(), NoPrices())
        self.host.start()
        self.made.append(self)

    def call(self, *tools: str) -> None:
        for name in tools:
            attributes = {names.OPERATION: "execute_tool", names.TOOL: name, names.RUN: "r"}
            self.host.span_ended(
                span(f"execute_tool {name}", attributes=attributes, start_ns=NOW, end_ns=NOW)
            )

    def spent(self) -> int:
        return self.host.judge.money(lambda treasury, wall: treasury.ledger.balance(ACCOUNT, wall).spent)


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    for each in Application.made:
        each.host.stop()
    Application.made.clear()


def test_what_was_spent_goes_on_after_a_restart(store: str) -> None:
    first = Application(store)
    first.call("a", "b", "c")
    first.host.stop()

    second = Application(store)
    second.call("d")

    assert second.spent() == 4
    assert second.host.stats().unkept == 0


def test_it_is_in_a_bill_too(store: str) -> None:
    first = Application(store, journal=store)
    first.call("a", "b")
    first.host.stop()

    kept = open_store(f"sqlite:{store}")
    (total,) = kept.spend((), 0.0, 1e12)
    kept.close()
    assert total.calls == 2


def test_a_kill_costs_the_last_second_at_most_and_nothing_counts_twice(store: str) -> None:
    """Twice over, for the second life begins with what the first has left."""
    counted, told = 0, 0
    for _ in range(2):
        lines = killed_after(1.5, store)
        assert lines[0]["before"].get("calls", 0) == counted
        killed = lines[-1]["at"]
        told += lines[-1]["number"]
        sure = counted + sum(each["at"] < killed - 1.0 for each in lines[1:])

        (looked,) = run_program(PROGRAM + LOOKING, SPANFUSE_STORE=store)
        counted = looked["before"]["calls"]
        assert sure <= counted <= told
        assert looked["before"]["tokens"] == 123 * counted
        told = counted


def killed_after(seconds: float, store: str) -> list[dict[str, Any]]:
    """What a program told that spends, and is killed in the middle of it."""
    code = CALLS + PROGRAM + SPENDING
    command, variables = [sys.executable, "-c", code], environment(SPANFUSE_STORE=store)
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables, text=True) as process:
        assert process.stdout is not None
        lines = [json.loads(process.stdout.readline())]
        began = 0.0
        for line in process.stdout:
            lines.append(json.loads(line))
            began = began or lines[-1]["at"]
            if lines[-1]["at"] - began >= seconds:
                break
        os.kill(process.pid, signal.SIGKILL)
        for line in process.stdout:
            if line.endswith("\n"):
                lines.append(json.loads(line))
    assert process.returncode == -signal.SIGKILL
    return lines


def test_a_store_that_cannot_be_used_is_said_once_and_nobody_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "AGAIN", 0.01)
    monkeypatch.setattr(keeping, "PATIENCE", 0.05)
    (tmp_path / "file").write_text("no folder")
    began = time.monotonic()
    with caplog.at_level(logging.INFO, "spanfuse"):
        application = Application(f"{tmp_path}/file/spent.db")
        application.call("a", "b")
        until(lambda: application.host.stats().unkept >= 3)
        application.host.stop(0.1)

    assert application.spent() == 2
    assert time.monotonic() - began < SOON / 2
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "spent.db cannot be used" in caplog.text


def test_what_is_spent_while_the_file_is_locked_is_added_to_what_was_before(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "PATIENCE", 0.05)
    first = Application(store, CALLS_A_DAY, STRICT)
    first.call("a", "b", "c")
    first.host.stop()
    other = sqlite3.connect(store, isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")

    second = Application(store, CALLS_A_DAY, STRICT)
    second.call("d")
    payer = Payer(feature="mail")
    second.host.judge.money(lambda treasury, wall: treasury.ledger.reserve(b"k", payer, Amounts(1, 1), wall))
    assert second.spent() == 1
    other.close()

    until(lambda: second.spent() == 4, SOON)
    balance = second.host.judge.money(lambda treasury, wall: treasury.ledger.balance(Account("strict"), wall))
    assert (balance.spent, balance.reserved) == (4, 1)
    second.host.stop()
    assert Application(store).spent() == 4


def test_two_that_share_a_file_know_what_each_other_spend(store: str) -> None:
    one, other = Application(store), Application(store)
    one.call("a", "b")
    other.call("c")

    until(lambda: (one.spent(), other.spent()) == (3, 3), SOON)

    one.host.stop()
    other.host.stop()
    assert Application(store).spent() == 3


def test_the_child_of_a_fork_keeps_what_it_spends_in_the_same_file(store: str) -> None:
    run_program(PROGRAM + FORKING, SPANFUSE_STORE=store)

    (looked,) = run_program(PROGRAM + LOOKING, SPANFUSE_STORE=store)
    assert looked["before"] == {"tokens": 6 * 123, "calls": 6}


def test_without_a_store_nothing_is_kept_and_nothing_is_written_down() -> None:
    application = Application("")
    application.call("a")

    assert application.host.judge.money(lambda treasury, wall: treasury.ledger.drain()) == []
