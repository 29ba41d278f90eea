"""What holds while no processor judges."""

from __future__ import annotations

import pytest
from tests.library.examples import failed_tool, key, started, stop

from spanfuse.board import Board
from spanfuse.link.local_limits import LocalLimits
from spanfuse_processor.engine import NoPrices, Policy
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import PolicyError
from spanfuse_processor.engine.verdicts import Mode

LOOP = 8


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def limits(board: Board) -> LocalLimits:
    return LocalLimits(board, Policy(), NoPrices())


def loop(limits: LocalLimits, run: str, calls: int = LOOP) -> None:
    """A run that loops, as far as anybody judges it."""
    for _ in range(calls):
        if limits.judge is not None:
            limits.judge.span_ended(failed_tool(run))


def test_while_a_processor_judges_nobody_judges_here(limits: LocalLimits, board: Board) -> None:
    loop(limits, "r")

    assert board.empty


def test_a_loop_is_stopped_here_when_nobody_else_does(limits: LocalLimits, board: Board) -> None:
    limits.begin((), ())

    loop(limits, "r")

    assert board.standing([key("r")]) is not None


def test_what_the_processor_cannot_have_seen_counts(limits: LocalLimits, board: Board) -> None:
    unsent = [failed_tool("r") for _ in range(LOOP)]

    limits.begin([started(Kind.AGENT)], unsent)

    assert board.standing([key("r")]) is not None


def test_a_span_that_comes_twice_counts_once(limits: LocalLimits, board: Board) -> None:
    one = failed_tool("r")

    limits.begin((), [one] * LOOP)

    assert board.empty


def test_a_spell_knows_nothing_of_the_one_before(limits: LocalLimits, board: Board) -> None:
    limits.begin((), ())
    loop(limits, "r", calls=1)
    limits.end()

    limits.begin((), ())
    loop(limits, "r", calls=1)

    assert board.empty


def test_a_stop_outlives_the_spell_in_which_it_was_given(limits: LocalLimits, board: Board) -> None:
    limits.begin((), ())
    loop(limits, "r")

    limits.end()

    assert board.standing([key("r")]) is not None


def test_a_release_takes_back_every_stop_that_was_given_here(limits: LocalLimits, board: Board) -> None:
    for _ in range(2):
        limits.begin((), ())
        loop(limits, "r")
        limits.end()

    assert limits.release(key("r"))

    assert board.standing([key("r")]) is None
    limits.begin((), ())
    loop(limits, "r")
    assert board.standing([key("r")]) is not None  # and a new loop is stopped anew


def test_what_the_processor_takes_back_goes_here_too(limits: LocalLimits, board: Board) -> None:
    limits.begin((), ())
    loop(limits, "r")
    loop(limits, "other")
    limits.end()

    limits.withdraw("run/r/stop")

    assert board.standing([key("r")]) is None
    assert board.standing([key("other")]) is not None


def test_a_release_leaves_the_processors_orders_alone(limits: LocalLimits, board: Board) -> None:
    board.post(stop("r"))

    assert not limits.release(key("r"))

    assert board.standing([key("r")]) is not None


def test_the_policy_decides_whether_anything_is_stopped(board: Board) -> None:
    limits = LocalLimits(board, Policy(mode=Mode.SHADOW), NoPrices())
    limits.begin((), ())

    loop(limits, "r")

    directive = board.standing([key("r")])
    assert directive is None or directive.mode is Mode.SHADOW


@pytest.mark.parametrize("on", [True, False])
def test_another_policy_holds_in_this_spell_and_in_the_next(
    limits: LocalLimits, board: Board, on: bool
) -> None:
    if on:
        limits.begin((), ())
    limits.renew(Policy(mode=Mode.SHADOW))
    if not on:
        limits.begin((), ())

    loop(limits, "r")

    directive = board.standing([key("r")])
    assert directive is None or directive.mode is Mode.SHADOW


def test_a_policy_that_cannot_be_obeyed_leaves_the_one_before(limits: LocalLimits) -> None:
    with pytest.raises(PolicyError):
        limits.renew(Policy(detectors={"repeat": {"no_such_limit": 1}}))

    limits.begin((), ())


def test_time_passes_only_in_a_spell(limits: LocalLimits) -> None:
    assert limits.advance() is None

    limits.begin((), ())

    wait = limits.advance()
    assert wait is None or wait >= 0
