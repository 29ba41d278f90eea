"""The worst state of an agent's breakers, and how long stops lasted."""

from __future__ import annotations

import pytest
from tests.telemetry.pages import Hands, value

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import BreakerState, Removal, Transition, Verdict
from spanfuse_processor.telemetry.breakers import STATES, Breakers

OPEN, HALF, CLOSED = BreakerState.OPEN, BreakerState.HALF_OPEN, BreakerState.CLOSED


class Board(Breakers):
    """Breakers, and a clock that goes by hand."""

    def __init__(self) -> None:
        self.hands = Hands()
        super().__init__(self.hands)
        self.begin("main")

    def move(self, key: BreakerKey, after: BreakerState, agent: str = "", detector: str = "operator") -> None:
        moved = Transition(key, CLOSED, after, 1)
        self.heard(Verdict("", transition=moved, key=key), agent, detector)

    def state(self, agent: str = "main") -> list[str]:
        rows = list(self.rows(False))
        return [state for state in STATES if value(rows, "state", agent=agent, state=state)]

    def recovered(self, detector: str) -> tuple[float, float]:
        """How many, and the seconds of all."""
        rows = list(self.rows(False))
        count, total = (
            value(rows, f"recovery_seconds_{part}", detector=detector) for part in ("count", "sum")
        )
        return count, total


def run(name: str) -> BreakerKey:
    return BreakerKey(Level.RUN, name)


@pytest.fixture
def board() -> Board:
    return Board()


def test_an_agent_that_is_heard_of_is_closed(board: Board) -> None:
    assert board.state() == ["closed"]


def test_the_worst_of_its_breakers_is_shown(board: Board) -> None:
    board.move(run("a"), HALF, "main")
    half = board.state()
    board.move(run("b"), OPEN, "main")

    assert (half, board.state()) == (["half_open"], ["open"])


def test_an_operators_stop_is_open_and_one_that_is_switched_off_is_closed(board: Board) -> None:
    board.move(run("a"), BreakerState.FORCED_OPEN, "main")
    forced = board.state()
    board.move(run("a"), BreakerState.DISABLED)

    assert (forced, board.state()) == (["open"], ["closed"])


def test_what_moves_by_itself_is_still_the_agents_that_was_stopped(board: Board) -> None:
    key = BreakerKey(Level.FEATURE, "chat")
    board.move(key, OPEN, "main", "rate")
    board.hands.at += 30.0
    board.move(key, HALF)
    half = board.state()
    board.move(key, CLOSED)

    assert (half, board.state()) == (["half_open"], ["closed"])
    assert board.recovered("rate") == (1, 30.0)


def test_a_stop_that_holds_anew_has_not_been_taken_back(board: Board) -> None:
    board.move(run("a"), OPEN, "main", "repeat")
    board.hands.at += 30.0
    board.move(run("a"), BreakerState.FORCED_OPEN, "main")
    again = board.recovered("repeat")
    board.hands.at += 5.0
    board.move(run("a"), CLOSED)

    assert (again, board.recovered("repeat")) == ((0, 0), (1, 35.0))


def test_one_that_ran_out_or_whose_run_is_gone_is_closed_and_no_recovery(board: Board) -> None:
    for name in ("a", "b"):
        board.move(run(name), OPEN, "main", "repeat")
    board.heard(Verdict("a", removal=Removal("run/a/stop", 2, "EXPIRED")), "", "operator")
    one = board.state()
    board.forget(run("b"))

    assert (one, board.state(), board.recovered("repeat")) == (["open"], ["closed"], (0, 0))


def test_a_warning_that_is_taken_back_moves_nothing(board: Board) -> None:
    board.heard(Verdict("a", removal=Removal("run/a/stop", 2), key=run("a")), "", "operator")

    assert board.state() == ["closed"]


def test_whoever_nobody_knows_is_unknown(board: Board) -> None:
    board.move(run("a"), OPEN)

    assert board.state("unknown") == ["open"]
