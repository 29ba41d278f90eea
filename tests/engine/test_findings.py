"""A finding names its call and its evidence."""

from __future__ import annotations

from tests.engine.making import ended, span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.verdicts import Severity

CALL = Call(ended(7), "run", 3, 0, 0, (), True)


def test_the_call_at_hand_is_the_offending_one() -> None:
    finding = found(
        CALL, "rate", Severity.WARN, "RATE", "too fast", observed=21, limit=20, cleared_by="a slower pace"
    )

    assert (finding.span_id, finding.call, finding.spans) == (span(7), 3, (span(7),))
    assert (finding.observed, finding.limit) == (21.0, 20.0)


def test_other_calls_may_be_evidence() -> None:
    spans = (span(5), span(6), span(7))

    finding = found(
        CALL, "repeat", Severity.STOP, "LOOP", "again", observed=3, limit=3, cleared_by="else", spans=spans
    )

    assert finding.spans == spans
