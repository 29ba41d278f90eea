"""What is in flight: tasks are cancelled once, from their own loop, and our cancellation is BreakerOpen."""

from __future__ import annotations

import asyncio
import sys
import threading
from dataclasses import replace
from types import ModuleType

import pytest
from tests.library.making import scope
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.inflight import Inflight
from spanfuse.testing import directive
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

KEYS = scope("r1", feature="f").keys
R1 = KEYS[0]
SEARCH = BreakerKey(Level.TOOL, "search")


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


async def forever(inflight: Inflight, keys: tuple[BreakerKey, ...] = KEYS) -> None:
    async with inflight.wait(keys):
        await asyncio.Event().wait()


async def begun(task: asyncio.Task[None]) -> asyncio.Task[None]:
    await asyncio.sleep(0)
    return task


@pytest.mark.parametrize("key", [R1, BreakerKey(Level.FEATURE, "f"), BreakerKey(Level.EVERYTHING, "")])
async def test_a_waiting_task_is_cancelled_and_ends_with_breaker_open(
    board: Board, inflight: Inflight, key: BreakerKey
) -> None:
    task = await begun(asyncio.create_task(forever(inflight)))
    order = directive(key)

    post_from_elsewhere(board, order)

    with pytest.raises(BreakerOpen) as caught:
        await task
    assert caught.value.directive == order
    assert board.effects(order).tasks_cancelled == 1
    assert task.cancelling() == 0


async def test_a_task_of_another_run_goes_on(board: Board, inflight: Inflight) -> None:
    task = await begun(asyncio.create_task(forever(inflight, scope("r2").keys)))

    post_from_elsewhere(board, directive(R1))
    await asyncio.sleep(0)

    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_innermost_wait_is_the_one_that_ends(board: Board, inflight: Inflight) -> None:
    """The agent gets BreakerOpen where it awaited, and may clean up with what it awaits then."""
    told: list[str] = []

    async def agent() -> None:
        async with inflight.wait(KEYS):
            try:
                await forever(inflight)
            except BreakerOpen:
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                told.append("cleaned up")

    task = await begun(asyncio.create_task(agent()))

    order = directive(R1)
    post_from_elsewhere(board, order)
    await task

    assert told == ["cleaned up"]
    assert board.effects(order).tasks_cancelled == 1


async def test_a_task_that_was_refused_is_told_and_not_cancelled(board: Board, inflight: Inflight) -> None:
    async def agent() -> str:
        async with inflight.wait(KEYS):
            order = directive(R1)
            board.post(order)  # on this very thread, as the embedded host does
            inflight.refused(order)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return "finished"

    assert await agent() == "finished"


async def test_a_cancellation_by_somebody_else_passes_as_it_came(inflight: Inflight) -> None:
    task = await begun(asyncio.create_task(forever(inflight)))

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_both_at_once_is_somebody_elses(board: Board, inflight: Inflight) -> None:
    """A server that shuts down must see its own cancellation."""
    task = await begun(asyncio.create_task(forever(inflight)))

    post_from_elsewhere(board, directive(R1))
    asyncio.get_running_loop().call_soon(task.cancel)

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_timeout_around_it_still_works(inflight: Inflight) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await forever(inflight)


async def test_a_call_that_gets_through_first_is_left_alone(board: Board, inflight: Inflight) -> None:
    done = asyncio.Event()

    async def call() -> str:
        async with inflight.wait(KEYS):
            await done.wait()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return "answer"

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    done.set()
    await asyncio.sleep(0)
    post_from_elsewhere(board, directive(R1))

    assert await task == "answer"


async def test_what_the_cancelled_code_raises_instead_is_breaker_open_too(
    board: Board, inflight: Inflight
) -> None:
    """An SDK may turn the cancellation into an error of its own."""

    async def call() -> None:
        async with inflight.wait(KEYS):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ConnectionError("wrapped") from None

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    post_from_elsewhere(board, directive(R1))

    with pytest.raises(BreakerOpen) as caught:
        await task
    assert isinstance(caught.value.__cause__, ConnectionError)


async def test_only_tools_are_cancelled_when_tools_are_blocked(board: Board, inflight: Inflight) -> None:
    model = await begun(asyncio.create_task(forever(inflight)))
    tool = await begun(asyncio.create_task(forever(inflight, (*KEYS, SEARCH))))

    post_from_elsewhere(board, replace(directive(R1), action=Action.BLOCK_TOOL))

    with pytest.raises(BreakerOpen):
        await tool
    assert not model.done()
    model.cancel()
    with pytest.raises(asyncio.CancelledError):
        await model


@pytest.mark.parametrize("change", [{"mode": Mode.SHADOW}, {"mode": Mode.WARN}, {"cancel_in_flight": False}])
async def test_what_does_not_enforce_cancels_nothing(
    board: Board, inflight: Inflight, change: dict[str, object]
) -> None:
    task = await begun(asyncio.create_task(forever(inflight)))

    post_from_elsewhere(board, replace(directive(R1), **change))  # type: ignore[arg-type]
    await asyncio.sleep(0)

    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_synchronous_wait_cannot_be_interrupted_and_is_counted(board: Board, inflight: Inflight) -> None:
    order = directive(R1)

    with inflight.wait(KEYS):
        board.post(order)

    assert board.effects(order).not_interruptible == 1


def test_a_loop_that_is_gone_is_no_fault(board: Board, inflight: Inflight) -> None:
    async def leave_a_wait_behind() -> None:
        await inflight.wait(KEYS).__aenter__()

    asyncio.run(leave_a_wait_behind())

    assert board.post(directive(R1))


def test_two_loops_in_two_threads_are_cancelled_each_in_its_own(board: Board, inflight: Inflight) -> None:
    ended: list[str] = []

    def work() -> None:
        try:
            asyncio.run(forever(inflight))
        except BreakerOpen:
            ended.append(threading.current_thread().name)

    threads = [threading.Thread(target=work, name=name) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    until(lambda: len(inflight._waits.get(R1, ())) == 2)
    board.post(directive(R1))
    for thread in threads:
        thread.join(5)

    assert sorted(ended) == ["one", "two"]
    assert not inflight._waits


async def test_with_grace_what_is_in_flight_gets_its_time(board: Board, inflight: Inflight) -> None:
    task = await begun(asyncio.create_task(forever(inflight)))
    order = replace(directive(R1), grace=0.01)

    post_from_elsewhere(board, order)
    await asyncio.sleep(0)
    assert not task.done()

    with pytest.raises(BreakerOpen):
        await asyncio.wait_for(task, 5)


async def test_what_is_lifted_within_its_grace_cancels_nothing(board: Board, inflight: Inflight) -> None:
    task = await begun(asyncio.create_task(forever(inflight)))
    order = replace(directive(R1), grace=0.01)

    post_from_elsewhere(board, order)
    board.withdraw(order.id, order.revision + 1)
    done, _ = await asyncio.wait([task], timeout=0.05)

    assert not done
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_thread_that_imports_asyncio_just_now_disturbs_nobody(
    inflight: Inflight, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "asyncio", ModuleType("asyncio"))

    inflight.refused(directive(R1))
    with inflight.wait(KEYS).interruptibly() as wait:
        assert not wait.interruptible
