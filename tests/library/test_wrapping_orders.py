"""Foreign calls that are made later, or for less; and what becomes of those that are not taken so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from tests.library.providers.stage import Stage, staged

from spanfuse import runtime
from spanfuse.calling import ActiveCall
from spanfuse.context import RunScope
from spanfuse.errors import BreakerOpen
from spanfuse.provider import Intent, Outcome
from spanfuse.wrapping import call, call_async
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, Kind, Level
from spanfuse_processor.engine.reach import Degrading
from spanfuse_processor.engine.verdicts import Action, Directive


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


class Refusing:
    """A request that the provider takes as it was only."""

    def __init__(self) -> None:
        self.model = "dear"

    def degrade(self, degrading: Degrading) -> Mapping[str, object]:
        self.model = "cheap"
        return {names.REQUEST_MODEL: "cheap", names.MAX_TOKENS: 5}

    def restore(self) -> Mapping[str, object]:
        self.model = "dear"
        return {names.REQUEST_MODEL: "dear", names.MAX_TOKENS: None}

    def spurned(self, error: BaseException) -> bool:
        return isinstance(error, LookupError)

    def perform(self) -> str:
        if self.model == "cheap":
            raise LookupError("no such model")
        return self.model

    async def perform_async(self) -> str:
        return self.perform()


def degraded(stage: Stage) -> Intent:
    """A call that is to be made with a cheaper model, which the provider does not have."""
    key = BreakerKey(Level.EVERYTHING, "")
    wish = Degrading(models=(("dear", "cheap"),))
    stage.board.post(Directive("short", 1, key, Action.DEGRADE, degrading=wish))
    return replace(intent(), name="dear", request=Refusing())


def test_a_request_that_we_made_cheaper_and_is_not_taken_is_made_as_it_was(stage: Stage) -> None:
    asked = degraded(stage)
    assert isinstance(asked.request, Refusing)

    assert call(asked, asked.request.perform, settle) == "dear"

    span = stage.spans[0]
    assert (span[names.REQUEST_MODEL], span[names.DEGRADED]) == ("dear", False)
    assert not {names.MAX_TOKENS, names.ORIGINAL_MODEL} & span.keys()
    assert stage.memory.ended[0].name == "chat dear"


async def test_so_is_an_async_one_and_it_is_not_tried_again(stage: Stage) -> None:
    first, second = degraded(stage), degraded(stage)
    assert isinstance(first.request, Refusing) and isinstance(second.request, Refusing)

    assert await call_async(first, first.request.perform_async, settle) == "dear"
    assert await call_async(second, second.request.perform_async, settle) == "dear"

    assert [span[names.DEGRADED] for span in stage.spans] == [False, False]
    assert names.ORIGINAL_MODEL not in stage.spans[1]


def test_an_error_of_the_request_as_it_was_comes_out_alone(stage: Stage) -> None:
    class Broken(Refusing):
        def perform(self) -> str:
            raise LookupError(self.model)

    asked = replace(degraded(stage), request=Broken())

    with pytest.raises(LookupError) as raised:
        call(asked, asked.request.perform, settle)  # type: ignore[union-attr]

    assert raised.value.args == ("dear",)
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)


class Till:
    """Payments that write down what happens to them. `full`: there is money."""

    def __init__(self, full: bool = True) -> None:
        self.full = full
        self.said: list[str] = []

    def pay(self, intent: Intent, scope: RunScope) -> Till:
        self.said.append(f"pays for {intent.name}")
        return self

    def pay_at_once(self, intent: Intent, scope: RunScope) -> Till:
        if not self.full:
            raise BreakerOpen(Directive("budget/daily", 1, BreakerKey(Level.BUDGET, "daily")))
        return self.pay(intent, scope)

    @property
    def accounts(self) -> tuple[str, ...]:
        return (f"account {len(self.said)}",)

    def named(self, trace_id: bytes, span_id: bytes) -> None: ...

    def cancel(self) -> None:
        self.said.append("cancelled")

    expected = None

    def answered(self, usage: object, service: str = "", guess: object = None) -> None:
        self.said.append("answered")

    def failed(self, error: BaseException, usage: object = None, guess: object = None) -> None:
        self.said.append("failed")


def test_what_is_asked_as_it_was_is_paid_for_as_it_is(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    till, asked = Till(), degraded(stage)
    monkeypatch.setattr(runtime.live(), "payments", till)

    call(asked, asked.request.perform, settle)  # type: ignore[union-attr]

    assert till.said == ["pays for cheap", "cancelled", "pays for dear", "answered"]
    assert stage.only()[names.LEASED] == ["account 3"]


def test_what_cannot_be_paid_for_as_it_was_is_refused(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    till, asked = Till(full=False), degraded(stage)
    monkeypatch.setattr(runtime.live(), "payments", till)

    with pytest.raises(BreakerOpen):
        call(asked, asked.request.perform, settle)  # type: ignore[union-attr]

    assert till.said == ["pays for cheap", "cancelled"]
    assert stage.only()[names.STOPPED] == "budget/daily"


def test_a_throttled_call_says_on_its_span_how_long_it_waited(stage: Stage) -> None:
    key = BreakerKey(Level.EVERYTHING, "")
    pace = (("calls_per_second", 5.0),)
    stage.board.post(Directive("slow", 1, key, Action.THROTTLE, params=pace))

    for _ in range(2):
        call(intent(), lambda: "said", settle)

    first, second = stage.spans
    assert names.THROTTLED_MS not in first
    assert 0 < second[names.THROTTLED_MS] <= 400


async def test_a_task_that_is_throttled_is_refused_when_a_stop_comes(stage: Stage) -> None:
    key = BreakerKey(Level.EVERYTHING, "")
    pace = (("calls_per_second", 0.001),)
    stage.board.post(Directive("slow", 1, key, Action.THROTTLE, params=pace))
    made: list[int] = []

    async def perform() -> None:
        made.append(1)

    await call_async(intent(), perform, settle)
    waits = asyncio.create_task(call_async(intent(), perform, settle))
    await asyncio.sleep(0)
    stage.stop()

    with pytest.raises(BreakerOpen):
        await asyncio.wait_for(waits, 5)
    assert made == [1]
