"""The host that judges in the application: verdicts are on the board before the call returns."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.library.examples import begun
from tests.library.making import Clock
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.errors import SettingsError
from spanfuse.host import HostState
from spanfuse.hosts import embedded
from spanfuse.hosts.embedded import EmbeddedHost
from spanfuse.rereading import EVERY
from spanfuse.settings import Settings
from spanfuse_processor.engine import names
from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.budget import Budget, Measure
from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.engine.nouns import BreakerKey, Fingerprints, Kind, Level
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.pricing import NoPrices
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result

R1 = BreakerKey(Level.RUN, "r1")
PRINTS = Fingerprints("a" * 16, "a" * 16, "b" * 16, "b" * 16, result_size=3)


def span(number: int, run: str = "r1") -> RawSpan:
    """The same failing tool call, again."""
    now = 1_700_000_000_000_000_000 + number * 1_000_000_000
    return RawSpan(
        trace_id=b"t" * 16,
        span_id=number.to_bytes(8, "big"),
        parent_span_id=b"",
        name="execute_tool search",
        start_ns=now,
        end_ns=now + 1_000_000,
        attributes={
            names.OPERATION: "execute_tool",
            names.TOOL: "search",
            names.RUN: run,
            names.DEPTH: 0,
            names.ARGUMENTS: pack_arguments(PRINTS),
            names.RESULT: pack_result(PRINTS),
        },
    )


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def host(board: Board) -> Iterator[EmbeddedHost]:
    host = EmbeddedHost(Settings(policy=Policy()), board, NoPrices())
    host.start()
    yield host
    host.stop()


def test_a_loop_is_on_the_board_before_the_end_of_the_call_that_showed_it(
    host: EmbeddedHost, board: Board
) -> None:
    for number in range(1, 12):
        host.span_ended(span(number))
        if not board.empty:
            break

    standing = board.standing([R1])
    assert standing is not None
    assert standing.issuer == "embedded"
    assert standing.issued_ns > 0
    assert number <= 8
    assert host.stats().directives == 1


def test_a_kill_stands_until_it_is_released(host: EmbeddedHost, board: Board) -> None:
    assert host.kill(R1, "enough")
    assert not host.kill(R1, "enough")
    standing = board.standing([R1])
    assert standing is not None
    assert standing.reason == "MANUAL"

    assert host.release(R1)
    assert board.empty


def test_it_says_what_it_counts(host: EmbeddedHost) -> None:
    host.span_ended(span(1))

    assert dataclasses.replace(host.stats()).state is HostState.JUDGING
    assert (host.stats().spans, host.stats().dropped) == (1, 0)


def test_after_its_end_it_drops_and_counts(host: EmbeddedHost) -> None:
    host.stop()
    host.span_ended(span(1))

    assert (host.stats().state, host.stats().dropped) == (HostState.IDLE, 1)


def test_time_passes_by_itself_once_there_are_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's deadlines come due though nobody calls any more."""
    monkeypatch.setattr(embedded, "LONGEST", 0.005)
    advanced: list[float] = []
    host = EmbeddedHost(Settings(policy=Policy()), Board(), NoPrices())
    original = host.judge.advance

    def advance() -> float | None:
        advanced.append(time.monotonic())
        return original()

    monkeypatch.setattr(host.judge, "advance", advance)
    host.start()
    host.span_ended(span(1))

    until(lambda: len(advanced) > 3)
    host.stop()


def test_a_fault_inside_is_counted_and_stays_inside(
    host: EmbeddedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")

    def broken(_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(host.judge, "span_ended", broken)
    monkeypatch.setattr(host.judge, "observe", broken)

    host.span_ended(span(1))
    host.call_started(begun(Kind.AGENT))

    assert host.stats().faults == 2
    assert "broken" in host.stats().last_fault


def test_a_policy_that_cannot_be_read_is_said_at_once() -> None:
    with pytest.raises(SettingsError):
        EmbeddedHost(Settings(config="/nowhere.yaml"), Board(Clock()))


def test_what_happens_to_a_budget_is_told_on_the_timers_thread(board: Board) -> None:
    told: list[tuple[str, float]] = []
    policy = Policy(budgets=(Budget("daily", 2, Measure.CALLS),))

    def hear(event: BudgetEvent) -> None:
        told.append((threading.current_thread().name, event.share))

    host = EmbeddedHost(Settings(policy=policy, on_event=hear), board, NoPrices())
    host.start()
    host.span_ended(span(1))
    until(lambda: told)
    host.stop()

    assert told == [("spanfuse-timer", 0.5)]


def test_a_changed_file_is_obeyed_by_the_host_and_by_whoever_follows(board: Board, tmp_path: Path) -> None:
    path = tmp_path / "spanfuse.yaml"
    path.write_text("policy: {budgets: {daily: {calls: 4}}}")
    clock = Clock()
    board.clock = clock
    host = EmbeddedHost(Settings(config=str(path)), board, NoPrices())
    followed: list[Policy] = []
    host.followers.append(followed.append)
    host.start()
    for number in (1, 2, 3):
        host.judge.span_ended(span(number, f"r{number}"))

    path.write_text("policy: {budgets: {daily: {calls: 3}}}")
    for _ in range(2):
        clock.now += EVERY
        host.tick()

    assert [each.limit for each in followed[0].budgets] == [3]
    (stands,) = board.directives()
    assert (stands.key.id, stands.evidence.observed) == ("daily", 3.0)
