"""The control service over real sockets, watched by grpc's own generated client."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from tests.control.serving import (
    BOUND,
    controlling,
    events,
    reaches,
)
from tests.wire.builders import full_call, full_effect, removal, stop

from spanfuse_processor.engine.verdicts import Action
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import requests
from spanfuse_processor.wire.messages import SERVICE, Cursor, Instance
from spanfuse_processor.wire.session import LinkState, Loss, Step, WatchSession

ME = Instance("svc", "i-1", "0.1.0", supported=frozenset({Action.STOP}))
FROM_THE_START = requests.watch(ME, None)


def kinds(read: list[pb.WatchEvent]) -> list[str | None]:
    return [event.WhichOneof("event") for event in read]


async def test_a_watcher_is_told_what_stands_and_then_what_changes() -> None:
    async with controlling() as running:
        running.hub.publish([stop("r1")])
        call = running.stub.Watch(FROM_THE_START)
        [first] = await events(call, 1)
        running.hub.publish([stop("r2")], [removal("r1", 0)])
        [second] = await events(call, 1)

    assert [each.id for each in first.snapshot.directives] == ["run/r1/stop"]
    assert [each.id for each in second.delta.upserts] == ["run/r2/stop"]
    assert [each.id for each in second.delta.removals] == ["run/r1/stop"]
    assert second.cursor.revision == 3


async def test_a_watcher_that_resumes_is_told_only_what_it_missed() -> None:
    async with controlling() as running:
        running.hub.publish([stop("r1")])
        known = running.hub.cursor
        running.hub.publish([stop("r2")])
        [event] = await events(running.stub.Watch(requests.watch(ME, known)), 1)

    assert [each.id for each in event.delta.upserts] == ["run/r2/stop"]


@pytest.mark.parametrize("cursor", [Cursor("e0", 1), Cursor("e1", 1)], ids=["another epoch", "too old"])
async def test_a_watcher_that_the_log_does_not_reach_is_told_everything(cursor: Cursor) -> None:
    async with controlling(retained=2) as running:
        running.hub.publish([stop("r1"), stop("r2"), stop("r3"), stop("r4")])
        [event] = await events(running.stub.Watch(requests.watch(ME, cursor)), 1)

    assert len(event.snapshot.directives) == 4


async def test_bookmarks_come_as_often_as_they_say() -> None:
    async with controlling(bookmark_every=0.02) as running:
        read = await events(running.stub.Watch(FROM_THE_START), 4)

    assert kinds(read) == ["snapshot", "bookmark", "bookmark", "bookmark"]
    assert read[1].bookmark.next_within.nanos == 20_000_000


async def test_a_watcher_is_not_sent_what_it_does_not_support() -> None:
    async with controlling() as running:
        running.hub.publish([stop("r1", action=Action.PAUSE), stop("r2")])
        [event] = await events(running.stub.Watch(FROM_THE_START), 1)

    assert [each.id for each in event.snapshot.directives] == ["run/r2/stop"]


async def test_who_stops_watching_is_forgotten() -> None:
    async with controlling() as running:
        call = running.stub.Watch(FROM_THE_START)
        await events(call, 1)
        assert running.hub.watchers == 1
        call.cancel()
        await reaches(lambda: running.hub.watchers == 0)

    assert running.faults == []


async def test_who_closes_the_connection_is_forgotten() -> None:
    async with controlling() as running:
        async with grpc.aio.insecure_channel(running.address) as channel:
            call = channel.unary_stream(f"/{SERVICE}/Watch")(FROM_THE_START.SerializeToString())
            await call.read()
        await reaches(lambda: running.hub.watchers == 0)

    assert running.faults == []


async def test_on_shutdown_a_watcher_is_sent_away_and_the_stream_ends_cleanly() -> None:
    async with controlling() as running:
        call = running.stub.Watch(FROM_THE_START)
        await events(call, 1)
        running.hub.close("restart", 0.5)
        [event] = await events(call, 1)

        assert event.go_away.reason == "restart"
        assert await call.read() is grpc.aio.EOF
        assert await call.code() is grpc.StatusCode.OK


async def test_two_hundred_watchers_all_hear_of_a_stop() -> None:
    async with controlling() as running:
        calls = [running.stub.Watch(FROM_THE_START) for _ in range(200)]
        await asyncio.gather(*(call.read() for call in calls))
        running.hub.publish([stop("r1")])
        heard = await asyncio.gather(*(call.read() for call in calls))

    assert {event.delta.upserts[0].id for event in heard} == {"run/r1/stop"}


async def test_a_watcher_that_does_not_read_holds_nobody_up_and_is_told_everything_anew() -> None:
    async with controlling(retained=8) as running:
        lazy = running.stub.Watch(FROM_THE_START)
        await events(lazy, 1)
        eager = running.stub.Watch(FROM_THE_START)
        await events(eager, 1)
        for number in range(500):  # more than the windows of http/2 hold
            running.hub.publish([stop(f"r{number % 20}", message="m" * 4000)])
            if number % 50 == 0:
                await events(eager, 1)
        seen: list[pb.WatchEvent] = []
        while not seen or seen[-1].cursor != pb.Cursor(**running.hub.cursor._asdict()):
            seen += await events(lazy, 1)

    assert "snapshot" in kinds(seen)
    assert len(seen) < 500


async def test_a_list_says_what_stands() -> None:
    async with controlling() as running:
        running.hub.publish([stop("r1"), stop("r2", action=Action.PAUSE)])
        answer = await running.stub.List(requests.poll(ME, None))

    assert [each.id for each in answer.directives] == ["run/r1/stop"]
    assert not answer.more
    assert answer.cursor.revision == 2


async def test_a_list_for_who_is_up_to_date_is_empty_and_has_the_same_cursor() -> None:
    async with controlling() as running:
        running.hub.publish([stop("r1")])
        answer = await running.stub.List(requests.poll(ME, running.hub.cursor))

    assert answer.cursor == pb.Cursor(epoch="e1", revision=1)
    assert len(answer.directives) == 0


async def test_effects_come_back_as_they_were_sent_with_their_timing() -> None:
    async with controlling() as running:
        await running.stub.Report(requests.report(ME, None, 1, [full_effect()]))

    assert running.effects == [(ME, [full_effect()])]


async def test_open_calls_come_back_with_who_reported_them() -> None:
    async with controlling() as running:
        await running.stub.Report(requests.report(ME, None, 1, [], [full_call()]))

    assert running.calls == [[full_call()]]


async def test_what_cannot_be_read_in_a_report_is_left_out() -> None:
    request = requests.report(ME, None, 1, [full_effect()], [full_call()])
    request.effects.add(directive_id="x", state=42)
    request.open_calls.add(trace_id=b"short")
    async with controlling() as running:
        await running.stub.Report(request)

    assert running.effects == [(ME, [full_effect()])]
    assert running.calls == [[full_call()]]


async def test_the_answer_to_a_report_carries_what_is_new() -> None:
    async with controlling() as running:
        running.hub.publish([stop("r1")])
        known = running.hub.cursor
        running.hub.publish([stop("r2"), stop("r3", action=Action.PAUSE)])
        answer = await running.stub.Report(requests.report(ME, known, 1))

    assert [each.id for each in answer.directives] == ["run/r2/stop"]
    assert answer.cursor.revision == 3


async def test_a_taker_that_fails_does_not_cost_an_application_its_answer() -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    async with controlling() as running:
        running.on_effects = fail
        known = running.hub.cursor
        running.hub.publish([stop("r1")])
        request = requests.report(ME, known, 1, [full_effect()], [full_call()])
        answer = await running.stub.Report(request)

    assert [each.id for each in answer.directives] == ["run/r1/stop"]
    assert running.calls == [[full_call()]]
    assert running.faults == ["effects: RuntimeError('broken')"]


async def test_a_session_over_real_streams_ends_with_what_the_server_says() -> None:
    """Our client's logic against our server: connect, lose, miss something, resume, be denied nothing."""
    async with controlling() as running:
        session, loop = WatchSession(0.0), asyncio.get_running_loop()
        watch = running.channel.unary_stream(f"/{SERVICE}/Watch")
        running.hub.publish([stop("r1")])
        for upserts, removals in (([stop("r2")], []), ([stop("r3")], [removal("r1", 0)])):
            assert Step.WATCH in session.due(loop.time())
            call = watch(requests.watch(ME, session.resume).SerializeToString())
            session.receive(await call.read(), loop.time())
            assert session.state is LinkState.CONNECTED
            call.cancel()
            session.lost(loop.time(), roll=0.0, loss=Loss.BROKEN)
            running.hub.publish(upserts, removals)
        session.due(loop.time())
        call = watch(requests.watch(ME, session.resume).SerializeToString())
        session.receive(await asyncio.wait_for(call.read(), BOUND), loop.time())

        assert set(session.replica.directives()) == {"run/r2/stop", "run/r3/stop"}
        assert session.resume == running.hub.cursor
