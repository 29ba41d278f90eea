"""What is open in one run: when it last showed life, what is lost, what is inside of what."""

from __future__ import annotations

from math import inf

from tests.engine.runs.opening import AGENT, MODEL, Watched, keeping

from spanfuse_processor.engine.calls import Open
from spanfuse_processor.engine.runs.open_calls import LEASE, MOST


class TestSilence:
    def test_a_call_is_silent_from_its_beginning(self) -> None:
        run = Watched()
        run.begin(1, now=10.0)

        view = run.seen(70.0)[1]

        assert (view.age, view.quiet) == (60.0, 60.0)

    def test_who_tells_late_says_for_how_long_it_has_been(self) -> None:
        run = Watched()
        run.goes_on(1, now=100.0, open_for=90.0, quiet_for=20.0)

        view = run.seen(100.0)[1]

        assert (view.age, view.quiet) == (90.0, 20.0)

    def test_life_that_is_told_of_again_counts_and_silence_does_not_grow_back(self) -> None:
        run = Watched()
        run.goes_on(1, now=0.0)
        run.goes_on(1, now=20.0, open_for=20.0, quiet_for=5.0)
        run.goes_on(1, now=30.0, open_for=30.0, quiet_for=30.0)

        view = run.seen(40.0)[1]

        assert (view.age, view.quiet) == (40.0, 25.0)

    def test_what_has_ended_is_gone(self) -> None:
        run = Watched()
        run.begin(1)
        run.end(1, now=5.0)

        assert run.quiet(6.0) == {}
        assert len(run.open) == 0

    def test_a_start_that_comes_after_the_end_adds_nothing(self) -> None:
        run = Watched()
        run.end(1)
        run.begin(1)
        run.goes_on(1)

        assert len(run.open) == 0


class TestInside:
    def test_a_call_that_ends_inside_is_life_of_what_is_around_it_and_of_nothing_else(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        run.begin(2, parent=1)
        run.begin(3, parent=1)
        run.end(4, parent=2, now=50.0)

        # Agent 1 is around tools that are open: only its own silence would count, and it has none.
        assert run.quiet(60.0) == {1: 0.0, 2: 10.0, 3: 60.0}

    def test_while_a_call_inside_is_open_a_call_is_not_silent(self) -> None:
        run = Watched()
        run.begin(1)
        run.begin(2, parent=1, kind=AGENT)
        run.begin(3, parent=2, kind=MODEL)

        assert run.quiet(60.0) == {1: 0.0, 2: 0.0, 3: 60.0}

    def test_an_agent_inside_in_which_nothing_happens_is_no_life(self) -> None:
        run = Watched()
        run.begin(1)
        run.begin(2, parent=1, kind=AGENT, now=10.0)

        assert run.quiet(60.0) == {1: 50.0, 2: 50.0}

    def test_below_a_span_that_is_not_known_a_call_may_be_inside_of_any_that_began_before(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        run.begin(2, parent=1)
        run.begin(9, parent=1)
        run.end(5, parent=77, now=50.0)

        assert run.quiet(60.0) == {1: 0.0, 2: 10.0, 9: 60.0}

    def test_two_calls_below_one_unknown_span_are_beside_each_other(self) -> None:
        run = Watched()
        run.begin(1, parent=77)
        run.begin(2, parent=77)

        assert run.quiet(60.0) == {1: 60.0, 2: 60.0}

    def test_of_two_calls_that_may_be_inside_of_each_other_the_later_one_is(self) -> None:
        run = Watched()
        run.begin(1, parent=77)
        run.begin(2, parent=88)

        assert run.quiet(60.0) == {1: 0.0, 2: 60.0}


class TestIdle:
    def test_a_run_is_idle_when_only_agents_are_open(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        run.begin(2, parent=1)
        assert run.seen(30.0)[1].idle == 0.0

        run.end(2, parent=1, now=40.0)

        assert run.seen(60.0)[1].idle == 20.0

    def test_what_begins_and_ends_elsewhere_in_the_run_counts(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        run.begin(2, kind=AGENT)
        run.end(3, parent=2, now=50.0)

        assert {number: view.idle for number, view in run.seen(60.0).items()} == {1: 10.0, 2: 10.0}


class TestLoss:
    def test_a_call_that_nobody_tells_of_any_more_is_lost_and_not_asked_about(self) -> None:
        run = Watched()
        run.goes_on(1, now=0.0)

        assert run.open.holds(LEASE - 1)
        assert run.quiet(LEASE - 1) == {1: LEASE - 1}
        assert not run.open.holds(LEASE)
        assert run.quiet(LEASE) == {}

    def test_it_is_found_again_when_somebody_tells_of_it(self) -> None:
        run = Watched()
        run.goes_on(1, now=0.0)
        list(run.open.look(901.0, keeping([])))
        assert run.open.due == inf

        run.goes_on(1, now=1_000.0, open_for=1_000.0)

        assert run.open.due == 1_000.0
        assert list(run.seen(1_000.0)) == [1]

    def test_silence_that_nobody_watched_is_none(self) -> None:
        run = Watched()
        run.goes_on(1, kind=AGENT, now=0.0)
        run.beat(1.0)

        run.goes_on(1, kind=AGENT, now=1_000.0, open_for=1_000.0, quiet_for=1_000.0)
        run.goes_on(2, now=1_000.0, open_for=900.0, quiet_for=900.0)

        seen = run.seen(1_010.0)
        assert (seen[1].age, seen[1].quiet, seen[1].beat) == (1_010.0, LEASE + 10.0, 10.0)
        assert (seen[2].age, seen[2].quiet) == (910.0, LEASE + 10.0)

    def test_a_run_that_comes_back_into_sight_is_idle_from_then_on(self) -> None:
        run = Watched()
        run.goes_on(1, kind=AGENT, now=0.0)

        run.goes_on(1, kind=AGENT, now=1_000.0, open_for=1_000.0, quiet_for=1_000.0)

        assert run.seen(1_010.0)[1].idle == 10.0

    def test_a_lost_call_keeps_nothing_around_it_alive(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        run.goes_on(2, parent=1)
        assert run.seen(100.0)[1].idle == 100.0

    def test_a_plain_start_is_not_lost(self) -> None:
        run = Watched()
        run.begin(1)

        assert run.open.holds(1e9)


class TestLooking:
    def test_a_call_is_asked_about_when_its_time_has_come_and_not_before(self) -> None:
        run = Watched()
        views: list[Open] = []
        run.begin(1, now=5.0)
        assert run.open.due == 5.0

        list(run.open.look(5.0, keeping(views, again=100.0)))
        list(run.open.look(104.0, keeping(views, again=100.0)))
        assert (len(views), run.open.due) == (1, 105.0)

        list(run.open.look(105.0, keeping(views, again=100.0)))
        assert (len(views), run.open.due) == (2, 205.0)

    def test_the_same_call_is_not_asked_about_over_and_over(self) -> None:
        run = Watched()
        run.begin(1)

        list(run.open.look(10.0, keeping([], again=0.0)))

        assert run.open.due > 10.0

    def test_after_a_release_silence_begins_anew(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        run.begin(2, parent=1)
        run.beat(1.0)

        run.open.renew(100.0)

        seen = run.seen(110.0)
        assert [(view.age, view.quiet, view.beat) for view in seen.values()] == [
            (10.0, 0.0, 10.0),
            (10.0, 10.0, 10.0),
        ]

    def test_what_is_kept_is_bounded(self) -> None:
        run = Watched()
        for number in range(1, MOST + 10):
            run.begin(number)
        assert len(run.open) == MOST

        run.end(1)
        run.goes_on(MOST + 5, open_for=1.0)

        assert len(run.open) == MOST - 1


def test_a_run_that_turns_out_to_be_another_brings_what_is_open_in_it() -> None:
    one, other = Watched(), Watched()
    one.begin(1, kind=AGENT)
    other.begin(2, parent=1, now=20.0)
    other.beat(25.0, number=2, within=60.0)
    one.tree.absorb(other.tree)

    one.open.absorb(other.open, 30.0)

    seen = {number: (view.quiet, view.beat) for number, view in one.seen(60.0).items()}
    assert seen == {1: (0.0, 35.0), 2: (35.0, 35.0)}


def test_a_deadline_that_was_added_up_is_reached() -> None:
    """What is added to a clock's time is not quite what is taken from it again."""
    run, began = Watched(), 7_541.209
    assert began + 1_800.0 - began < 1_800.0

    run.begin(1, now=began)

    assert run.quiet(began + 1_800.0) == {1: 1_800.0}
