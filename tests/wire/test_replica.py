"""The application's copy: newest wins, nothing vanishes silently, a new epoch is no pardon."""

from __future__ import annotations

from tests.wire.builders import removal, stop

from spanfuse_processor.engine.verdicts import Directive, OnExpiry
from spanfuse_processor.wire.directives import Refused
from spanfuse_processor.wire.messages import Cursor
from spanfuse_processor.wire.replica import GONE, REPLACED, Changes, Replica


def at(revision: int, epoch: str = "e1") -> Cursor:
    return Cursor(epoch, revision)


def holding(*directives: Directive, revision: int) -> Replica:
    """A replica that has read one snapshot."""
    replica = Replica()
    replica.replace(at(revision), directives, now=0.0)
    return replica


def test_a_snapshot_puts_up_what_it_states() -> None:
    replica = Replica()

    changes = replica.replace(at(3), [stop("r1", 1), stop("r2", 3)], now=0.0)

    assert changes == Changes(upserts=[stop("r1", 1), stop("r2", 3)])
    assert replica.cursor == at(3)


def test_what_a_later_snapshot_does_not_name_comes_down_by_a_removal() -> None:
    replica = holding(stop("r1", 1), stop("r2", 2), revision=2)

    changes = replica.replace(at(5), [stop("r2", 2), stop("r3", 4)], now=1.0)

    assert changes == Changes([stop("r3", 4)], [removal("r1", 5, GONE)])
    assert set(replica.directives()) == {"run/r2/stop", "run/r3/stop"}


def test_an_older_snapshot_changes_nothing() -> None:
    replica = holding(stop("r1", 4), revision=5)

    assert not replica.replace(at(3), [], now=1.0)
    assert replica.cursor == at(5)
    assert replica.stale == 1


def test_a_delta_adds_and_withdraws() -> None:
    replica = holding(stop("r1", 1), revision=1)

    changes = replica.apply(at(3), [stop("r2", 2)], [removal("r1", 3)], now=1.0)

    assert changes == Changes([stop("r2", 2)], [removal("r1", 3)])
    assert replica.cursor == at(3)


def test_an_older_delta_changes_nothing() -> None:
    replica = holding(stop("r1", 4), revision=5)

    assert not replica.apply(at(4), [stop("r9", 4)], [removal("r1", 3)], now=1.0)
    assert replica.directives() == {"run/r1/stop": stop("r1", 4)}


def test_news_from_a_report_hold_at_once_and_leave_the_cursor_where_it_is() -> None:
    replica = holding(stop("r1", 1), revision=1)

    changes = replica.hear(at(4), [stop("r2", 4)], now=1.0)

    assert changes.upserts == [stop("r2", 4)]
    assert replica.cursor == at(1)
    assert not replica.apply(at(4), [stop("r2", 4)], [], now=2.0)  # the stream says it again


def test_news_that_come_late_do_not_raise_what_was_withdrawn() -> None:
    replica = holding(revision=1)
    replica.apply(at(6), [], [removal("r2", 6)], now=1.0)

    assert not replica.hear(at(5), [stop("r2", 5)], now=2.0)
    assert replica.directives() == {}


def test_what_was_heard_ahead_survives_a_snapshot_from_before() -> None:
    replica = holding(revision=1)
    replica.hear(at(5), [stop("r2", 5)], now=1.0)

    assert not replica.replace(at(4), [], now=2.0)
    assert replica.directives() == {"run/r2/stop": stop("r2", 5)}
    assert replica.replace(at(6), [], now=3.0).removals == [removal("r2", 6, GONE)]


def test_a_withdrawal_of_what_is_not_held_is_handed_out_too() -> None:
    replica = holding(revision=1)

    assert replica.apply(at(2), [], [removal("r1", 2)], now=1.0).removals == [removal("r1", 2)]


def test_news_of_another_epoch_are_not_heard() -> None:
    replica = holding(revision=1)

    assert not replica.hear(at(9, "e2"), [stop("r2", 9)], now=1.0)
    assert not Replica().hear(at(9), [stop("r2", 9)], now=1.0)


def test_a_server_that_lost_its_memory_pardons_nobody() -> None:
    replica = holding(stop("r1", 7), revision=7)

    assert not replica.replace(at(0, "e2"), [], now=1.0)
    assert not replica.replace(at(99, "e2"), [], now=2.0)
    assert replica.directives() == {"run/r1/stop": stop("r1", 7)}
    assert replica.cursor == at(99, "e2")


def test_an_order_of_an_earlier_life_is_withdrawn_by_its_id_whatever_the_revisions() -> None:
    replica = holding(stop("r1", 7), revision=7)
    replica.replace(at(0, "e2"), [], now=1.0)

    changes = replica.apply(at(1, "e2"), [], [removal("r1", 1)], now=2.0)

    assert changes.removals == [removal("r1", 7)]  # as new as what it takes down
    assert replica.directives() == {}


def test_an_order_of_an_earlier_life_makes_room_for_its_successor() -> None:
    replica = holding(stop("r1", 7), revision=7)

    older = replica.replace(at(2, "e2"), [stop("r1", 2)], now=1.0)
    newer = holding(stop("r1", 7), revision=7).replace(at(9, "e2"), [stop("r1", 9)], now=1.0)

    assert older == Changes([stop("r1", 2)], [removal("r1", 7, REPLACED)])
    assert newer == Changes([stop("r1", 9)])
    assert replica.directives() == {"run/r1/stop": stop("r1", 2)}


def test_an_order_of_an_earlier_life_is_forgotten_when_its_time_is_up() -> None:
    replica = holding(stop("r1", 1, ttl=60.0), revision=1)
    replica.replace(at(0, "e2"), [], now=1.0)

    replica.expire(now=59.9)
    assert "run/r1/stop" in replica.directives()
    replica.expire(now=60.0)
    assert replica.directives() == {}


def test_an_order_that_denies_after_its_time_stays_until_it_is_withdrawn() -> None:
    replica = holding(stop("r1", 1, ttl=60.0, on_expiry=OnExpiry.DENY), revision=1)
    replica.expire(now=1000.0)

    changes = replica.apply(at(2), [], [removal("r1", 2, "expired")], now=1000.0)

    assert changes.removals == [removal("r1", 2, "expired")]


def test_what_is_refused_is_handed_out_and_leaves_the_last_good_order_standing() -> None:
    replica = holding(stop("r1", 1), revision=1)
    refused = Refused("run/r1/stop", 2, "action 99 is not known here")

    assert replica.apply(at(2), [refused], [], now=1.0) == Changes(refused=[refused])
    assert replica.replace(at(2), [refused], now=2.0) == Changes(refused=[refused])
    assert replica.directives() == {"run/r1/stop": stop("r1", 1)}


def test_a_withdrawal_that_is_older_than_what_stands_is_dropped() -> None:
    replica = holding(revision=1)
    replica.hear(at(6), [stop("r1", 6)], now=1.0)

    assert not replica.apply(at(5), [], [removal("r1", 3)], now=2.0)
    assert replica.directives() == {"run/r1/stop": stop("r1", 6)}


def test_a_withdrawal_of_what_is_not_here_is_handed_on_to_who_stopped_by_himself() -> None:
    replica = holding(revision=1)

    assert replica.apply(at(2), [], [removal("r1", 2)], now=1.0).removals == [removal("r1", 2)]
