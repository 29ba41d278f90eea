"""The desk of an account: a forecast is made anew when there is something to say, and not at each call."""

from __future__ import annotations

from spanfuse_processor.engine.budget import Account, Budget, Period
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.budgets.desk import AGE, FINE, Desk
from spanfuse_processor.engine.forecast import Forecast

LIMIT = 10_000_000
HOUR = 3_600.0


def at(wall: float, spent: int) -> Balance:
    return Balance(LIMIT, spent, 0, 0.0, HOUR, 100, 0, 0, 0, 0)


def begun() -> tuple[Desk, Forecast]:
    """A desk that has something to say, after a quarter of an hour, and what it said last."""
    desk = Desk(Account("hourly"), Budget("hourly", LIMIT, period=Period.HOURLY), at(0.0, 0))
    said = None
    for second in range(0, 900, 5):
        said = desk.foresee(at(second, 5_000 * second), 25_000, float(second))
    assert said is not None
    return desk, said


def test_next_to_nothing_is_not_worth_a_new_one() -> None:
    desk, said = begun()

    assert desk.foresee(at(said.at + 0.5, int(said.spent) + 100), 100, said.at + 0.5) is said


def test_a_thousandth_of_the_limit_is() -> None:
    desk, said = begun()
    more = int(FINE * LIMIT)

    anew = desk.foresee(at(said.at + 0.5, int(said.spent) + more), more, said.at + 0.5)

    assert anew is not None
    assert (anew.at, anew.spent) == (said.at + 0.5, said.spent + more)


def test_so_is_time_that_has_passed() -> None:
    desk, said = begun()

    anew = desk.foresee(at(said.at + AGE, int(said.spent)), 0, said.at + AGE)

    assert anew is not None
    assert anew.at == said.at + AGE


def test_so_is_what_was_taken_back() -> None:
    desk, said = begun()

    anew = desk.foresee(at(said.at, int(said.spent) - 1), -1, said.at)

    assert anew is not None
    assert anew.spent == said.spent - 1


def test_what_was_said_of_a_period_is_not_said_of_the_next() -> None:
    desk, said = begun()
    late = desk.foresee(at(HOUR - 0.1, int(said.spent)), 0, HOUR - 0.1)
    assert late is not None

    assert desk.foresee(at(HOUR, int(said.spent)), 0, HOUR) is not late


def test_what_was_spent_meanwhile_is_in_the_next() -> None:
    desk, said = begun()
    spent, wall = int(said.spent), said.at
    for _ in range(99):
        spent, wall = spent + 100, wall + 0.01
        desk.foresee(at(wall, spent), 100, wall)

    anew = desk.foresee(at(wall + 0.01, spent + 100), 100, wall + 0.01)

    assert anew is not None
    assert anew.rate_short > said.rate_short
