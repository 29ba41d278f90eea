"""Orders of budgets on the board, and those that let calls be made."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.library.making import Clock

from spanfuse.board import Board
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Degrading, Payer, Reach
from spanfuse_processor.engine.verdicts import Action, Directive

R1, R2 = BreakerKey(Level.RUN, "r1"), BreakerKey(Level.RUN, "r2")
DAILY = BreakerKey(Level.BUDGET, "daily")
PACE = (("calls_per_second", 1.0),)
ANN = Payer(user="ann")


def order(key: BreakerKey = R1, revision: int = 1, **more: object) -> Directive:
    return replace(Directive(id=f"{key}/stop", revision=revision, key=key), **more)  # type: ignore[arg-type]


def wide(revision: int = 1, user: str = "ann", **more: object) -> Directive:
    return order(DAILY, revision, reach=Reach(user=(user,)), **more)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> Board:
    return Board(clock)


def test_an_order_of_a_budget_stands_for_those_whom_it_reaches(board: Board) -> None:
    board.post(wide())

    assert board.wide
    assert board.standing([R1], ANN) == wide()
    assert board.standing([R1], Payer(user="bob")) is None
    assert board.standing([R1]) is None


def test_an_order_of_a_budget_goes_when_it_is_withdrawn_and_comes_with_another_reach(board: Board) -> None:
    board.post(wide())
    assert board.standing([], ANN) is not None

    board.post(wide(2, user="bob"))
    assert board.standing([], ANN) is None
    assert board.standing([], Payer(user="bob")) is not None

    board.withdraw(wide().id, 3)
    assert (board.wide, board.empty) == (False, True)


def test_an_order_of_a_budget_without_its_reach_is_refused(board: Board) -> None:
    assert not board.post(order(DAILY))
    assert not board.post(order(R1, reach=Reach()))
    assert [each.rejected for each in board.drain_effects()] == [
        "an order of a budget says which calls it reaches, and no other does"
    ] * 2


def test_what_lets_calls_be_made_refuses_none(board: Board) -> None:
    slow = order(id="slow", action=Action.THROTTLE, params=PACE)
    board.post(slow)
    board.post(order(id="short", action=Action.DEGRADE, degrading=Degrading()))

    assert board.standing([R1]) is None
    assert board.covering(Action.THROTTLE, [R1]) == [slow]
    assert [board.stands(action) for action in (Action.THROTTLE, Action.STOP)] == [True, False]


def test_what_covers_a_call_comes_strictest_first_by_key_and_by_reach(board: Board) -> None:
    low, high = (
        order(id=name, action=Action.THROTTLE, params=PACE, priority=priority)
        for name, priority in (("low", 1), ("high", 9))
    )
    middle = wide(id="middle", action=Action.THROTTLE, params=PACE, priority=5)
    for each in (low, high, middle):
        board.post(each)

    assert board.covering(Action.THROTTLE, [R1], ANN) == [high, middle, low]
    assert board.covering(Action.THROTTLE, [R1], Payer()) == [high, low]
    assert board.covering(Action.THROTTLE, [R2], ANN) == [middle]


def test_who_listens_for_what_is_lifted_hears_of_each_withdrawal(board: Board) -> None:
    heard: list[bool] = []
    board.on_lift(lambda: heard.append(board.empty))
    board.post(order(revision=5))

    board.withdraw(order().id, 4)
    board.withdraw(order().id, 5)

    assert heard == [True]


def test_an_account_that_is_spent_changes_nothing_of_the_others(board: Board) -> None:
    """However many there are: this is done in the thread of a call."""
    for number in range(1_000):
        board.post(order(BreakerKey(Level.BUDGET, f"each[u{number}]"), reach=Reach(user=(f"u{number}",))))
    board.post(order(R1))
    (rows,) = board._wide._rows.values()
    before, table = dict(rows), board._table

    board.post(wide())
    board.withdraw("budget/each[u7]/stop", 2)

    assert board._table is table
    assert rows.keys() ^ before.keys() == {"ann", "u7"}
    assert all(rows[name] is before[name] for name in rows if name != "ann")
    assert board.standing([], ANN) is not None
    assert board.standing([], Payer(user="u7")) is None


def test_the_orders_of_one_action_are_found_whatever_else_stands(board: Board, clock: Clock) -> None:
    board.post(wide())
    slow = order(R1, id="slow", action=Action.THROTTLE, params=PACE, ttl=5.0)
    board.post(slow)
    assert board.ordering(Action.THROTTLE) == board.copy().ordering(Action.THROTTLE) == [slow]

    board.post(replace(slow, revision=2, action=Action.DEGRADE, degrading=Degrading(output_tokens=5)))
    assert board.ordering(Action.THROTTLE) == []
    assert [each.id for each in board.ordering(Action.DEGRADE)] == ["slow"]

    clock.pass_(6.0)
    assert board.ordering(Action.DEGRADE) == []
