"""Waiting for room: who waits looks again when told, and nobody is left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from tests.waiting import until

from spanfuse.room import Room, running_loop

LONG = 60.0


class Tries:
    """Tries until `enough`, each time after the room was told."""

    def __init__(self, enough: int) -> None:
        self.made = 0
        self._enough = enough

    def __call__(self) -> float:
        self.made += 1
        return LONG if self.made < self._enough else 0.0


def again_and_again(room: Room, over: Callable[[], object]) -> None:
    """Tells the room until it is over, without counting on when anybody waits."""
    until(lambda: room.made() or over())


def test_what_is_done_at_once_waits_for_nothing() -> None:
    room, tries = Room(), Tries(1)

    room.wait(tries)

    assert (tries.made, room.waiting) == (1, 0)


def test_a_thread_looks_again_when_it_is_told() -> None:
    room, tries = Room(), Tries(3)
    thread = threading.Thread(target=room.wait, args=(tries,))
    thread.start()

    again_and_again(room, lambda: not thread.is_alive())

    assert (tries.made, room.waiting) == (3, 0)


async def test_a_task_looks_again_when_another_thread_tells() -> None:
    room, tries = Room(), Tries(3)
    waiting = asyncio.create_task(room.wait_async(tries, asyncio.get_running_loop()))

    await asyncio.to_thread(again_and_again, room, waiting.done)

    assert (tries.made, room.waiting) == (3, 0)


async def test_a_task_that_is_cancelled_waits_no_more() -> None:
    room = Room()
    waiting = asyncio.create_task(room.wait_async(Tries(2), asyncio.get_running_loop()))
    await asyncio.sleep(0)
    assert room.waiting == 1

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert room.waiting == 0


def test_what_a_try_raises_passes() -> None:
    room = Room()

    def refused() -> float:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        room.wait(refused)
    assert room.waiting == 0


def test_a_loop_that_has_been_closed_is_passed_over() -> None:
    room, loop = Room(), asyncio.new_event_loop()
    task = loop.create_task(room.wait_async(Tries(2), loop))
    loop.run_until_complete(asyncio.sleep(0))
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()

    room.made()

    task.get_coro().close()


def test_there_is_no_loop_where_none_runs() -> None:
    assert running_loop() is None
