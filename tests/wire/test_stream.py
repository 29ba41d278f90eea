"""What the events of one stream mean."""

from __future__ import annotations

import pytest
from tests.wire.builders import removal, stop

from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import messages
from spanfuse_processor.wire.messages import Cursor
from spanfuse_processor.wire.replica import Replica
from spanfuse_processor.wire.stream import Stream

E1 = Cursor("e1", 5)
BULK = [stop(f"r{number}", number, message="m" * 4000) for number in range(1, 601)]


def opened(*events: bytes) -> tuple[Replica, Stream]:
    """A stream that has received these events."""
    replica = Replica()
    stream = Stream(replica, interval=10.0, now=0.0)
    for event in events:
        stream.receive(event, now=1.0)
    return replica, stream


def snapshot(*directives: object, cursor: Cursor = E1) -> bytes:
    [event] = messages.snapshots(cursor, directives)  # type: ignore[arg-type]
    return event


def test_events_may_come_as_bytes_or_as_messages() -> None:
    by_bytes, _ = opened(snapshot(stop("r1", 5)))
    by_message, stream = opened()
    stream.receive(pb.WatchEvent.FromString(snapshot(stop("r1", 5))), now=1.0)

    assert by_bytes.directives() == by_message.directives() == {"run/r1/stop": stop("r1", 5)}


def test_a_snapshot_counts_when_all_its_parts_are_here() -> None:
    parts = messages.snapshots(Cursor("e1", 600), BULK)
    replica, stream = opened(*parts[:-1])

    assert len(parts) > 2
    assert replica.directives() == {}
    assert replica.cursor is None
    assert len(stream.receive(parts[-1], now=2.0).upserts) == len(BULK)
    assert replica.cursor == Cursor("e1", 600)


def test_a_snapshot_that_begins_anew_forgets_the_parts_of_the_one_before() -> None:
    first = messages.snapshots(Cursor("e1", 600), BULK)
    replica, _ = opened(first[0], snapshot(stop("x", 601), cursor=Cursor("e1", 601)))

    assert set(replica.directives()) == {"run/x/stop"}


def test_a_delta_changes_the_replica_and_moves_its_cursor() -> None:
    replica, stream = opened(snapshot(stop("r1", 5)))
    [delta] = messages.deltas(Cursor("e1", 7), [stop("r2", 6), removal("r1", 7)])

    changes = stream.receive(delta, now=2.0)

    assert changes.upserts == [stop("r2", 6)]
    assert changes.removals == [removal("r1", 7)]
    assert replica.cursor == Cursor("e1", 7)


def test_a_bookmark_moves_the_cursor_and_says_when_the_next_event_is_due() -> None:
    replica, stream = opened(snapshot(), messages.bookmark(Cursor("e1", 9), 1, next_within=2.5))

    assert replica.cursor == Cursor("e1", 9)
    assert stream.interval == 2.5


@pytest.mark.parametrize(("promised", "taken"), [(0.0, 10.0), (1e-9, 0.01), (1e6, 60.0)])
def test_a_promise_that_makes_no_sense_is_bounded(promised: float, taken: float) -> None:
    _, stream = opened(snapshot(), messages.bookmark(E1, 1, promised))

    assert stream.interval == taken


def test_who_is_sent_away_hears_when_to_come_again() -> None:
    _, stream = opened(snapshot(), messages.go_away(E1, "restart", 1.5))

    assert stream.over
    assert stream.go_away == 1.5
    assert stream.problem == ""


def test_a_kind_of_event_that_a_later_version_has_is_a_sign_of_life_and_no_more() -> None:
    replica, stream = opened(snapshot(stop("r1", 5)))
    later = pb.WatchEvent(cursor={"epoch": "e1", "revision": 9}).SerializeToString() + b"\x7a\x00"

    assert not stream.receive(later, now=7.0)
    assert stream.heard_at == 7.0
    assert not stream.over
    assert replica.cursor == E1


ELSEWHERE = Cursor("e2", 1)


@pytest.mark.parametrize(
    ("before", "event"),
    [
        ([snapshot()], b"\xff\xff"),
        ([snapshot()], pb.WatchEvent(bookmark={}).SerializeToString()),
        ([], messages.deltas(E1, [stop("r1", 5)])[0]),
        ([], messages.bookmark(E1, 1, 10.0)),
        ([snapshot()], messages.deltas(ELSEWHERE, [stop("r1", 1)])[0]),
        ([snapshot()], messages.bookmark(ELSEWHERE, 1, 10.0)),
        (
            [snapshot(), messages.snapshots(Cursor("e1", 600), BULK)[0]],
            messages.deltas(Cursor("e1", 601), [stop("r1", 601)])[0],
        ),
    ],
    ids=[
        "no message",
        "no cursor",
        "a delta before any snapshot",
        "a bookmark before any snapshot",
        "a delta of another epoch",
        "a bookmark of another epoch",
        "a delta in the middle of a snapshot",
    ],
)
def test_what_does_not_fit_breaks_the_stream_and_leaves_the_replica(
    before: list[bytes], event: bytes
) -> None:
    replica, stream = opened(*before)
    stood = replica.cursor

    assert not stream.receive(event, now=2.0)
    assert stream.problem
    assert stream.over
    assert replica.cursor == stood
    assert not stream.receive(snapshot(stop("r9", 9), cursor=Cursor("e1", 9)), now=3.0)


def test_orders_of_an_earlier_life_are_forgotten_in_time_while_bookmarks_come() -> None:
    replica, stream = opened(snapshot(stop("r1", 5, ttl=60.0)))
    stream.receive(snapshot(cursor=ELSEWHERE), now=2.0)

    stream.receive(messages.bookmark(ELSEWHERE, 1, 10.0), now=61.0)

    assert replica.directives() == {}
