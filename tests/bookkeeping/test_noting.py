"""What is told of budgets is an event of the record, once for each condition and period."""

from __future__ import annotations

import json
import math

import pytest

from spanfuse_processor.bookkeeping.noting import note_of
from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Measure, Reaction
from spanfuse_processor.engine.verdicts import Mode

NOON = 1_780_000_000.0
MARK = BudgetEvent(
    Account("daily", ("ann",)),
    Measure.USD,
    Condition.MARK,
    Reaction.WARN,
    Mode.ENFORCE,
    NOON,
    NOON - 3_600,
    NOON + 3_600,
    8_100_000,
    10_000_000,
    share=0.8,
    trace_id=b"\xab" * 16,
    span_id=b"\x01" * 8,
)


def test_a_mark_is_noted_with_what_it_was_about() -> None:
    row = note_of(MARK)

    assert (row.id, row.at, row.kind, row.key) == (MARK.id, NOON, "budget", "daily[ann]")
    assert (row.trace_id, row.span_id) == ("ab" * 16, "01" * 8)
    body = json.loads(row.body)
    assert (body["spent"], body["limit"], body["share"]) == (8.1, 10.0, 0.8)
    assert body["words"] == MARK.words()


@pytest.mark.parametrize(
    ("reaction", "severity"),
    [
        (Reaction.WARN, "yellow"),
        (Reaction.THROTTLE, "red"),
        (Reaction.DEGRADE, "red"),
        (Reaction.STOP, "red"),
    ],
)
def test_what_intervenes_is_red(reaction: Reaction, severity: str) -> None:
    assert note_of(MARK._replace(reaction=reaction)).severity == severity


def test_tokens_are_noted_as_they_are_and_a_run_has_no_end() -> None:
    row = note_of(MARK._replace(measure=Measure.TOKENS, end=math.inf))

    body = json.loads(row.body)
    assert (body["spent"], body["end"]) == (8_100_000, None)
    assert "Infinity" not in row.body
