"""Whole messages: instances, cursors, and events that stay small."""

from __future__ import annotations

from tests.wire.builders import removal, stop

from spanfuse_processor.engine.verdicts import Action
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import messages
from spanfuse_processor.wire.messages import MAX_EVENT, Cursor, Instance

CURSOR = Cursor("e1", 9000)
BULK = [stop(f"r{number}", number, message="m" * 3000) for number in range(1, 1001)]  # about 3 MB


def test_an_instance_survives_the_wire() -> None:
    instance = Instance("svc", "i-1", "0.1.0", {"team": "a"}, frozenset({Action.STOP}))

    assert messages.decode_instance(messages.encode_instance(instance)) == instance


def test_actions_that_are_unknown_are_left_out_of_an_instance() -> None:
    message = pb.Instance(supported_actions=[pb.ACTION_STOP, 99])  # type: ignore[list-item]

    assert messages.decode_instance(message).supported == {Action.STOP}


def test_a_cursor_without_an_epoch_is_none() -> None:
    assert messages.decode_cursor(pb.Cursor(revision=4)) is None
    assert messages.encode_cursor(None) is None


def test_an_empty_snapshot_is_one_event_that_says_so() -> None:
    [event] = [pb.WatchEvent.FromString(data) for data in messages.snapshots(CURSOR, [])]

    assert event.WhichOneof("event") == "snapshot"
    assert not event.snapshot.more
    assert messages.decode_cursor(event.cursor) == CURSOR


def test_a_large_snapshot_is_cut_and_only_its_last_part_says_that_it_is_whole() -> None:
    events = messages.snapshots(CURSOR, BULK)
    parts = [pb.WatchEvent.FromString(data).snapshot for data in events]

    assert len(parts) > 2
    assert max(map(len, events)) < 1024 * 1024
    assert [part.more for part in parts] == [True] * (len(parts) - 1) + [False]
    assert [each.id for part in parts for each in part.directives] == [each.id for each in BULK]


def test_a_large_delta_is_cut_and_each_part_reaches_its_last_change() -> None:
    events = messages.deltas(CURSOR, [*BULK, removal("r1", 2000)])
    read = [pb.WatchEvent.FromString(data) for data in events]

    assert max(map(len, events)) < 1024 * 1024
    assert [event.cursor.revision for event in read[:-1]] == [
        event.delta.upserts[-1].revision for event in read[:-1]
    ]
    assert messages.decode_cursor(read[-1].cursor) == CURSOR
    assert [each.id for each in read[-1].delta.removals] == ["run/r1/stop"]


def test_a_delta_without_changes_is_no_event() -> None:
    assert messages.deltas(CURSOR, []) == []


def test_a_directive_that_is_too_large_for_one_event_stands_alone() -> None:
    large = stop("r" * MAX_EVENT, 2)
    read = [pb.WatchEvent.FromString(data) for data in messages.deltas(CURSOR, [BULK[0], large, BULK[1]])]

    assert [len(event.delta.upserts) for event in read] == [1, 1, 1]


def test_a_list_that_does_not_fit_holds_the_newest() -> None:
    part, more = messages.newest(BULK)

    assert more
    assert [each.id for each in part] == [each.id for each in BULK[-len(part) :]]
    assert messages.newest(BULK[:3])[1] is False
    assert messages.newest([]) == ([], False)
