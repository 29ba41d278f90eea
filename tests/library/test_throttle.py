"""The throttle: who waits, for how long, and what wakes them. Time passes when the test says so."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from tests.library.making import Clock, chat, scope, tool
from tests.waiting import until

from spanfuse import guard, room
from spanfuse import throttle as throttling
from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.gate import Gate
from spanfuse.provider import Intent
from spanfuse.throttle import Throttle
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, Kind, Level
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

CHAT = BreakerKey(Level.FEATURE, "chat")
WHERE = scope("r1", feature="chat")


@pytest.fixture(autouse=True)
def _looks_when_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits looks again by itself too, every now and then; not while a test looks on."""
    monkeypatch.setattr(room, "LOOK", 60.0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> Board:
    return Board(clock)


@pytest.fixture
def throttle(board: Board) -> Throttle:
    return Throttle(board, Gate(board))


def slow(rate: float = 0.5, name: str = "slow", **more: Any) -> Directive:
    made = Directive(name, 1, CHAT, Action.THROTTLE, params=(("calls_per_second", rate),))
    return replace(made, **more)


def stop() -> Directive:
    return Directive("stop", 1, CHAT, reason="BUDGET")


def wake(board: Board) -> None:
    """Something happens on the board that concerns nobody here."""
    board.withdraw("nobody", 1)


@contextmanager
def held(throttle: Throttle, intent: Intent) -> Iterator[threading.Thread]:
    """A call that waits in a thread of its own; it has passed when the block ends."""
    before = throttle.waiting
    thread = threading.Thread(target=throttle.hold, args=(intent, WHERE))
    thread.start()
    until(lambda: throttle.waiting == before + 1)
    yield thread
    thread.join(5)
    assert not thread.is_alive()


def test_where_nothing_is_ordered_nobody_waits(throttle: Throttle) -> None:
    intent = chat()

    throttle.hold(intent, WHERE)

    assert intent.attributes == {}


def test_what_comes_slowly_enough_does_not_wait(throttle: Throttle, board: Board, clock: Clock) -> None:
    board.post(slow())
    intents = [chat() for _ in range(3)]

    for intent in intents:
        throttle.hold(intent, WHERE)
        clock.pass_(2.0)

    assert [intent.attributes for intent in intents] == [{}] * 3
    assert board.effects(slow()).calls_throttled == 0


def test_a_call_waits_for_its_place_and_says_how_long(throttle: Throttle, board: Board, clock: Clock) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)
    intent = chat()

    with held(throttle, intent):
        clock.pass_(2.0)
        wake(board)

    assert intent.attributes == {names.THROTTLED_MS: 2_000}
    assert (board.effects(slow()).calls_throttled, board.effects(slow()).throttled_for) == (1, 2.0)
    assert board.effects(slow()).applied_after == 0.0


def test_a_wait_that_is_woken_too_early_goes_on(throttle: Throttle, board: Board, clock: Clock) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)

    with held(throttle, chat()) as thread:
        clock.pass_(1.9)
        wake(board)
        thread.join(0.05)
        assert thread.is_alive()
        clock.pass_(0.1)
        wake(board)


def test_a_stop_lets_who_waits_go_on_to_its_refusal(throttle: Throttle, board: Board) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)

    with held(throttle, chat()):
        board.post(stop())

    with pytest.raises(BreakerOpen):
        throttle.gate.admit(chat(), WHERE)


def test_where_a_stop_stands_nobody_waits_at_all(throttle: Throttle, board: Board) -> None:
    board.post(slow())
    board.post(stop())

    for _ in range(3):
        throttle.hold(chat(), WHERE)

    assert board.effects(slow()).calls_throttled == 0


def test_who_waits_goes_on_when_the_order_is_lifted(throttle: Throttle, board: Board) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)

    with held(throttle, chat()):
        board.withdraw("slow", 2)


def test_who_waits_goes_on_when_the_time_of_the_order_is_up(
    throttle: Throttle, board: Board, clock: Clock
) -> None:
    board.post(slow(0.001, ttl=30.0))
    throttle.hold(chat(), WHERE)
    intent = chat()

    with held(throttle, intent):
        clock.pass_(30.0)
        wake(board)

    assert intent.attributes[names.THROTTLED_MS] == 30_000


def test_a_new_revision_of_another_pace_holds_for_who_waits_already(
    throttle: Throttle, board: Board, clock: Clock
) -> None:
    board.post(slow(0.001))
    throttle.hold(chat(), WHERE)

    with held(throttle, chat()):
        board.post(slow(10.0, revision=2))


def test_renewed_with_the_same_pace_it_gives_no_new_places(
    throttle: Throttle, board: Board, clock: Clock
) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)
    board.post(slow(revision=2))

    with held(throttle, chat()):
        board.post(slow(revision=3))
        clock.pass_(2.0)
        wake(board)


def test_of_several_orders_the_slowest_counts_and_they_do_not_add_up(
    throttle: Throttle, board: Board, clock: Clock
) -> None:
    budget = BreakerKey(Level.BUDGET, "daily")
    wide = slow(0.25, "wide", key=budget, reach=Reach(model=("gpt-*",)))
    board.post(slow())
    board.post(wide)
    throttle.hold(chat(), WHERE)
    intent = chat()

    with held(throttle, intent):
        clock.pass_(4.0)
        wake(board)

    assert intent.attributes == {names.THROTTLED_MS: 4_000}
    assert [board.effects(each).calls_throttled for each in (slow(), wide)] == [1, 1]


@pytest.mark.parametrize("mode", [Mode.SHADOW, Mode.WARN])
def test_an_order_that_is_not_enforced_is_only_counted(throttle: Throttle, board: Board, mode: Mode) -> None:
    board.post(slow(mode=mode))

    for _ in range(3):
        throttle.hold(chat(), WHERE)

    effects = board.effects(slow(mode=mode))
    assert (effects.calls_passed, effects.calls_throttled, effects.applied_after) == (3, 0, None)


def test_only_calls_of_models_wait_and_embeddings_are_some(throttle: Throttle, board: Board) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)

    throttle.hold(tool(), WHERE)
    throttle.hold(Intent(Kind.AGENT, "invoke_agent", "a"), WHERE)
    with held(throttle, Intent(Kind.EMBEDDINGS, "embeddings", "m")):
        board.withdraw("slow", 2)


def test_a_run_that_is_not_meant_passes_those_that_wait(throttle: Throttle, board: Board) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)

    with held(throttle, chat()):
        throttle.hold(chat(), scope("r2", feature="search"))
        assert throttle.waiting == 1
        board.withdraw("slow", 2)


def test_when_the_library_ends_its_work_nobody_waits_any_more(throttle: Throttle, board: Board) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)

    with held(throttle, chat()):
        throttle.let_go()

    throttle.hold(chat(), WHERE)


def test_time_passes_for_a_thread_too() -> None:
    board = Board()
    throttle = Throttle(board, Gate(board))
    board.post(slow(5.0))
    intents = [chat() for _ in range(2)]

    for intent in intents:
        throttle.hold(intent, WHERE)

    assert [intent.attributes.get(names.THROTTLED_MS, 0) > 0 for intent in intents] == [False, True]


async def test_a_fault_of_ours_holds_nobody(
    throttle: Throttle, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(directive: Directive) -> tuple[float, int]:
        raise ValueError("ours")

    board.post(slow())
    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    monkeypatch.setattr(throttling, "pace_of", fails)
    before = guard.FAULTS.count

    throttle.hold(chat(), WHERE)
    await throttle.hold_async(chat(), WHERE)

    assert guard.FAULTS.count == before + 2
    assert throttle.waiting == 0


def test_the_paces_of_orders_are_bounded(
    throttle: Throttle, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttling, "PACES", 2)

    for number in range(5):
        board.post(slow(float(number + 1), revision=number + 1))
        throttle.hold(chat(), WHERE)

    assert len(throttle._paces) == 2
