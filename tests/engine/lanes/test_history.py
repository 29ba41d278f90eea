"""Histories: what comes back, in which order, after which pause; and what is forgotten.

That they count right whatever comes is tested against a twin: see `tests/properties/test_history.py`.
"""

from __future__ import annotations

import pytest
from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.fingerprints.sketch import Sketcher
from spanfuse_processor.engine.lanes.history import SAME_RESULT, SEEN, WINDOW, History
from spanfuse_processor.engine.lanes.keys import keys_of
from spanfuse_processor.engine.lanes.timing import grow
from spanfuse_processor.engine.nouns import Fingerprints, Kind


def call(letter: str, number: int = 1, *, result: str = "r", error: str = "", gap: float = 1.0) -> CallEnded:
    """A call of tool `letter`. A `~` in the result is noise."""
    prints = Fingerprints(letter, letter, "" if error else result, result.rstrip("~"), error)
    at = int(number * gap * SECOND)
    return ended(number, name=letter, prints=prints, started_ns=at, ended_ns=at)


def feed(history: History, event: CallEnded, idle_ns: int = 0) -> bool:
    """Tells a history of a call. Whether it knew one that is equal."""
    prints = event.prints
    assert prints is not None
    history.take(event, prints, prints.error or prints.result)
    keys = keys_of(event, prints)
    known = history.meet(keys)
    history.add(event, keys, False, idle_ns, known)
    return known


def fed(letters: str) -> History:
    """A history that was told one call for each letter."""
    history = History()
    for number, letter in enumerate(letters, 1):
        feed(history, call(letter, number))
    return history


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


class TestStreaks:
    def test_ends_alike_are_counted_whatever_was_asked(self) -> None:
        history = History()
        for number in range(1, 6):
            feed(history, ended(number, name="A", prints=Fingerprints(f"a{number}", f"a{number}", error="e")))

        assert (history.ends, history.stale) == (5, 0)

    def test_and_end_with_another_tool_or_another_end(self) -> None:
        history = fed("AAA")
        feed(history, call("A", result="other"))
        assert history.ends == 1

        feed(history, call("B", result="other"))
        assert history.ends == 1

    def test_the_very_same_question_is_counted_whatever_came_of_it(self) -> None:
        history = History()
        for number in range(1, 6):
            feed(history, call("A", number, result=f"r{number}"))

        assert (history.asked_again, history.ends) == (5, 1)

    def test_questions_and_of_models_answers_that_are_nearly_the_same_are_kin(self) -> None:
        texts = ("now look at main", "now look at main", *["that is quite another matter then"] * 3)
        sketches = map(Sketcher(b"").of, texts)
        tools, models = History(), History()
        for number, sketch in enumerate(sketches, 1):
            asked = Fingerprints(f"a{number}", f"a{number}", "r", "r", sketch=sketch)
            said = Fingerprints(f"a{number}", f"a{number}", "r", "r", result_sketch=sketch)
            feed(tools, ended(number, name="A", prints=asked))
            feed(models, ended(number, kind=Kind.MODEL, name="A", prints=said))

        assert (tools.kin, models.kin) == (3, 3)

    def test_unknown_questions_are_no_kin(self) -> None:
        history = History()
        for number in range(1, 6):
            event = ended(number, name="A", prints=Fingerprints(result="r"))
            history.take(event, Fingerprints(result="r"), "r")

        assert (history.kin, history.asked_again, history.ends) == (1, 1, 5)


class TestTime:
    def test_a_pause_is_the_median_gap(self) -> None:
        history = History()
        for at in (0, 1, 2, 103):
            feed(history, call("A", at))

        assert history.pause(4) == 1.0
        assert history.pause(1) == 0.0

    def test_idle_time_is_what_was_added_from_one_step_to_the_next(self) -> None:
        history = History()
        for number, idle in enumerate((0, 40, 80, 81), 1):
            feed(history, call("A", number), idle_ns=idle * SECOND)

        assert history.idle(3) == 20.5
        assert history.idle(4) == 40.0

    def test_what_calls_took_is_the_median_of_the_latest(self) -> None:
        history = History()
        for number, seconds in enumerate((90, 40, 41, 2), 1):
            start = number * 100 * SECOND
            prints = Fingerprints("a", "a", "r", "r")
            feed(history, ended(number, prints=prints, started_ns=start, ended_ns=start + seconds * SECOND))

        assert history.took(3) == 40.0
        assert history.took(4) == 40.5
        assert History().took(3) == 0.0

    def test_growing_gaps_are_a_back_off(self) -> None:
        patient, even = History(), History()
        for at in (0, 1, 3, 7):
            feed(patient, call("A", at, error="e"))
        for at in (0, 2, 4, 6):
            feed(even, call("A", at, error="e"))

        assert patient.backs_off(4)
        assert not even.backs_off(4)
        assert not patient.backs_off(2)

    @pytest.mark.parametrize(
        ("gaps", "grows"), [([], False), ([1], False), ([0, 1], False), ([2, 3, 4], False), ([2, 3, 5], True)]
    )
    def test_each_gap_must_be_plainly_longer(self, gaps: list[int], grows: bool) -> None:
        assert grow(gaps) is grows
