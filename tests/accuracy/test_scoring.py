"""Counting what a judge made of cases."""

from __future__ import annotations

import dataclasses

from tests.accuracy.making import honest, loop
from tests.accuracy.peer import Fired
from tests.accuracy.scoring import Score, is_honest, is_loop, score
from tests.accuracy.steps import End, Truth


def test_a_loop_that_is_stopped_is_caught_and_spares_the_steps_after() -> None:
    found = score([loop()], {"loop": Fired(3, 5)})

    assert (found.caught, found.missed, found.delay) == (["loop"], [], 4)
    assert (found.recall, found.share_saved) == (1.0, 0.4)


def test_a_loop_that_is_only_warned_of_is_missed() -> None:
    found = score([loop()], {"loop": Fired(3, None)})

    assert (found.caught, found.missed, found.warned) == ([], ["loop"], 1)


def test_a_stop_in_the_prefix_of_a_graft_is_a_false_kill_and_no_catch() -> None:
    found = score([loop(begins=4, onset=5)], {"loop": Fired(None, 3)})

    assert (found.caught, found.hasty, found.wrong, found.missed) == ([], ["loop"], 1, ["loop"])


def test_honest_work_that_is_stopped_is_a_false_kill_and_a_warning_is_not() -> None:
    found = score([honest("a"), honest("b"), honest("c")], {"a": Fired(1, 2), "b": Fired(1, None)})

    assert (found.honest, found.killed, found.doubted) == (3, ["a"], 1)


def test_a_success_is_honest_unless_it_was_labelled_a_loop() -> None:
    success = Truth("run", "somewhere", success=True)

    assert is_honest(success)
    assert not is_honest(dataclasses.replace(success, end=End.LOOP))


def test_a_grey_case_counts_on_neither_side() -> None:
    grey = dataclasses.replace(loop(), grey=True)

    assert not is_loop(grey)
    assert score([grey], {"loop": Fired(None, 5)}) == Score()


def test_near_is_three_steps_or_half_of_the_way() -> None:
    due = [loop(str(step), due=due) for step, due in ((9, 20), (10, 20), (30, 20), (31, 20), (8, 5))]

    found = score(due, {truth.id: Fired(None, int(truth.id)) for truth in due})

    assert (found.near, found.early, found.late) == (3, 1, 1)


def test_precision_is_over_all_that_was_stopped() -> None:
    found = score([loop(), honest()], {"loop": Fired(None, 5), "honest": Fired(None, 5)})

    assert (found.precision, Score().precision, Score().recall) == (0.5, 0.0, 0.0)
