"""What is in flight, and orders of budgets: those whom they reach are cancelled, and only by a stop."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest
from tests.library.making import scope

from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.inflight import Inflight
from spanfuse.testing import directive
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Degrading, Payer, Reach
from spanfuse_processor.engine.verdicts import Action, Directive

KEYS = scope("r1", feature="f").keys
R1 = KEYS[0]
DAILY = BreakerKey(Level.BUDGET, "daily")


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def inflight(board: Board) -> Inflight:
    return Inflight(board)


def post_from_elsewhere(board: Board, order: Directive) -> None:
    """As a host does: on a thread of its own."""
    thread = threading.Thread(target=board.post, args=(order,))
    thread.start()
    thread.join()


async def forever(inflight: Inflight) -> None:
    async with inflight.wait(KEYS):
        await asyncio.Event().wait()


async def begun(task: asyncio.Task[None]) -> asyncio.Task[None]:
    await asyncio.sleep(0)
    return task


async def test_an_order_of_a_budget_cancels_those_whom_it_reaches(board: Board, inflight: Inflight) -> None:
    async def wait_for(user: str) -> None:
        async with inflight.wait(KEYS, lambda: Payer(user=user)):
            await asyncio.Event().wait()

    ann, bob, unknown = [
        await begun(asyncio.create_task(work))
        for work in (wait_for("ann"), wait_for("bob"), forever(inflight))
    ]

    post_from_elsewhere(board, replace(directive(DAILY), reach=Reach(user=("ann",))))

    with pytest.raises(BreakerOpen):
        await ann
    assert not (bob.done() or unknown.done())
    for task in (bob, unknown):
        task.cancel()
    await asyncio.wait([bob, unknown])


async def test_what_slows_calls_or_makes_them_cheaper_cancels_none(board: Board, inflight: Inflight) -> None:
    task = await begun(asyncio.create_task(forever(inflight)))

    slow = replace(directive(R1), id="slow", action=Action.THROTTLE, params=(("calls_per_second", 1.0),))
    short = replace(directive(R1), id="short", action=Action.DEGRADE, degrading=Degrading())
    for order in (slow, short):
        post_from_elsewhere(board, order)
    await asyncio.sleep(0)

    assert [board.effects(order).tasks_cancelled for order in (slow, short)] == [0, 0]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
