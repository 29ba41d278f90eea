"""Tools that yield: one call from the first step to the last, and everything that generators can do."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Generator

import pytest
from opentelemetry import trace
from tests.library.making import ask

import spanfuse
from spanfuse import context
from spanfuse.errors import BreakerOpen
from spanfuse.testing import Session
from spanfuse_processor.engine import names
from spanfuse_processor.engine.reading.prints import unpack


@spanfuse.tool
def count(to: int) -> Generator[int, str | None, str]:
    """Counts, and remembers what it is sent."""
    heard = []
    try:
        for number in range(to):
            try:
                heard.append((yield number))
            except KeyError as error:
                heard.append(f"caught {error.args[0]}")
        return ",".join(str(word) for word in heard)
    finally:
        closed.append(context.current())


@spanfuse.tool
async def count_async(to: int) -> AsyncGenerator[int, str | None]:
    """Counts, slowly."""
    try:
        for number in range(to):
            await asyncio.sleep(0)
            if (yield number) == "stop":
                return
    finally:
        closed.append(context.current())


closed: list[object] = []


@pytest.fixture(autouse=True)
def _fresh() -> None:
    closed.clear()


def test_a_generator_is_one_call(session: Session) -> None:
    assert inspect.isgeneratorfunction(count)
    assert list(count(3)) == [0, 1, 2]

    assert session.calls("execute_tool") == ["count"]
    prints = unpack(None, session.spans[0].attributes[names.RESULT])
    assert prints is not None and prints.result_size == len("[0,1,2]")


def test_it_begins_with_its_first_step(session: Session) -> None:
    stream = count(3)
    assert session.fake is not None
    assert session.fake.started == []

    next(stream)
    assert len(session.fake.started) == 1
    stream.close()


def test_what_is_sent_and_thrown_in_reaches_the_tool_and_its_value_comes_out(session: Session) -> None:
    stream = count(3)
    next(stream)
    stream.send("one")
    stream.throw(KeyError("two"))

    with pytest.raises(StopIteration) as end:
        stream.send("three")

    assert end.value.value == "one,caught two,three"


def test_the_tool_is_current_inside_and_not_in_the_loop_that_consumes_it(session: Session) -> None:
    @spanfuse.tool
    def inner() -> Generator[int, None, None]:
        ask()
        yield 1
        ask()

    outside = trace.get_current_span()
    for _ in inner():
        assert trace.get_current_span() is outside
        ask()

    spans = {span.span_id: span for span in session.spans}
    tool_span = next(span for span in session.spans if span.name == "execute_tool inner")
    under = [span for span in spans.values() if span.parent_span_id == tool_span.span_id]
    assert len(under) == 2


def test_a_consumer_that_stops_early_closes_the_tool_and_is_no_failure(session: Session) -> None:
    stream = count(5)
    next(stream)

    stream.close()

    attributes = session.spans[0].attributes
    assert attributes[names.NOT_ENDED] is True
    assert names.ERROR_TYPE not in attributes
    assert len(closed) == 1


def test_an_error_of_the_tool_passes_and_is_recorded(session: Session) -> None:
    @spanfuse.tool
    def broken() -> Generator[int, None, None]:
        yield 1
        raise ValueError("broken")

    stream = broken()
    next(stream)
    with pytest.raises(ValueError, match="broken"):
        next(stream)

    assert session.spans[0].attributes[names.ERROR_TYPE] == "ValueError"


def test_a_stop_ends_a_generator_at_its_next_item(session: Session) -> None:
    with spanfuse.run() as run:
        stream = count(100)
        next(stream)
        session.trip(run.id)
        with pytest.raises(BreakerOpen):
            next(stream)

    assert len(closed) == 1
    assert names.STOPPED in session.spans[0].attributes


def test_wrong_arguments_leave_no_open_call(session: Session) -> None:
    with pytest.raises(TypeError):
        next(count())  # type: ignore[call-arg]

    assert session.fake is not None
    assert session.fake.started == []


async def test_an_async_generator_is_one_call(session: Session) -> None:
    assert inspect.isasyncgenfunction(count_async)
    assert [number async for number in count_async(3)] == [0, 1, 2]

    assert session.calls("execute_tool") == ["count_async"]


async def test_what_is_sent_into_an_async_generator_reaches_it(session: Session) -> None:
    stream = count_async(5)
    await anext(stream)

    with pytest.raises(StopAsyncIteration):
        await stream.asend("stop")

    assert names.NOT_ENDED not in session.spans[0].attributes


async def test_closing_an_async_generator_early_is_no_failure(session: Session) -> None:
    stream = count_async(5)
    await anext(stream)

    await stream.aclose()

    assert session.spans[0].attributes[names.NOT_ENDED] is True
    assert len(closed) == 1


async def test_a_stop_cancels_the_wait_for_the_next_item(session: Session) -> None:
    @spanfuse.tool
    async def hang() -> AsyncGenerator[int, None]:
        yield 1
        await asyncio.Event().wait()

    async def agent() -> list[int]:
        with spanfuse.run(run_id="r1"):
            return [item async for item in hang()]

    task = asyncio.create_task(agent())
    for _ in range(3):
        await asyncio.sleep(0)
    order = session.trip("r1")

    with pytest.raises(BreakerOpen):
        await task
    assert session.board.effects(order).tasks_cancelled == 1


def test_without_instrumentation_a_generator_works_as_ever() -> None:
    assert list(count(2)) == [0, 1]
