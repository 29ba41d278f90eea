"""A foreign call is admitted, made and ended, once; what it returns and raises is the application's."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator
from dataclasses import replace

import pytest
from opentelemetry import trace
from tests.library.providers.stage import Stage, staged

from spanfuse import context, guard
from spanfuse.calling import ActiveCall
from spanfuse.errors import BreakerOpen, RunStopped
from spanfuse.provider import Intent, Outcome
from spanfuse.wrapping import call, call_async
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind


class NoAdapter:
    def patch(self) -> None: ...

    def unpatch(self) -> None: ...


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(NoAdapter()) as stage:
        yield stage


def intent() -> Intent:
    return Intent(kind=Kind.MODEL, operation="chat", name="m", provider="p", arguments="x")


def settle(active: ActiveCall, response: object) -> None:
    active.succeed(Outcome(result=response, response_id="r"))


def test_the_application_gets_the_very_response(stage: Stage) -> None:
    response = object()

    returned = call(intent(), lambda: response, lambda active, _: active.succeed(Outcome(response_id="r")))

    assert returned is response
    assert stage.only()[names.RESPONSE_ID] == "r"


async def test_the_application_gets_the_very_response_of_an_async_call(stage: Stage) -> None:
    response = "said"

    async def perform() -> str:
        return response

    assert await call_async(intent(), perform, settle) is response
    assert stage.only()[names.RESPONSE_ID] == "r"


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit(3)])
def test_an_error_of_the_call_is_recorded_and_passes_as_it_is(stage: Stage, error: BaseException) -> None:
    def perform() -> str:
        raise error

    with pytest.raises(type(error)) as raised:
        call(intent(), perform, settle)

    assert raised.value is error
    assert (error.__cause__, error.__context__) == (None, None)
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)][1:] == ["call", "perform"]
    assert stage.only()[names.ERROR_TYPE] == type(error).__name__


def test_what_is_refused_is_not_made(stage: Stage) -> None:
    made: list[int] = []
    stage.stop()

    with pytest.raises(BreakerOpen):
        call(intent(), lambda: made.append(1), settle)

    assert made == [] == stage.memory.begun


async def test_a_run_that_swallows_refusals_is_stopped_for_good(stage: Stage) -> None:
    async def perform() -> str:
        raise AssertionError("made")

    stage.stop()
    for _ in range(3):
        with pytest.raises(BreakerOpen):
            await call_async(intent(), perform, settle)

    with pytest.raises(RunStopped):
        await call_async(intent(), perform, settle)


def test_span_and_run_of_the_call_are_current_while_it_is_made_and_not_after(stage: Stage) -> None:
    def perform() -> tuple[int, str]:
        scope = context.current()
        return trace.get_current_span().get_span_context().span_id, scope.id if scope else ""

    span_id, run = call(intent(), perform, settle)

    assert span_id == int.from_bytes(stage.memory.ended[0].span_id, "big")
    assert run == stage.spans[0][names.RUN]
    assert not trace.get_current_span().get_span_context().is_valid


def test_what_was_asked_is_not_kept_while_the_call_is_made(stage: Stage) -> None:
    asked = intent()

    kept = call(asked, lambda: str(asked.arguments), settle)

    assert kept == "None"
    assert names.ARGUMENTS in stage.only()


def test_a_response_that_cannot_be_read_costs_the_record_only(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    before = guard.FAULTS.count

    returned = call(intent(), lambda: "said", lambda active, response: 1 / 0)  # type: ignore[arg-type, return-value]

    assert returned == "said"
    assert names.RESPONSE_ID not in stage.only()
    assert guard.FAULTS.count == before + 1


async def test_a_stop_wakes_what_is_awaited(stage: Stage) -> None:
    begun = asyncio.Event()
    closed: list[str] = []

    async def perform() -> str:
        begun.set()
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            closed.append("yes")

    task = asyncio.create_task(call_async(intent(), perform, settle))
    await begun.wait()
    directive = stage.stop()

    with pytest.raises(BreakerOpen) as stopped:
        await task
    assert stopped.value.directive is directive
    assert closed == ["yes"]
    assert stage.only()[names.STOPPED] == directive.id


async def test_a_stop_under_a_timeout_of_the_application_is_no_timeout(stage: Stage) -> None:
    async def perform() -> str:
        asyncio.get_running_loop().call_soon(stage.stop)
        return await asyncio.get_running_loop().create_future()

    with pytest.raises(BreakerOpen):
        async with asyncio.timeout(5):
            await call_async(intent(), perform, settle)


async def test_a_timeout_of_the_application_stays_one(stage: Stage) -> None:
    async def perform() -> str:
        return await asyncio.get_running_loop().create_future()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await call_async(intent(), perform, settle)

    assert stage.only()[names.ERROR_TYPE] == "asyncio.exceptions.CancelledError"


def test_without_instrument_a_call_is_just_made() -> None:
    assert call(intent(), lambda: "said", settle) == "said"


def test_of_what_is_asked_only_the_length_is_kept_while_the_call_is_made(stage: Stage) -> None:
    asked = replace(intent(), arguments="x" * 400, beside="y" * 40)
    kept: list[object] = []

    call(asked, lambda: kept.append((asked.arguments, asked.beside, asked.length)), settle)

    assert kept == [(None, None, (440, False))]
