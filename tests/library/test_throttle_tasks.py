"""The throttle and asyncio: tasks wait without keeping others from running."""

from __future__ import annotations

import asyncio
import sys
import threading
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from tests.library.making import Clock, chat, scope

from spanfuse.board import Board
from spanfuse.gate import Gate
from spanfuse.provider import Intent
from spanfuse.throttle import Throttle
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action, Directive

CHAT = BreakerKey(Level.FEATURE, "chat")
WHERE = scope("r1", feature="chat")


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


async def begun(throttle: Throttle, intent: Intent) -> asyncio.Task[None]:
    task = asyncio.create_task(throttle.hold_async(intent, WHERE))
    await asyncio.sleep(0)
    return task


async def test_a_task_that_waits_lets_others_run(throttle: Throttle, board: Board, clock: Clock) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)
    intent = chat()
    task = await begun(throttle, intent)
    assert throttle.waiting == 1

    clock.pass_(2.0)
    wake(board)
    await asyncio.wait_for(task, 5)

    assert intent.attributes == {names.THROTTLED_MS: 2_000}


async def test_a_task_is_woken_from_another_thread(throttle: Throttle, board: Board) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)
    task = await begun(throttle, chat())

    thread = threading.Thread(target=board.post, args=(stop(),))
    thread.start()

    await asyncio.wait_for(task, 5)
    thread.join()


async def test_who_is_cancelled_leaves_its_place_to_those_behind(
    throttle: Throttle, board: Board, clock: Clock
) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)
    first, second = await begun(throttle, chat()), await begun(throttle, chat())

    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    clock.pass_(2.0)
    wake(board)
    await asyncio.wait_for(second, 5)

    assert throttle.waiting == 0


async def test_time_passes_without_anybody_s_help() -> None:
    board = Board()
    throttle = Throttle(board, Gate(board))
    board.post(slow(20.0))
    intents = [chat() for _ in range(4)]

    await asyncio.gather(*[throttle.hold_async(intent, WHERE) for intent in intents])

    waited = [intent.attributes.get(names.THROTTLED_MS, 0) for intent in intents]
    assert waited == sorted(waited)
    assert 75 <= waited[-1] < 2_000


async def test_a_loop_that_is_closed_meanwhile_wakes_nobody_and_fails_nobody(
    throttle: Throttle, board: Board
) -> None:
    board.post(slow())
    throttle.hold(chat(), WHERE)
    loop = asyncio.new_event_loop()
    waits = throttle.hold_async(chat(), WHERE)
    thread = threading.Thread(
        target=lambda: loop.run_until_complete(asyncio.wait([loop.create_task(waits)], timeout=0.01))
    )
    thread.start()
    await asyncio.to_thread(thread.join)
    loop.close()

    board.withdraw("slow", 2)

    assert not board.stands(Action.THROTTLE)


def test_where_nobody_knows_how_to_wait_nobody_does(
    throttle: Throttle, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another library's event loop: its tasks cannot be made to wait without it."""
    board.post(slow())
    throttle.hold(chat(), WHERE)

    with pytest.raises(StopIteration):
        throttle.hold_async(chat(), WHERE).send(None)
    monkeypatch.setitem(sys.modules, "asyncio", ModuleType("asyncio"))  # another thread imports it just now
    with pytest.raises(StopIteration):
        throttle.hold_async(chat(), WHERE).send(None)
    monkeypatch.delitem(sys.modules, "asyncio")
    with pytest.raises(StopIteration):
        throttle.hold_async(chat(), WHERE).send(None)
