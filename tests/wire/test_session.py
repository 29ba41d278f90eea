"""The client's session as time lines: when it connects, cuts, polls, and tries again."""

from __future__ import annotations

import pytest
from tests.wire.builders import removal, stop

from spanfuse_processor.engine.verdicts import Directive
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import directives, messages
from spanfuse_processor.wire.backoff import Patience
from spanfuse_processor.wire.messages import Cursor
from spanfuse_processor.wire.session import LinkState, Loss, Step, WatchSession

E1 = Cursor("e1", 5)
WATCH, LIST, CUT = Step.WATCH, Step.LIST, Step.CUT


def snapshot(*stated: Directive, cursor: Cursor = E1) -> bytes:
    [event] = messages.snapshots(cursor, stated)
    return event


def listing(cursor: Cursor, *stated: Directive, more: bool = False) -> bytes:
    answer = pb.Snapshot(cursor=cursor._asdict(), more=more)
    answer.directives.extend(directives.encode(each) for each in stated)
    return answer.SerializeToString()


def news(cursor: Cursor, *stated: Directive) -> bytes:
    answer = pb.ReportResponse(cursor=cursor._asdict())
    answer.directives.extend(directives.encode(each) for each in stated)
    return answer.SerializeToString()


def connected(at: float = 0.0, patience: Patience | None = None) -> WatchSession:
    """A session whose stream has said one thing."""
    session = WatchSession(at, patience)
    assert session.due(at) == (WATCH,)
    session.receive(snapshot(stop("r1", 5)), at)
    return session


def test_a_session_connects_at_once_and_says_so_once() -> None:
    session = WatchSession(100.0)

    assert session.next_deadline() == 100.0
    assert session.due(100.0) == (WATCH,)
    assert session.due(100.0) == ()
    assert session.state is LinkState.CONNECTING
    assert session.resume is None


def test_the_first_event_connects() -> None:
    session = connected()

    assert session.state is LinkState.CONNECTED
    assert session.connects == 1
    assert session.resume == E1


def test_an_event_that_cannot_be_read_does_not_connect() -> None:
    session = WatchSession(0.0)
    session.due(0.0)
    session.receive(b"\xff", 0.1)

    assert session.state is LinkState.CONNECTING
    assert session.due(0.1) == (CUT,)


def test_three_events_missed_and_the_stream_is_dead() -> None:
    session = connected(at=0.0)
    session.receive(messages.bookmark(E1, 1, next_within=2.0), 10.0)

    assert session.next_deadline() == 16.0
    assert session.due(15.9) == ()
    assert session.due(16.0) == (CUT,)
    assert session.due(16.1) == (CUT,)  # until somebody says that it is done
    session.lost(16.1, roll=0.0)
    assert session.problem == "nothing was heard"
    assert session.due(16.1) == (WATCH,)


def test_a_stream_that_never_says_anything_is_cut_as_well() -> None:
    session = WatchSession(0.0)
    session.due(0.0)

    assert session.due(29.9) == (LIST,)
    assert session.due(30.0) == (CUT,)


def test_a_lost_stream_is_resumed_from_its_cursor() -> None:
    session = connected()
    session.lost(1.0, roll=0.5)

    assert session.state is LinkState.LOST
    assert session.resume == E1
    assert session.replica.directives() == {"run/r1/stop": stop("r1", 5)}


@pytest.mark.parametrize("roll", [0.0, 0.5, 0.999])
def test_every_failure_leads_to_another_try(roll: float) -> None:
    session, now, tries = WatchSession(0.0), 0.0, 0
    while tries < 200:
        now = max(now, session.next_deadline())
        if WATCH in session.due(now):
            tries += 1
            session.lost(now, roll)

    assert now < 200 * Patience().longest


def test_control_is_back_within_a_second_for_a_processor_that_was_away_for_less_than_a_minute() -> None:
    session, now = connected(), 5.0
    session.lost(now, roll=0.999)
    while now < 40.0:
        now = session.next_deadline()
        if WATCH in session.due(now):
            session.lost(now, roll=0.999)

    assert session.next_deadline() - now <= 1.0


def test_after_a_good_stream_the_first_try_comes_at_once_and_an_old_outage_is_forgotten() -> None:
    session = WatchSession(0.0)
    for now in (0.0, 100.0, 200.0):
        session.due(now)
        session.lost(now, roll=0.0)
    session.due(200.0)
    session.receive(snapshot(), 200.0)
    session.lost(260.0, roll=0.9)  # good for a minute

    assert session.next_deadline() - 260.0 <= 0.1
    session.due(261.0)
    session.lost(261.0, roll=0.9)
    assert session.next_deadline() - 261.0 == pytest.approx(0.45)


def test_a_stream_that_keeps_breaking_early_is_one_outage() -> None:
    session, now, pauses = WatchSession(0.0), 0.0, []
    assert WATCH in session.due(now)
    for _ in range(12):
        session.receive(snapshot(), now)
        now += 10.0
        session.lost(now, roll=0.999)
        began = now
        while WATCH not in session.due(now):
            now = session.next_deadline()
        pauses.append(now - began)

    assert pauses[0] < pauses[1] < 1.0 < pauses[-1]


def test_polls_go_beside_the_tries_until_the_first_event() -> None:
    session = WatchSession(0.0)
    polls = []
    session.due(0.0)
    for second in range(1, 29):
        if LIST in session.due(float(second)):
            polls.append(second)
    session.receive(snapshot(), 29.0)

    assert polls == [10, 20]
    assert session.due(45.0) == ()
    assert session.next_deadline() == 59.0


def test_polls_begin_ten_seconds_after_a_loss() -> None:
    session = connected()
    session.lost(100.0, roll=0.999)

    assert LIST not in session.due(109.9)
    assert LIST in session.due(110.0)


def test_a_poll_is_as_good_as_a_stream_while_there_is_none() -> None:
    session = connected()
    session.lost(1.0, roll=0.5)
    assert LIST in session.due(11.0)

    changes = session.listed(listing(Cursor("e1", 8), stop("r2", 8)), 11.0)

    assert changes.upserts == [stop("r2", 8)]
    assert [each.id for each in changes.removals] == ["run/r1/stop"]
    assert session.resume == Cursor("e1", 8)
    assert session.state is LinkState.LOST


def test_an_answer_to_a_poll_with_our_own_cursor_says_that_nothing_is_new() -> None:
    session = connected()
    session.lost(1.0, roll=0.5)
    assert LIST in session.due(11.0)

    assert not session.listed(listing(E1), 11.0)
    assert session.replica.directives() == {"run/r1/stop": stop("r1", 5)}


def test_a_poll_that_did_not_hold_everything_only_adds() -> None:
    session = connected()
    session.lost(1.0, roll=0.5)
    assert LIST in session.due(11.0)

    changes = session.listed(listing(Cursor("e1", 8), stop("r2", 8), more=True), 11.0)

    assert changes.upserts == [stop("r2", 8)]
    assert not changes.removals
    assert session.resume == E1


def test_a_poll_that_comes_late_never_reverts_what_the_stream_said() -> None:
    session = connected()
    session.receive(messages.deltas(Cursor("e1", 7), [removal("r1", 7)])[0], 1.0)

    assert not session.listed(listing(E1, stop("r1", 5)), 2.0)
    assert not session.listed(listing(Cursor("e0", 99)), 2.0)
    assert session.replica.directives() == {}
    assert session.resume == Cursor("e1", 7)


def test_a_poll_that_was_long_under_way_never_leads_back_into_an_earlier_life_of_the_server() -> None:
    session = connected()
    session.lost(1.0, roll=0.5)
    assert LIST in session.due(11.0)
    session.receive(snapshot(cursor=Cursor("e2", 1)), 12.0)
    session.lost(13.0, roll=0.5)

    assert not session.listed(listing(Cursor("e1", 8), stop("r3", 8)), 14.0)
    assert session.resume == Cursor("e2", 1)


def test_the_answer_to_a_report_carries_news() -> None:
    session = connected()

    assert session.reported(news(Cursor("e1", 6), stop("r2", 6)), 1.0).upserts == [stop("r2", 6)]
    assert session.resume == E1


@pytest.mark.parametrize("answer", [b"\xff\xff", b""])
def test_answers_that_cannot_be_read_change_nothing(answer: bytes) -> None:
    session = connected()

    assert not session.listed(answer, 1.0)
    assert not session.reported(answer, 1.0)


def test_who_is_denied_tries_again_every_five_minutes_and_does_not_poll() -> None:
    session = WatchSession(0.0)
    session.due(0.0)
    session.lost(0.0, roll=0.0, loss=Loss.DENIED)

    assert session.denied
    assert session.due(299.0) == ()
    assert session.next_deadline() == 300.0
    assert WATCH in session.due(300.0)
    session.receive(snapshot(), 301.0)
    assert not session.denied


def test_whose_other_requests_were_taken_tries_at_once_even_after_a_denial() -> None:
    waiting, denied = connected(), connected()
    waiting.lost(1.0, roll=0.999)
    denied.lost(1.0, roll=0.0, loss=Loss.DENIED)
    waiting.hurry(1.1)
    denied.hurry(1.1)

    assert WATCH in waiting.due(1.1)
    assert WATCH in denied.due(1.1)


@pytest.mark.parametrize(("asked", "comes"), [(0.0, 0.0), (2.0, 2.0), (1e9, 30.0)])
def test_who_is_sent_away_comes_again_when_told_within_reason(asked: float, comes: float) -> None:
    session = connected(patience=Patience(poll_every=1e6))
    session.receive(messages.go_away(E1, "restart", asked), 1.0)

    assert session.due(1.0) == (CUT,)
    session.lost(1.0, roll=0.0)
    assert session.next_deadline() == 1.0 + comes
    assert session.problem == ""


def test_events_that_come_after_the_loss_are_nobodys() -> None:
    session = connected()
    session.lost(1.0, roll=0.5)

    assert not session.receive(snapshot(stop("r9", 9), cursor=Cursor("e1", 9)), 1.1)
    assert session.state is LinkState.LOST
