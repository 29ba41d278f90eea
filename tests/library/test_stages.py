"""Stages and heartbeats: what they put on spans, tell the host and raise."""

from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from opentelemetry import trace
from tests.library.making import MODEL, Clock, ask, chat
from tests.waiting import until

import spanfuse
from spanfuse import context
from spanfuse.calling import begin
from spanfuse.calls.active import WatchedCall
from spanfuse.errors import BreakerOpen, SettingsError
from spanfuse.host import Underway
from spanfuse.provider import Outcome
from spanfuse.testing import FakeHost, Session
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Level, Usage
from spanfuse_processor.engine.reading.stages import Stage, unpack


def stages(session: Session, index: int) -> tuple[Stage, ...]:
    """The stages that a span is stamped with, by the order of ends."""
    return unpack(str(session.spans[index].attributes[names.STAGES]))


class TestStage:
    def test_it_is_a_span_of_the_run_with_what_it_may_cost_and_how_long_it_may_take(
        self, session: Session
    ) -> None:
        with spanfuse.run(name="job") as run, spanfuse.stage("index", budget_usd=1.5, timeout=600) as stage:
            assert stage.name == "index"

        span = session.spans[0]
        assert span.name == "invoke_workflow index"
        said = {names.STAGE: "index", names.STAGE_BUDGET_USD: 1.5, names.STAGE_TIMEOUT: 600}
        assert said.items() <= dict(span.attributes).items()
        assert span.attributes[names.RUN] == run.id
        (mark,) = stages(session, 0)
        assert (mark.name, mark.budget, mark.timeout) == ("index", 1_500_000, 600.0)

    def test_every_call_inside_is_stamped_and_none_outside(self, session: Session) -> None:
        with spanfuse.run():
            with spanfuse.stage("index"):
                ask()
            ask()

        inside, own, outside = (span.attributes.get(names.STAGES) for span in session.spans[:3])
        assert inside == own
        assert outside is None

    def test_a_stage_inside_another_names_both_outermost_first(self, session: Session) -> None:
        with spanfuse.run(), spanfuse.stage("outer", budget_usd=2), spanfuse.stage("inner", timeout=9):
            ask()

        assert [mark.name for mark in stages(session, 0)] == ["outer", "inner"]
        assert [mark.name for mark in stages(session, 2)] == ["outer"]

    def test_each_entry_is_a_stage_of_its_own(self, session: Session) -> None:
        stage = spanfuse.stage("page", budget_usd=0.1)
        with spanfuse.run():
            for _ in range(2):
                with stage:
                    ask()

        assert stages(session, 0)[0].id != stages(session, 2)[0].id

    def test_agents_and_tools_inside_are_in_it(self, session: Session) -> None:
        @spanfuse.tool
        def search() -> str:
            return "found"

        with spanfuse.run(), spanfuse.stage("index"), spanfuse.run(agent="helper"):
            search()

        assert [mark.name for mark in stages(session, 0)] == ["index"]
        assert session.spans[0].attributes[names.AGENT_PATH] == "helper"

    def test_another_run_inside_is_not(self, session: Session) -> None:
        with spanfuse.run(), spanfuse.stage("index"), spanfuse.run(run_id="another"):
            ask()
            carried = spanfuse.environment()["BAGGAGE"]

        assert names.STAGES not in session.spans[0].attributes
        assert names.STAGES not in carried

    def test_other_processes_are_handed_it(self, session: Session) -> None:
        with spanfuse.run(), spanfuse.stage("index", budget_usd=1):
            here = context.with_run(context.current() or pytest.fail())
            handed = context.from_baggage(here)

        assert handed is not None
        assert [mark.name for mark in unpack(handed.stages)] == ["index"]

    def test_outside_of_any_run_it_is_one(self, session: Session) -> None:
        with spanfuse.stage("index"):
            ask()
            ask()

        assert len({span.attributes[names.RUN] for span in session.spans}) == 1

    def test_what_is_raised_inside_comes_out_and_is_recorded(self, session: Session) -> None:
        with pytest.raises(ValueError, match="no such page"), spanfuse.stage("index"):
            raise ValueError("no such page")

        assert session.spans[0].attributes[names.ERROR_TYPE] == "ValueError"

    def test_a_stopped_run_begins_no_stage(self, session: Session) -> None:
        with spanfuse.run() as run:
            session.trip(run.id)

            with pytest.raises(BreakerOpen), spanfuse.stage("index"):
                pytest.fail("it began")

    async def test_a_stop_cancels_what_waits_inside_of_an_async_stage(self, session: Session) -> None:
        async def work() -> None:
            async with spanfuse.run(run_id="r1"), spanfuse.stage("index"):
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        session.trip("r1")

        with pytest.raises(BreakerOpen):
            await task

    def test_without_instrumentation_it_does_nothing(self) -> None:
        with spanfuse.stage("index", budget_usd=1.0):
            assert ask() is not None

    def test_one_that_spends_too_much_ends_its_run(self, judging: Session) -> None:
        numbers = itertools.count()

        def spend() -> None:
            call = begin(chat({"page": next(numbers)}))
            call.succeed(Outcome(result=f"words {next(numbers)}", usage=Usage(10_000, 1_000), model=MODEL))

        with spanfuse.run(), spanfuse.stage("index", budget_usd=0.001):
            with pytest.raises(BreakerOpen, match="stage index has spent") as stop:
                until(spend)  # until the price is known, and goes on the bill

        assert (stop.value.reason, stop.value.directive.evidence.detector) == ("LIMIT", "stage")

    @pytest.mark.parametrize(
        "wrong",
        [
            {"name": ""},
            {"budget_usd": -1},
            {"budget_usd": math.nan},
            {"timeout": 0},
            {"timeout": math.inf},
        ],
    )
    def test_what_cannot_be_meant_is_refused_at_once(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(SettingsError, match="stage"):
            spanfuse.stage(**{"name": "index"} | wrong)


class TestHeartbeat:
    def test_it_is_the_current_runs_and_comes_from_the_call_inside_of_which_it_is_sent(
        self, session: Session
    ) -> None:
        @spanfuse.tool
        def compute() -> None:
            with trace.get_tracer("the application's").start_as_current_span("epoch"):
                spanfuse.heartbeat(within=600)

        with spanfuse.run() as run:
            compute()

        assert session.fake is not None
        (beat,) = session.fake.heartbeats
        tool = session.spans[0]
        assert (beat.run_id, beat.trace_id, beat.span_id) == (run.id, tool.trace_id, tool.span_id)
        assert beat.within == 600

    def test_outside_of_any_run_it_is_nobodys(self, session: Session) -> None:
        spanfuse.heartbeat()

        assert session.fake is not None
        assert session.fake.heartbeats == []

    def test_a_stopped_run_learns_of_it_there(self, session: Session) -> None:
        with spanfuse.run(feature="chat") as run:
            spanfuse.heartbeat()
            order = session.trip(run.id)

            for _ in range(2):
                with pytest.raises(BreakerOpen) as refusal:
                    spanfuse.heartbeat()

        assert refusal.value.directive.key == (Level.RUN, run.id)
        assert session.board.effects(order).calls_refused == 2

    def test_another_runs_stop_is_none_of_its_business(self, session: Session) -> None:
        session.trip("another")

        with spanfuse.run():
            spanfuse.heartbeat()

    def test_without_instrumentation_it_does_nothing(self) -> None:
        with spanfuse.run():
            spanfuse.heartbeat()


def test_a_stream_is_silent_from_when_somebody_waits_for_its_next_piece(session: Session) -> None:
    clock = session.board.clock = Clock()
    call = begin(chat(stream=True))
    assert isinstance(call, WatchedCall)

    call.rests(True)
    assert call.resting
    clock.pass_(90.0)
    call.rests(False)
    clock.pass_(10.0)

    told = call.told(clock())
    assert (call.resting, told.open_for, told.quiet_for) == (False, 100.0, 10.0)
    call.succeed(Outcome())


def test_a_tool_that_yields_rests_while_nobody_asks_for_more(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    underway: list[Underway] = []
    monkeypatch.setattr(FakeHost, "call_started", lambda self, call: underway.append(call))
    at_work = []

    @spanfuse.tool
    def pages() -> Iterator[int]:
        for page in range(2):
            at_work.append(underway[0].resting)
            yield page

    between = [underway[0].resting for _ in pages()]

    assert (at_work, between) == ([False, False], [True, True])


async def test_an_async_one_too(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    underway: list[Underway] = []
    monkeypatch.setattr(FakeHost, "call_started", lambda self, call: underway.append(call))
    at_work = []

    @spanfuse.tool
    async def pages() -> AsyncIterator[int]:
        for page in range(2):
            at_work.append(underway[0].resting)
            yield page

    between = [underway[0].resting async for _ in pages()]

    assert (at_work, between) == ([False, False], [True, True])
