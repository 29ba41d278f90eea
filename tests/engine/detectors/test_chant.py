"""Answers that say one piece over and over: somebody may have asked for one, nobody for two."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.making import model, span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors.chant import ChantDetector, ChantLimits
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.verdicts import Finding


def heard(*chants: int, cut: bool = False, **limits: Any) -> list[tuple[int, str, str]]:
    """What is said of answers that chant so often."""
    return [(finding.call, finding.severity.value, finding.rule) for finding in found(chants, cut, **limits)]


def found(chants: tuple[int, ...], cut: bool, **limits: Any) -> list[Finding]:
    detector = ChantDetector(ChantLimits(**limits), {})
    said = []
    for number, chant in enumerate(chants, 1):
        event = model(number, prints=Fingerprints(result=f"r{number}", chant=chant), cut=cut)
        said.append(detector.ended(Call(event, "run", number, 0, 0, (), True)))
    return [finding for finding in said if finding is not None]


def test_answers_that_do_not_chant_are_silent() -> None:
    assert heard(0, 0, 0, 9, 0) == []


def test_one_answer_that_chants_warns() -> None:
    assert heard(0, 12, 0, 0) == [(2, "warn", "often")]


def test_the_second_one_stops() -> None:
    assert heard(12, 0, 10, 11) == [(1, "warn", "often"), (3, "stop", "again")]


def test_one_that_chants_very_often_stops_at_once() -> None:
    assert heard(100) == [(1, "stop", "endless")]


@pytest.mark.parametrize(("chant", "said"), [(9, []), (10, [(1, "stop", "cut")])])
def test_one_that_chanted_until_it_was_cut_off_stops(chant: int, said: list[tuple[int, str, str]]) -> None:
    assert heard(chant, cut=True) == said


def test_each_rule_can_be_off() -> None:
    assert heard(12, 13, 500, again=0, endless=0) == [(1, "warn", "often")]
    assert heard(12, 13, cut=True, often=0) == [(1, "stop", "cut")]
    assert heard(12, 500, often=0, endless=0) == []


def test_the_answers_and_what_they_said_are_the_evidence() -> None:
    warned, stopped = found((12, 0, 40), cut=False)

    assert warned.message == "good said one piece 12 times in one answer"
    assert stopped.message == "good said one piece 40 times in one answer, and in 2 answers it did so"
    assert (stopped.spans, stopped.first_span_id, stopped.prints) == ((span(1), span(3)), span(1), ("r3",))
    assert (stopped.reason, stopped.observed, stopped.limit) == ("CHANT", 2.0, 2.0)


@pytest.mark.parametrize(
    ("prints", "wakes"), [(None, False), (Fingerprints("a"), False), (Fingerprints(chant=10), True)]
)
def test_only_an_answer_that_chants_wakes_it(prints: Fingerprints | None, wakes: bool) -> None:
    assert ChantDetector.wakes(Call(model(1, prints=prints), "run", 1, 0, 0, (), True)) is wakes
