"""The board: newest revision per directive, expiry, snapshots, what is refused, who is told."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from tests.library.making import Clock

from spanfuse.board import GONE, PURGE_EVERY, Board
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action, Directive, Mode, OnExpiry

R1, R2 = BreakerKey(Level.RUN, "r1"), BreakerKey(Level.RUN, "r2")
CHAT = BreakerKey(Level.FEATURE, "chat")


def order(key: BreakerKey = R1, revision: int = 1, **more: object) -> Directive:
    return replace(Directive(id=f"{key}/stop", revision=revision, key=key), **more)  # type: ignore[arg-type]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> Board:
    return Board(clock)


def test_what_is_posted_stands_for_its_key_alone(board: Board) -> None:
    assert board.empty
    assert board.post(order())

    assert board.standing([R2, R1]) == order()
    assert board.standing([R2]) is None
    assert not board.empty


def test_a_newer_revision_replaces_and_an_older_one_is_dropped(board: Board) -> None:
    board.post(order(revision=2, message="second"))

    assert not board.post(order(revision=1, message="first"))
    assert board.post(order(revision=3, message="third"))
    assert [held.message for held in board.directives()] == ["third"]


def test_a_newer_revision_may_move_to_another_key(board: Board) -> None:
    board.post(order(R1, 1, id="x"))
    board.post(order(R2, 2, id="x"))

    assert board.standing([R1]) is None
    assert board.standing([R2]) is not None


def test_a_late_message_does_not_bring_back_what_was_withdrawn(board: Board) -> None:
    board.post(order(revision=1))
    assert board.withdraw("run/r1/stop", 2)

    assert not board.post(order(revision=1))
    assert board.empty


def test_an_old_withdrawal_leaves_a_newer_directive(board: Board) -> None:
    board.post(order(revision=5))

    assert not board.withdraw("run/r1/stop", 4)
    assert board.standing([R1]) is not None


def test_a_withdrawal_that_overtakes_its_directive_wins(board: Board) -> None:
    board.withdraw("run/r1/stop", 2)

    assert not board.post(order(revision=1))


def test_a_directive_ends_by_its_time_to_live(board: Board, clock: Clock) -> None:
    board.post(order(ttl=10.0))

    clock.pass_(9.9)
    assert board.standing([R1]) is not None
    clock.pass_(0.2)
    assert board.standing([R1]) is None


def test_what_denies_on_expiry_holds_on(board: Board, clock: Clock) -> None:
    board.post(order(ttl=10.0, on_expiry=OnExpiry.DENY))

    clock.pass_(1_000.0)

    assert board.standing([R1]) is not None


def test_the_same_revision_again_renews_the_time_and_is_no_news(board: Board, clock: Clock) -> None:
    told: list[Directive] = []
    board.on_change(told.append)
    board.post(order(ttl=10.0))
    clock.pass_(8.0)

    assert board.post(order(ttl=10.0))
    clock.pass_(8.0)

    assert board.standing([R1]) is not None
    assert len(told) == 1


def test_what_has_expired_is_swept_away(board: Board, clock: Clock) -> None:
    board.post(order(R1, ttl=10.0))
    clock.pass_(PURGE_EVERY + 1)

    board.post(order(R2))
    board.withdraw("run/r2/stop", 9)

    assert board.empty


def test_the_strictest_directive_is_the_one_that_counts(board: Board) -> None:
    board.post(order(CHAT, mode=Mode.WARN))
    board.post(order(R1, 2, id="tools", action=Action.BLOCK_TOOL))
    assert board.standing([CHAT, R1]) == order(R1, 2, id="tools", action=Action.BLOCK_TOOL)

    board.post(order(R1, 3))

    assert board.standing([CHAT, R1]) == order(R1, 3)


def test_priority_decides_among_equals(board: Board) -> None:
    board.post(order(R1, 1, id="low", priority=1))
    board.post(order(R1, 2, id="high", priority=7))

    held = board.standing([R1])

    assert held is not None
    assert held.id == "high"


def test_an_action_that_cannot_be_carried_out_is_refused_with_a_reason(board: Board) -> None:
    pause = order(action=Action.PAUSE)

    assert not board.post(pause)

    assert board.empty
    assert [effects.rejected for effects in board.drain_effects()] == ["this library cannot carry out pause"]


def test_after_a_restart_of_the_author_any_revision_replaces_what_stands(board: Board) -> None:
    board.post(order(R1, 900))

    board.restart()

    assert board.standing([R1]) is not None
    assert board.post(order(R1, 1, message="anew"))
    assert [held.message for held in board.directives()] == ["anew"]


def test_a_copy_holds_the_same_and_goes_its_own_way(board: Board) -> None:
    board.post(order(R1, 3))

    copy = board.copy()
    board.withdraw("run/r1/stop", 4)

    assert copy.standing([R1]) == order(R1, 3)
    assert not copy.post(order(R1, 2))


def test_a_listener_may_use_the_board(board: Board) -> None:
    """It is told outside the lock."""
    seen: list[bool] = []
    board.on_change(lambda directive: seen.append(board.withdraw(directive.id, directive.revision + 1)))

    board.post(order())

    assert seen == [True]
    assert board.empty


def test_what_came_down_is_remembered_within_bounds(board: Board) -> None:
    for number in range(GONE + 50):
        board.withdraw(f"d{number}", 2)

    assert board.post(order(id="d0", revision=1))  # forgotten
    assert not board.post(order(id=f"d{GONE + 40}", revision=1))


def test_readers_never_see_a_half_written_board(board: Board) -> None:
    board.post(order(R1, 1))
    wrong: list[object] = []

    def read() -> None:
        for _ in range(5_000):
            if board.standing([R1]) is None:
                wrong.append("a gap")

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for revision in range(2, 400):
        board.post(order(R1, revision))
    for reader in readers:
        reader.join()

    assert wrong == []


def test_a_grace_is_over_in_its_time(board: Board, clock: Clock) -> None:
    board.post(order(grace=2.0))

    assert not board.grace_is_over(order(grace=2.0))
    clock.pass_(2.0)
    assert board.grace_is_over(order(grace=2.0))
    assert board.grace_is_over(order(R2))


def test_a_write_in_the_middle_of_a_write_is_not_lost() -> None:
    """The garbage collector may end a call, and so post a directive, wherever this thread stands."""
    within: list[Directive] = []

    def clock() -> float:
        if within:
            reentered.post(within.pop())
        return 1.0

    reentered = Board(clock)
    within.append(order(R2))

    reentered.post(order(R1))

    assert {held.key for held in reentered.directives()} == {R1, R2}
