"""How calls resemble the one before: what counts them on, and what begins them anew."""

from __future__ import annotations

from tests.engine.lanes.feeding import call, fed, feed
from tests.engine.making import ended

from spanfuse_processor.engine.fingerprints.sketch import Sketcher
from spanfuse_processor.engine.lanes.history import History
from spanfuse_processor.engine.nouns import Fingerprints, Kind


def test_ends_alike_are_counted_whatever_was_asked() -> None:
    history = History()
    for number in range(1, 6):
        feed(history, ended(number, name="A", prints=Fingerprints(f"a{number}", f"a{number}", error="e")))

    assert (history.ends, history.stale) == (5, 0)


def test_and_end_with_another_tool_or_another_end() -> None:
    history = fed("AAA")
    feed(history, call("A", result="other"))
    assert history.ends == 1

    feed(history, call("B", result="other"))
    assert history.ends == 1


def test_the_very_same_question_is_counted_whatever_came_of_it() -> None:
    history = History()
    for number in range(1, 6):
        feed(history, call("A", number, result=f"r{number}"))

    assert (history.asked_again, history.ends) == (5, 1)


def test_questions_and_of_models_answers_that_are_nearly_the_same_are_kin() -> None:
    texts = ("now look at main", "now look at main", *["that is quite another matter then"] * 3)
    sketches = map(Sketcher(b"").of, texts)
    tools, models = History(), History()
    for number, sketch in enumerate(sketches, 1):
        asked = Fingerprints(f"a{number}", f"a{number}", "r", "r", sketch=sketch)
        said = Fingerprints(f"a{number}", f"a{number}", "r", "r", result_sketch=sketch)
        feed(tools, ended(number, name="A", prints=asked))
        feed(models, ended(number, kind=Kind.MODEL, name="A", prints=said))

    assert (tools.kin, models.kin) == (3, 3)


def test_unknown_questions_are_no_kin() -> None:
    history = History()
    for number in range(1, 6):
        event = ended(number, name="A", prints=Fingerprints(result="r"))
        history.take(event, Fingerprints(result="r"), "r")

    assert (history.kin, history.asked_again, history.ends) == (1, 1, 5)
