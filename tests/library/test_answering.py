"""Figures of the gate: by bucket, each told once, agents bounded."""

from __future__ import annotations

import pytest

from spanfuse.answering import AGENTS, Answering
from spanfuse_processor.wire.answers import BOUNDS, Blind


@pytest.mark.parametrize(("seconds", "place"), [(0.0005, 0), (0.0006, 1), (1.0, 9), (1.01, 10), (0.0, 0)])
def test_an_answer_falls_into_the_bucket_that_ends_at_or_above_it(seconds: float, place: int) -> None:
    answering = Answering()
    answering.took("allow", seconds)

    answers = answering.take()
    assert answers is not None
    assert answers.waits["allow"].counts.index(1) == place
    assert len(answers.waits["allow"].counts) == len(BOUNDS) + 1


def test_what_was_taken_is_not_told_again_and_reports_are_numbered() -> None:
    answering = Answering()
    assert answering.take() is None
    answering.took("deny", 0.1)
    first = answering.take()
    answering.took("deny", 0.2)
    second = answering.take()

    assert first is not None and second is not None
    assert (first.number, second.number) == (1, 2)
    assert second.waits["deny"].seconds == pytest.approx(0.2)


def test_more_agents_than_are_counted_apart_go_without_a_name() -> None:
    answering = Answering()
    for number in range(AGENTS + 10):
        answering.blindly(f"agent-{number}", allowed=True)

    answers = answering.take()
    assert answers is not None
    assert answers.blind[""] == Blind(allowed=10)
    assert len(answers.blind) == AGENTS + 1
