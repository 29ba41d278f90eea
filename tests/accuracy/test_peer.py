"""Judging by a peer's rule."""

from __future__ import annotations

from tests.accuracy.peer import Fired, Say, judge, judge_all
from tests.accuracy.peers.repeats import goose
from tests.accuracy.steps import Turn


class Scripted:
    """Says what it was told to say."""

    def __init__(self, *says: Say) -> None:
        self._says = iter(says)

    def see(self, turn: Turn) -> Say:
        return next(self._says)


def test_the_first_warning_and_the_stop_are_kept() -> None:
    said = Scripted(Say.NOTHING, Say.WARN, Say.WARN, Say.STOP)

    assert judge(said, [Turn(number, "search") for number in range(4)]) == Fired(1, 3)


def test_nothing_is_asked_after_a_stop() -> None:
    assert judge(Scripted(Say.STOP), [Turn(0, "search"), Turn(1, "search")]) == Fired(None, 0)


def test_each_process_has_a_rule_of_its_own() -> None:
    apart = [Turn(number, "search", place=number) for number in range(8)]

    assert judge_all(goose, apart) == Fired()
    assert judge_all(goose, [Turn(number, "search") for number in range(8)]) == Fired(None, 3)
