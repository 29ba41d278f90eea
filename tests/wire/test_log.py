"""The server's log: revisions, what changed since when, and time running out."""

from __future__ import annotations

import pytest
from tests.wire.builders import removal, stop

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Directive, Removal
from spanfuse_processor.wire.log import EXPIRED, DirectiveLog
from spanfuse_processor.wire.messages import Cursor


def ids(changes: list[Directive | Removal] | list[Directive] | None) -> list[tuple[str, int]]:
    assert changes is not None
    return [(change.id, change.revision) for change in changes]


def test_every_change_gets_a_revision_of_the_log_whatever_it_came_with() -> None:
    log = DirectiveLog("e1", start=100)

    first = log.upsert(stop("r1", 5), now=0.0)
    second = log.upsert(stop("r2", 5), now=0.0)
    gone = log.withdraw("run/r1/stop", "released")

    assert [first.revision, second.revision, gone.revision] == [101, 102, 103]
    assert log.cursor == Cursor("e1", 103)


def test_an_upsert_replaces_what_stood_under_its_id() -> None:
    log = DirectiveLog("e1")
    log.upsert(stop("r1", message="first"), now=0.0)
    log.upsert(stop("r1", message="second"), now=0.0)

    assert len(log) == 1
    assert log.get("run/r1/stop") == stop("r1", 2, message="second")
    assert log.under(BreakerKey(Level.RUN, "r1")) == [stop("r1", 2, message="second")]


def test_who_was_away_hears_the_newest_state_of_what_changed_once() -> None:
    log = DirectiveLog("e1")
    log.upsert(stop("r1"), now=0.0)
    away = log.cursor
    log.upsert(stop("r2"), now=0.0)
    log.upsert(stop("r3"), now=0.0)
    log.upsert(stop("r2"), now=0.0)
    log.withdraw("run/r1/stop", "released")

    changes = log.since(away, now=0.0)

    assert ids(changes) == [("run/r3/stop", 3), ("run/r2/stop", 4), ("run/r1/stop", 5)]
    assert changes is not None
    assert changes[-1] == removal("r1", 5)


def test_who_is_up_to_date_hears_nothing() -> None:
    log = DirectiveLog("e1")
    log.upsert(stop("r1"), now=0.0)

    assert log.since(log.cursor, now=0.0) == []


@pytest.mark.parametrize(
    "cursor",
    [None, Cursor("e0", 6), Cursor("e1", 1), Cursor("e1", 99)],
    ids=["no cursor", "another epoch", "no longer retained", "from the future"],
)
def test_only_a_snapshot_helps_whom_the_log_does_not_reach(cursor: Cursor | None) -> None:
    log = DirectiveLog("e1", retained=4)
    for run in ("r1", "r2", "r3", "r4", "r5", "r6"):
        log.upsert(stop(run), now=0.0)

    assert log.since(cursor, now=0.0) is None
    assert ids(log.since(Cursor("e1", 2), now=0.0))[0] == ("run/r3/stop", 3)


def test_a_snapshot_is_ordered_by_revision() -> None:
    log = DirectiveLog("e1")
    for run in ("r1", "r2", "r1"):
        log.upsert(stop(run), now=0.0)

    assert ids(log.snapshot(now=0.0)) == [("run/r2/stop", 2), ("run/r1/stop", 3)]


def test_a_directive_is_handed_out_with_the_time_that_it_has_left() -> None:
    log = DirectiveLog("e1")
    log.upsert(stop("r1", ttl=60.0), now=100.0)

    [whole] = log.snapshot(now=145.0)
    [change] = log.since(Cursor("e1", 0), now=145.0) or []

    assert whole == change == stop("r1", 1, ttl=15.0)


def test_a_directive_whose_time_is_up_leaves_by_a_removal() -> None:
    log = DirectiveLog("e1")
    log.upsert(stop("r1", ttl=60.0), now=0.0)
    before = log.cursor

    assert log.next_deadline() == 60.0
    assert log.expire(now=59.9) == []
    assert log.expire(now=60.0) == [removal("r1", 2, EXPIRED)]
    assert len(log) == 0
    assert log.since(before, now=60.0) == [removal("r1", 2, EXPIRED)]
    assert log.next_deadline() is None


def test_nothing_is_handed_out_without_time_left_although_nobody_expired_it() -> None:
    log = DirectiveLog("e1")
    log.upsert(stop("r1", ttl=60.0), now=0.0)

    assert log.snapshot(now=60.0) == []
    assert log.since(Cursor("e1", 0), now=60.0) == []


def test_a_renewed_directive_lives_by_its_new_time() -> None:
    log = DirectiveLog("e1")
    log.upsert(stop("r1", ttl=60.0), now=0.0)
    log.upsert(stop("r1", ttl=60.0), now=50.0)

    assert log.expire(now=60.0) == []
    assert ids(log.expire(now=110.0)) == [("run/r1/stop", 3)]


def test_deadlines_of_renewed_directives_do_not_pile_up() -> None:
    log = DirectiveLog("e1")
    for second in range(10_000):
        log.upsert(stop("r1", ttl=86_400.0), now=float(second))

    assert len(log._deadlines) < 200
    assert log.next_deadline() is not None
    assert log.expire(now=9_999.0 + 86_400.0)[0].id == "run/r1/stop"


def test_the_memory_of_withdrawn_directives_is_bounded_by_what_is_retained() -> None:
    log = DirectiveLog("e1", retained=8)
    for number in range(100):
        log.upsert(stop(f"r{number}"), now=0.0)
        log.withdraw(f"run/r{number}/stop", "released")

    assert len(log._gone) <= 8
    assert len(log._changes) == 8


def test_a_withdrawal_of_what_never_stood_is_told_all_the_same() -> None:
    log = DirectiveLog("e2")
    log.withdraw("run/r1/stop", "released")

    assert log.since(Cursor("e2", 0), now=0.0) == [removal("r1", 1)]
