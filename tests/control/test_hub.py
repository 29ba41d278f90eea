"""The hub: nobody waits, everybody ends with the newest, and the far behind are told everything."""

from __future__ import annotations

import asyncio

import pytest
from tests.control.serving import make_hub
from tests.wire.builders import removal, stop

from spanfuse_processor.control.hub import FRESH, MAX_CHANGE, Hub, Subscription
from spanfuse_processor.control.view import View
from spanfuse_processor.engine.verdicts import Action, Directive, Removal
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import directives
from spanfuse_processor.wire.messages import Cursor

ALL = View()


async def read(subscription: Subscription) -> list[pb.WatchEvent]:
    """What the subscriber is sent next."""
    return [pb.WatchEvent.FromString(event) for event in await subscription.next()]


def kinds(events: list[pb.WatchEvent]) -> list[str | None]:
    return [event.WhichOneof("event") for event in events]


def changes(events: list[pb.WatchEvent]) -> list[tuple[str, int]]:
    """The ids and revisions of all deltas, upserts first."""
    deltas = [event.delta for event in events]
    return [(each.id, each.revision) for delta in deltas for each in (*delta.upserts, *delta.removals)]


def test_what_is_published_is_stamped_and_gets_the_revisions_of_the_log() -> None:
    hub, clock = make_hub()

    [first, second] = hub.publish([stop("r1", 900), stop("r2", 901, issued_ns=5)])

    assert (first.revision, first.issued_ns) == (1, clock.wall_ns())
    assert (second.revision, second.issued_ns) == (2, 5)
    assert hub.get("run/r1/stop") == first
    assert hub.cursor == Cursor("e1", 2)


def test_a_batch_is_applied_in_the_order_of_its_issuers_revisions() -> None:
    hub, _ = make_hub()
    hub.publish([stop("r1", 1)])

    hub.publish([stop("r1", 3), stop("r2", 4)], [removal("r1", 2), removal("r2", 5)])

    assert [each.id for each in hub.standing(ALL)] == ["run/r1/stop"]


@pytest.mark.parametrize(
    "bad",
    [
        stop("x" * (MAX_CHANGE + 1)),
        stop("bad", params=(("calls_per_second", 1.0),)),
        stop("bad", priority=-1),
    ],
    ids=["too large", "a parameter without a place", "out of range"],
)
def test_what_cannot_travel_is_counted_and_keeps_nothing_else_from_it(bad: Directive) -> None:
    hub, _ = make_hub()

    published = hub.publish([stop("r1", 1), bad, stop("r2", 3)])

    hub.publish(removals=[Removal("x" * (MAX_CHANGE + 1), 4)])

    assert [each.key.id for each in published] == ["r1", "r2"]
    assert hub.stats.unpublishable == 2
    assert hub.cursor.revision == 2
    assert len(hub) == 2


async def test_a_new_subscriber_is_told_everything_at_once() -> None:
    hub, _ = make_hub()
    hub.publish([stop("r1")])

    with hub.subscribe(ALL) as subscription:
        [event] = await read(subscription)

    assert [each.id for each in event.snapshot.directives] == ["run/r1/stop"]
    assert event.cursor.revision == 1


async def test_a_subscriber_that_resumes_is_told_what_changed() -> None:
    hub, _ = make_hub()
    hub.publish([stop("r1"), stop("r2")])
    hub.publish([stop("r3")], [removal("r1", 9)])

    with hub.subscribe(ALL, Cursor("e1", 2)) as subscription:
        events = await read(subscription)

    assert changes(events) == [("run/r3/stop", 3), ("run/r1/stop", 4)]


async def test_a_subscriber_that_resumes_up_to_date_hears_a_bookmark_at_once() -> None:
    hub, clock = make_hub()
    hub.publish([stop("r1")])

    with hub.subscribe(ALL, hub.cursor) as subscription:
        [event] = await read(subscription)

    assert kinds([event]) == ["bookmark"]
    assert event.bookmark.server_unix_nano == clock.wall_ns()
    assert event.cursor.revision == 1


async def test_a_subscriber_is_woken_by_what_is_published() -> None:
    hub, _ = make_hub()
    with hub.subscribe(ALL) as subscription:
        await read(subscription)
        waiting = asyncio.create_task(read(subscription))
        await asyncio.sleep(0)
        hub.publish([stop("r1")])

        assert changes(await waiting) == [("run/r1/stop", 1)]


async def test_what_was_published_while_a_subscriber_was_busy_is_not_lost_and_comes_once() -> None:
    hub, _ = make_hub()
    with hub.subscribe(ALL) as subscription:
        await read(subscription)
        for _ in range(3):
            hub.publish([stop("r1"), stop("r2")])
        hub.publish(removals=[removal("r2", 0)])

        assert changes(await read(subscription)) == [("run/r1/stop", 5), ("run/r2/stop", 7)]


async def test_a_slow_subscriber_costs_no_memory_and_is_told_everything_anew() -> None:
    hub, _ = make_hub(retained=16)
    with hub.subscribe(ALL) as subscription:
        await read(subscription)
        for number in range(100):
            hub.publish([stop(f"r{number % 40}")])
        [event] = await read(subscription)

    assert kinds([event]) == ["snapshot"]
    assert len(event.snapshot.directives) == 40
    assert hub.stats.resyncs == 1


async def test_silence_is_broken_by_bookmarks() -> None:
    hub, _ = make_hub(bookmark_every=0.01)
    with hub.subscribe(ALL) as subscription:
        seen = [kinds(await read(subscription)) for _ in range(3)]
        hub.publish([stop("r1")])
        seen.append(kinds(await read(subscription)))

    assert seen == [["snapshot"], ["bookmark"], ["bookmark"], ["delta"]]


async def test_what_has_had_its_time_leaves_everyone_by_a_removal() -> None:
    hub, clock = make_hub()
    hub.publish([stop("r1", ttl=60.0)])
    with hub.subscribe(ALL, hub.cursor) as subscription:
        await read(subscription)
        assert hub.next_deadline() == clock.now + 60.0
        clock.now += 60.0
        hub.advance()
        [event] = await read(subscription)

    assert [(each.id, each.reason) for each in event.delta.removals] == [("run/r1/stop", "expired")]
    assert len(hub) == 0


async def test_subscribers_at_the_same_place_share_one_event_and_others_do_not() -> None:
    hub, _ = make_hub()
    only_pauses = View(actions=frozenset({Action.PAUSE}))
    with (
        hub.subscribe(ALL) as one,
        hub.subscribe(ALL) as two,
        hub.subscribe(only_pauses) as other,
    ):
        for each in (one, two, other):
            await each.next()
        hub.publish([stop("r1")])
        first, second, third = [(await each.next())[0] for each in (one, two, other)]

    assert first is second
    assert [each.id for each in pb.WatchEvent.FromString(third).delta.removals] == ["run/r1/stop"]


async def test_a_shared_event_is_not_older_than_a_moment_for_its_ttls_run() -> None:
    hub, clock = make_hub()
    hub.publish([stop("r1", ttl=60.0)])
    left = []
    for pause in (0.0, FRESH / 2, 30.0):
        clock.now += pause
        with hub.subscribe(ALL) as subscription:
            [event] = await read(subscription)
            left.append(event.snapshot.directives[0].ttl.seconds)

    assert left == [60, 60, 29]


async def test_a_hub_that_closes_says_what_is_new_and_sends_everyone_away_once() -> None:
    hub, _ = make_hub()
    with hub.subscribe(ALL) as subscription:
        await read(subscription)
        hub.publish([stop("r1")])
        hub.close("restart", 1.5)
        [last, event] = await read(subscription)
        after = await read(subscription)
    with hub.subscribe(ALL) as late:
        refused = await read(late)

    assert changes([last]) == [("run/r1/stop", 1)]
    assert (event.go_away.reason, event.go_away.retry_after.seconds) == ("restart", 1)
    assert after == []
    assert kinds(refused) == ["snapshot", "go_away"]


def test_who_leaves_is_no_longer_counted() -> None:
    hub, _ = make_hub()
    with hub.subscribe(ALL):
        assert hub.watchers == 1

    assert hub.watchers == 0
    assert hub.stats.subscribed == 1


def test_news_hold_what_was_put_up_since_and_nothing_where_only_a_snapshot_could_tell() -> None:
    hub, _ = make_hub()
    hub.publish([stop("r1"), stop("r2")], [Removal("run/r0/stop", 0)])

    assert [each.key.id for each in hub.news(Cursor("e1", 2), ALL)] == ["r2"]
    assert hub.news(Cursor("e0", 1), ALL) == []
    assert hub.news(None, ALL) == []


def test_what_stands_is_handed_out_with_the_time_that_is_left() -> None:
    hub, clock = make_hub()
    hub.publish([stop("r1", ttl=60.0)])
    clock.now += 20.0

    [standing] = hub.standing(ALL)

    assert standing.ttl == 40.0
    assert directives.encode(standing).ttl.seconds == 40
    assert hub.under(stop("r1").key)[0].id == "run/r1/stop"


@pytest.mark.parametrize("count", [200])
async def test_a_publication_reaches_every_one_of_many(count: int) -> None:
    hub, _ = make_hub()

    async def watch(hub: Hub) -> list[tuple[str, int]]:
        with hub.subscribe(ALL) as subscription:
            await read(subscription)
            return changes(await read(subscription))

    tasks = [asyncio.create_task(watch(hub)) for _ in range(count)]
    while hub.watchers < count:
        await asyncio.sleep(0)
    hub.publish([stop("r1")])

    assert await asyncio.gather(*tasks) == [[("run/r1/stop", 1)]] * count
