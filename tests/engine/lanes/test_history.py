"""Histories: what comes back and in which order, and what is forgotten.

That they count right whatever comes is tested against a twin: see `tests/properties/test_history.py`.
"""

from __future__ import annotations

import pytest
from tests.engine.lanes.feeding import call, fed, feed
from tests.engine.making import ended

from spanfuse_processor.engine.lanes.history import SAME_RESULT, SEEN, WINDOW, History
from spanfuse_processor.engine.lanes.keys import keys_of
from spanfuse_processor.engine.nouns import Fingerprints


class TestWhatComesBack:
    def test_equal_calls_in_a_row_are_a_run_of_period_one_and_no_cycle(self) -> None:
        assert fed("AAAAA").run(1) == 5
        assert fed("AAAAA").cycles() == []

    @pytest.mark.parametrize(
        ("letters", "cycle"), [("ABABABAB", (2, 8)), ("ABCABCABC", (3, 9)), ("ABCDEFG" * 3, (7, 21))]
    )
    def test_a_cycle_is_found_by_its_period(self, letters: str, cycle: tuple[int, int]) -> None:
        assert fed(letters).cycles()[0] == cycle

    def test_one_return_alone_is_no_cycle(self) -> None:
        assert fed("ABA").cycles() == []

    def test_what_is_new_begins_anew(self) -> None:
        history = fed("AAAA")

        feed(history, call("B", 5))

        assert (history.run(1), history.stale, history.cycles()) == (0, 0, [])

    def test_calls_in_any_order_bring_nothing_new_once_all_were_seen(self) -> None:
        assert fed("ABCD" + "CABDDA").stale == 6

    def test_results_that_change_never_come_back(self) -> None:
        history = History()
        for number in range(1, 40):
            assert not feed(history, call("A", number, result=f"r{number}"))

        assert history.stale == 0


class TestNoise:
    def test_in_results_it_is_counted_apart(self) -> None:
        history = History()
        for number in range(1, 5):
            feed(history, call("A", number, result="r" + "~" * number))

        assert history.run(1) == 4
        assert history.run(1, SAME_RESULT) == 0

    def test_it_is_never_taken_out_of_both_sides_at_once(self) -> None:
        history = History()
        for number in range(1, 5):
            feed(history, ended(number, name="A", prints=Fingerprints(f"a{number}", "a", f"r{number}", "r")))

        assert (history.run(1), history.stale) == (0, 0)

    def test_two_things_that_differ_by_nothing_else_may_still_come_back_in_turn(self) -> None:
        history = History()
        for number in range(1, 9):
            turn = number % 2
            feed(history, ended(number, name="A", prints=Fingerprints(f"a{turn}", "a", f"r{turn}", "r")))

        assert history.cycles()[0] == (2, 8)

    @pytest.mark.parametrize(
        "noisy",
        [
            Fingerprints("a1", "a", "r", "r"),
            Fingerprints("a", "a", "r1", "r"),
            Fingerprints("a1", "a", "", "", "e"),
        ],
    )
    def test_it_may_come_and_go(self, noisy: Fingerprints) -> None:
        quiet = Fingerprints("a", "a", "" if noisy.error else "r", "" if noisy.error else "r", noisy.error)
        history = History()
        for number, prints in enumerate((quiet, noisy, quiet), 1):
            feed(history, ended(number, name="A", prints=prints))

        assert history.run(1) == 3


class TestWhatIsForgotten:
    def test_of_old_steps_it_is_known_that_they_were(self) -> None:
        history = History()
        letters = [f"tool {n}" for n in range(SEEN)]
        for number, letter in enumerate(letters, 1):
            feed(history, call(letter, number))

        assert len(history.steps) == WINDOW
        assert all(feed(history, call(letter)) for letter in letters)
        assert history.stale == SEEN

    def test_and_of_older_ones_not_even_that(self) -> None:
        history = History()
        for number in range(SEEN + 2 * WINDOW):
            feed(history, call(f"tool {number}"))

        assert not feed(history, call("tool 0"))

    def test_noise_goes_with_the_step_that_had_it(self) -> None:
        history = History()
        for number in range(10 * WINDOW):
            feed(history, call(f"tool {number}", result="r~"))

        assert history._past is not None and len(history._past.noisy or ()) == WINDOW

    def test_whatever_came_before_a_step_keeps_its_name(self) -> None:
        history, names = History(), [f"tool {number * number % 211}" for number in range(10 * WINDOW)]
        for number, name in enumerate(names):
            feed(history, call(name, number))

        assert [step.name for step in history.steps] == names[-WINDOW:]
        assert len(history._labels) == 2 * WINDOW

    def test_a_step_keeps_what_findings_need(self) -> None:
        history = fed("AB")

        assert [(step.name, step.failed, step.span_id[-1]) for step in history.steps] == [
            ("A", False, 1),
            ("B", False, 2),
        ]
        assert history.latest(keys_of(call("A"), Fingerprints("A", "A", "r", "r"))) == history.steps[0]
        assert history.latest(keys_of(call("C"), Fingerprints("C", "C", "r", "r"))) is None

    @pytest.mark.parametrize("noise", ["", "~"])
    def test_it_is_known_of_as_many_whether_or_not_there_is_noise(self, noise: str) -> None:
        history = History()
        for number in range(SEEN + WINDOW):
            feed(history, call(f"tool {number}", result=f"r{noise}"))

        assert feed(history, call("tool 0", result=f"r{noise}"))
        for number in range(SEEN + WINDOW, SEEN + 2 * WINDOW):
            feed(history, call(f"tool {number}", result=f"r{noise}"))
        assert not feed(history, call("tool 1", result=f"r{noise}"))

    def test_what_came_back_lately_is_known_though_its_first_time_is_forgotten(self) -> None:
        history = History()
        for number in range(SEEN + 3 * WINDOW):
            feed(history, call("often" if number % WINDOW == 0 else f"tool {number}"))

        assert all(feed(history, call(letter)) for letter in ("often", f"tool {SEEN + 1}", "often"))

    def test_the_steps_kept_are_in_order_wherever_the_oldest_stands(self) -> None:
        history = History()
        for number in range(2 * WINDOW + 5):
            feed(history, call("A", number, result=f"r{number}"))

        assert [step.span_id[-1] for step in history.steps] == [*range(WINDOW + 5, 2 * WINDOW + 5)]
        latest = history.latest(
            keys_of(call("A"), Fingerprints("A", "A", f"r{WINDOW + 5}", f"r{WINDOW + 5}"))
        )
        assert latest == history.steps[0]
