"""Heartbeats of one run: whose they are, what they are life of, and until when a further one is owed."""

from __future__ import annotations

from tests.engine.runs.opening import AGENT, Watched, keeping


class TestHeartbeats:
    def test_a_heartbeat_is_the_runs(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        assert run.seen(30.0)[1].beat is None

        run.beat(50.0, ago=2.0, within=90.0)

        view = run.seen(60.0)[1]
        assert (view.beat, view.within, view.idle) == (12.0, 90.0, 60.0)

    def test_it_is_life_of_the_call_that_it_comes_from_and_not_of_others(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        run.begin(2, parent=1)
        run.begin(3, parent=1)

        run.beat(50.0, number=2)

        assert run.quiet(60.0) == {1: 0.0, 2: 10.0, 3: 60.0}

    def test_from_a_place_that_is_not_known_it_is_life_of_whatever_is_open(self) -> None:
        run = Watched()
        run.begin(1)
        run.begin(2)

        run.beat(50.0, number=77)

        assert run.quiet(60.0) == {1: 10.0, 2: 10.0}

    def test_what_it_was_sent_in_owes_no_further_one_when_it_has_ended(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        run.begin(2, parent=1, kind=AGENT)
        run.beat(5.0, number=2)

        run.end(3, parent=2, now=6.0)
        assert run.seen(10.0)[1].beat == 5.0

        run.end(2, parent=1, kind=AGENT, now=7.0)
        run.beat(8.0, number=2, ago=3.0)
        assert run.seen(10.0)[1].beat is None

    def test_an_older_one_that_comes_late_takes_nothing_back(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        run.beat(50.0)
        run.beat(51.0, ago=30.0, within=600.0)

        view = run.seen(60.0)[1]
        assert (view.beat, view.within) == (10.0, 0.0)

    def test_the_first_one_has_agents_asked_about_anew(self) -> None:
        run = Watched()
        run.begin(1, kind=AGENT)
        list(run.open.look(1.0, keeping([], again=1_800.0)))
        assert run.open.due == 1_801.0

        run.beat(50.0)

        assert run.open.due == 50.0
